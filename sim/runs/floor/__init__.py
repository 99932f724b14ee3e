"""A real floor on one machine: a manager process, and hundreds of the controller's own links."""
