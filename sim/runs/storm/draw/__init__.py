"""Draws what stands on a floor: tables, games, meters, and the files that say so."""
