"""`python -m sim hardware`: docs/hardware.md and its drawings, made from the board files that ship.

So the page cannot say anything else than what the unit opens. A test compares it with the files.
"""
