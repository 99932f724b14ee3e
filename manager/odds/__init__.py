"""Exact odds of every paytable: counts, hit frequency, house edge, and the printed figures.

``manager.odds.figures`` computes, ``manager.odds.report`` writes, ``manager.cli.odds`` is the
command. Needs NumPy, which the manager has and a unit does not.
"""
