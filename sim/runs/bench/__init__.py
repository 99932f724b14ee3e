"""The bench: one simulated table to touch, in a browser, beside its Game Manager."""
