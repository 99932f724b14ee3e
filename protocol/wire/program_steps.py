"""How far a unit is with a new program that its manager offered: the steps of a report.

A receiver takes a step that it does not know for one that still waits.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Step(IntEnum):
    WAITS = 1  # the reason says what for
    FETCHING = 2
    HANDED_OVER = 3  # all of it has come, and the updater has it
    WRITING = 4
    INSTALLED = 5  # on the other slot; it is booted in a pause
    TRIED = 6  # it runs, and has to prove itself
    KEPT = 7
    ROLLED_BACK = 8
    REFUSED = 9
    CANNOT = 10  # not this unit: nothing is wrong with the program


# The function of a SERVICE event that tells a change of the unit's program.
PROGRAM_CHANGE: Final = "program-change"

FINAL: Final = frozenset({Step.KEPT, Step.ROLLED_BACK, Step.REFUSED, Step.CANNOT})
FAILED: Final = frozenset({Step.ROLLED_BACK, Step.REFUSED})

# Reasons of a unit, beside the codes of what became of an update (`kit.program_news`).
GAME: Final = "game"  # a game is being played
NO_IMAGE: Final = "no_image"  # it was installed by hand
NO_ROOM: Final = "no_room"  # its disk is too full
DISK: Final = "disk"  # its disk does not take it now
TRANSFER: Final = "transfer"  # what came is not what was offered, again and again
STOPPED: Final = "stopped"  # the offer was withdrawn before anything was written


def step_of(number: int) -> Step:
    try:
        return Step(number)
    except ValueError:
        return Step.WAITS
