"""Register models of the ICs on an Underfelt board, written from their datasheets.

They know nothing of the drivers that talk to them, of the loop or of the table. A model keeps its
own time: whoever mounts it (in-process bus, emulated bridge) advances it and hears its pins.
"""
