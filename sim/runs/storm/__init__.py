"""The storm: a whole floor of shipped managers and units, with everything going wrong at once.

People play, faults strike by a seed, and checkers outside the code under test watch every step.
"""
