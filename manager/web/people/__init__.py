"""Accounts of people, and the doors by which they come in."""
