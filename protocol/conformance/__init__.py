"""Plays the other end of the wire against somebody else's manager or unit, case by case.

It knows only what docs/protocol.md says. What a case asks for is the docstring of its function.
"""
