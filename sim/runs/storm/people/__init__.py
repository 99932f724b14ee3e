"""Who plays in a storm: dealers and supervisors, with habits and slips."""
