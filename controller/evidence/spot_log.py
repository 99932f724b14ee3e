"""What each spot was like since the unit started: for how long it was in which trouble.

It alone knows what is remembered of a spot between its health, which counts in days, and a trace,
which shows ten seconds. It listens once a second and decides nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from controller.core.felt import spot as sensing
from controller.core.felt.spot import Spot

LEVELS_KEPT = 120  # seconds
CHIPS_KEPT = 40
REASONS_MAX = 24


class SpotLog:
    def __init__(self, spots: Mapping[str, Spot]) -> None:
        self._spots = spots
        self._seconds: dict[str, Counter[str]] = {sensor: Counter() for sensor in spots}
        self._levels: dict[str, deque[float | None]] = {
            sensor: deque(maxlen=LEVELS_KEPT) for sensor in spots
        }
        self._chips: dict[str, deque[tuple[float, bool, str]]] = {
            sensor: deque(maxlen=CHIPS_KEPT) for sensor in spots
        }
        self.heard_s = 0

    def listen(self) -> None:
        self.heard_s += 1
        for sensor, spot in self._spots.items():
            seconds, is_read = self._seconds[sensor], spot.presence != sensing.FAULT
            self._levels[sensor].append(round(spot.level, 3) if is_read else None)
            if spot.reason and (spot.reason in seconds or len(seconds) < REASONS_MAX):
                seconds[spot.reason] += 1

    def locked(self, accepted: list[str], refused: list[str]) -> None:
        """How each bet read at START, and why a refused one was."""
        for sensors, is_accepted in ((accepted, True), (refused, False)):
            for sensor in sensors:
                spot = self._spots[sensor]
                self._chips[sensor].append((round(spot.level, 3), is_accepted, spot.reason))

    def view(self) -> dict[str, dict[str, Any]]:
        return {
            sensor: {
                "seconds": dict(self._seconds[sensor]),
                "levels": list(self._levels[sensor]),
                "at_start": [list(each) for each in self._chips[sensor]],
            }
            for sensor in self._spots
        }
