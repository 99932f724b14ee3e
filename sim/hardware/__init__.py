"""The simulated board: ICs by their registers, buses, pins, the card reader, and their faults."""
