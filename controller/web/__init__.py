"""The unit's own pages: the dealer's panel and the players' jackpot display.

Nothing is imported here: what a page shows (`view`) is part of every unit, and the web framework
behind `app` only of one that serves pages.
"""
