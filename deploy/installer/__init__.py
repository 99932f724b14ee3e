"""Puts a release of the unit or of the manager on a machine, and takes it off again.

It runs on the system's own Python and uses its standard library only: it has to work where nothing
is installed yet, and where what is installed is broken. Start at `commands`.
"""
