"""The dealer's 20×4 text display: what its rows say, and the task that keeps them current."""
