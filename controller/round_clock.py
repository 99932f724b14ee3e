"""How long ago a game was locked and how long ago the last one ended, by ticks that never go back.

It alone knows that ticks are gone after a power cut and that the wall clock may be set back. What
happens at these times is decided elsewhere.
"""

from __future__ import annotations

from hal import aio


class RoundClock:
    def __init__(self) -> None:
        self.started_wall_ms = 0
        self._age = (0, 0)  # the round's age when the ticks stood there
        self._ended_ticks: int | None = None  # after a power cut nobody can tell

    def started(self, wall_ms: int) -> None:
        self._age = (0, aio.ticks_ms())
        self.started_wall_ms = wall_ms

    def ended(self) -> None:
        self._ended_ticks = aio.ticks_ms()

    def age_ms(self) -> int:
        """Time since the lock. It never goes back, whatever the wall clock does."""
        age_ms, at_ticks = self._age
        return age_ms + aio.ticks_diff(aio.ticks_ms(), at_ticks)

    def end_age_ms(self) -> int:
        """Time since the end, less than nothing when nobody can tell."""
        if self._ended_ticks is None:
            return -1
        return aio.ticks_diff(aio.ticks_ms(), self._ended_ticks)

    def guess(self, wall_ms: int, known_ms: list[int]) -> None:
        """The ticks that saw the lock are gone; the wall clock may have been set back since."""
        self._age = (max(0, wall_ms - self.started_wall_ms, *known_ms), aio.ticks_ms())
