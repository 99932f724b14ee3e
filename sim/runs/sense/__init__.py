"""How often sensing is wrong: trials of the shipped sensing code on drawn tables."""
