"""What this software calls itself, on pages, in the journal and to the manager."""

SOFTWARE = "underfelt 0.1.0"
