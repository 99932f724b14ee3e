"""Lets somebody at the table see which seat a number means: its spots blink white and amber.

Whether it may now is for the table to say. No PIN is asked: it shows a light and changes nothing.
"""

from __future__ import annotations

from controller.config import UnitConfig
from controller.inputs.buttons import FIND
from controller.lights.table_lights import FIND_MS
from controller.service.running_table import ask_table

SHOWN, REFUSED = 0, 1


def find_seat(config: UnitConfig, seat: int) -> int:
    answer = ask_table(config, "/press", {"button": f"{FIND} {seat}"})
    if answer.get("accepted") is not True:
        print(answer.get("sentence", ""))
        return REFUSED
    print(f"seat {seat} blinks white and amber for {FIND_MS // 1000} s, where no chip lies")
    return SHOWN
