"""Updates of a unit's disk image, run as root on the unit itself.

RAUC checks a bundle's signature and writes the slot that is not running. When it may do so, whether
the new program has proven itself, and the way back are decided here.
"""
