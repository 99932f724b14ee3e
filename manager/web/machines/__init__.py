"""What machines read of a manager: the API and its document, metrics, health, and their tokens."""
