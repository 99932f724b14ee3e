"""The bundle a technician takes home: what goes into it, what stays out, and who may ask for it."""
