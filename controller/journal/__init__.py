"""The unit's journal: every event durable, in order and chained before anything acts on it."""
