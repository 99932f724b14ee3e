"""Builds a unit's disk image and boots it: `build` makes it, `boot` plays the Pi's firmware.

What is on the image besides Debian's packages is below `files/`.
"""
