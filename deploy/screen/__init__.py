"""What a unit's screens show while there is no table to show: what is missing, and what to do.

A unit has no keyboard and nobody can sign in, so whatever keeps its table from starting has to
stand on its screen. `findings` looks, `__main__` serves the page on this machine alone.
"""
