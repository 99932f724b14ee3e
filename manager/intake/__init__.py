"""Takes in the units' events, each exactly once, and books what they mean."""
