"""What things on the felt do to a pad's capacitance, as a function of time and a seed."""
