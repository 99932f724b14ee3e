"""The lights of the spots: which one each deserves, and the player that writes it to the lamp ICs.

Patterns and brightness are `controller.core.lights`', which also runs on a microcontroller.
"""
