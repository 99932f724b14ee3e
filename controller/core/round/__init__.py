"""The rules of a round: what a command means, and how the state follows from events."""
