"""The floor of a storm: tables, units, managers and their machines, which can die at any time."""
