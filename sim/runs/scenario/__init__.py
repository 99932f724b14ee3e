"""Scenarios: text a floor tech could read, played against the shipped code in virtual time."""
