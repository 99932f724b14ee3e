"""What a technician takes home from a unit: one signed archive, written and read here."""
