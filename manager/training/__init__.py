"""Training: rounds dealt by the rules of play, for new dealers and for the simulator."""
