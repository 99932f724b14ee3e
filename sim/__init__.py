"""The hardware-in-loop simulator: chips, felt, people, faults and virtual time.

Nothing that ships to a unit imports this package.
"""
