"""A casino floor in virtual time: the world, units, lights, and a manager."""
