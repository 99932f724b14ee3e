"""The jackpot amounts as the manager last gave them, and how old they are.

The amounts are the manager's; the unit never adds to them. An amount older than FRESH_MAX_MS must
not look live anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from hal import aio

FRESH_MAX_MS = 5000
AGE_SHOWN_MAX_MS = 3_600_000


@dataclass(frozen=True)
class Meter:
    id: str
    label: str
    shown_cents: int


class MeterBoard:
    def __init__(self) -> None:
        self.meters: list[Meter] = []
        self._arrived_ticks: int | None = None

    def update(self, meters: list[tuple[str, str, int]]) -> None:
        self.meters = [Meter(*meter) for meter in meters]
        self._arrived_ticks = aio.ticks_ms()

    def age_ms(self) -> int:
        if self._arrived_ticks is None:
            return AGE_SHOWN_MAX_MS
        age_ms = aio.ticks_diff(aio.ticks_ms(), self._arrived_ticks)
        # Ticks wrap after days and would look fresh again, so being too old is latched.
        if not 0 <= age_ms < AGE_SHOWN_MAX_MS:
            self._arrived_ticks = None
            return AGE_SHOWN_MAX_MS
        return age_ms

    def are_fresh(self) -> bool:
        return self.age_ms() <= FRESH_MAX_MS

    def cents(self) -> dict[str, int]:
        return {meter.id: meter.shown_cents for meter in self.meters}
