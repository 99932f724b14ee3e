"""The hardware the controller may touch: tasks and time, buses, ICs, lines and boards.

This package imports nothing else of ours. `hal.aio` also runs on MicroPython, so this file stays
free of imports.
"""
