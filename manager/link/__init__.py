"""The manager's side of the link: the doors, who may come in, and what goes back to a unit."""
