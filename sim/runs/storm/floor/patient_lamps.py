"""The lamps of a storm: the shipped player, without the frames that nobody can look at.

Whoever compares the lights of a table has said so before it rests, and an eye looks back for little
more than a second. Until then a pattern that goes on is written once a period, when it is
brightest: that is what a light is judged by which turns bright without a record. Whatever is new is
written at once. A look that nobody announced finds a light that is not conclusive, and fails.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from controller.core import lights
from controller.lights.lamp_player import LampPlayer
from controller.unit.parts import LampPlayerOpener
from sim.floor.light_eye import LOOK_BACK_MS, WINDOW_MS

# All frames are written from here on: the eye sees one that was left out for so long.
PLAYS_BEFORE_MS = WINDOW_MS + LOOK_BACK_MS + 300


# All patterns repeat within it.
COMMON_PERIOD_MS = 2000


class PatientPlayer(LampPlayer):
    def __init__(self, look_in_ms: Callable[[], int], *parts: Any) -> None:
        super().__init__(*parts)
        self._look_in_ms = look_in_ms

    def _wait_ms(self, light: str, now_ms: int) -> int:
        frame_ms = super()._wait_ms(light, now_ms)
        left_ms = self._look_in_ms() - PLAYS_BEFORE_MS
        if not frame_ms or left_ms <= 0:
            return frame_ms
        return max(frame_ms, min(left_ms, _next_peak_ms(light, now_ms)))


def _next_peak_ms(light: str, now_ms: int) -> int:
    passed_ms = now_ms % COMMON_PERIOD_MS
    peaks = _peaks_ms(light)
    return next(at_ms for at_ms in peaks if at_ms > passed_ms) - passed_ms


@cache
def _peaks_ms(light: str) -> list[int]:
    """When it is brightest in the common period, and in the next one."""
    at_ms, brightness = 0, {}
    while at_ms < COMMON_PERIOD_MS:
        brightness[at_ms] = sum(lights.levels_at(light, at_ms))
        at_ms += lights.next_change_ms(light, at_ms)
    brightest = max(brightness.values())
    peaks = [at_ms for at_ms, level in brightness.items() if level == brightest]
    return peaks + [COMMON_PERIOD_MS + at_ms for at_ms in peaks]


def patient_player(look_in_ms: Callable[[], int]) -> LampPlayerOpener:
    """`look_in_ms` says for how long nobody will compare the lights."""
    return partial(PatientPlayer, look_in_ms)
