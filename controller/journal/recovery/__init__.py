"""A journal that cannot be used: what it still holds, and how a new one goes on from there."""
