"""The I2C bus: conversations in order, and how a bus that hangs is freed."""
