"""The unit under the table: sensing, round, lights, wins, journal, link and the dealer's panel.

`controller.core` also runs on MicroPython, so this file stays free of imports.
"""
