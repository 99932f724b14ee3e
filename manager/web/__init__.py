"""The operators' pages: meters, tables, wins and alarms, live; and a win to print.

Nothing is imported here: what a page shows is part of every manager, and the web framework behind
`app` only of one that serves pages.
"""
