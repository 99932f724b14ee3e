"""What goes wrong in a storm: the deck of faults, who deals them, and what each does."""
