"""The hardware the controller may touch: tasks and time, buses, ICs, lines and boards.

Of ours it imports the kit alone. `hal.aio` also runs on MicroPython, so this file stays
free of imports.
"""
