"""What people touch and see, above the ICs: sensors, lamps, keypad, key switch, card reader."""
