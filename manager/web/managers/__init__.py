"""Several managers of one floor: who owns what, moving a group, and the pages of who stands by."""
