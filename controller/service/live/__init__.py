"""A technician at a running table: service mode, live readings, and tests on the table's own board.

The page and the laptop's tool both come in here; neither is known. Nothing here plays a round or
moves money: a table in service is closed, and what is only looked at is left as it is.
"""
