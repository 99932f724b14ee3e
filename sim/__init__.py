"""The hardware-in-loop simulator: ICs, felt, people, faults and virtual time.

Nothing that ships to a unit imports this package.
"""
