"""`python -m sim tech …`: the technician's tool against a unit on simulated hardware.

How the tool is tried without a table, and how a technician practises with a broken one.
"""
