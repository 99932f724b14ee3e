"""Alarms by cause: what is open, who took it, and the history."""
