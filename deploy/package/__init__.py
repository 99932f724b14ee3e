"""Builds Debian packages of the manager and of what else is installed with apt.

The tree and the locked wheels go in, the same bytes come out each time. Nothing is compiled and
nothing of the building machine gets into a package. Start at `build`.
"""
