"""The unit's side of the link: its identity, its conversation with the manager, the meters."""
