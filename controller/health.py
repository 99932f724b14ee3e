"""Each spot's health over days: noise, drift and how well a chip is seen, with advice in time.

It alone knows the file and what a figure means. It listens to the spots while they rest and when
bets are locked, keeps one row per spot and day, and says "clean" or "replace" before a spot fails.
It is advice: nothing in a round depends on it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import apsw

from controller.core import sensing
from hal import aio
from hal.clock import WallClock
from hal.worker import Worker

log = logging.getLogger("controller.health")

LISTEN_EVERY_MS = 1000
SAVE_EVERY = 600  # listens: ten minutes
DAY_MS = 86_400_000
DAYS_KEPT = 90
DAYS_TO_JUDGE_MIN = 3
DAYS_AHEAD = 14

# In chips: 1.0 is the chip the tech calibrated with.
NOISE_CLEAN = 0.03  # Just below what calibration would still call usable.
DRIFT_CLEAN = 0.35
CHIP_CLEAN = 0.80
CHIP_REPLACE = 0.70

SCHEMA = """
CREATE TABLE IF NOT EXISTS day (
    day INTEGER NOT NULL,
    sensor TEXT NOT NULL,
    noise REAL NOT NULL,
    drift REAL NOT NULL,
    chip_level REAL,
    PRIMARY KEY (day, sensor)
) STRICT, WITHOUT ROWID
"""


@dataclass(frozen=True)
class Day:
    """One spot on one day, in chips; `chip_level` is None when no bet was locked on it."""

    day: int
    sensor: str
    noise: float
    drift: float
    chip_level: float | None


@dataclass
class _Listening:
    """What was heard of one spot today."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    chips: list[float] = field(default_factory=list)

    def hear(self, level: float) -> None:
        self.count += 1
        self.total += level
        self.squares += level * level

    def noise(self) -> float:
        mean = self.total / self.count
        return math.sqrt(max(0.0, self.squares / self.count - mean * mean))


class HealthStore:
    """The days on disk. Calls block; the caller runs them on the disk's worker."""

    def __init__(self, path: str) -> None:
        self._connection = apsw.Connection(path)
        self._connection.execute(SCHEMA)

    def keep(self, days: list[Day]) -> None:
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO day VALUES (?,?,?,?,?)",
                ((d.day, d.sensor, d.noise, d.drift, d.chip_level) for d in days),
            )
            self._connection.execute(
                "DELETE FROM day WHERE day <= (SELECT max(day) FROM day) - ?", (DAYS_KEPT,)
            )

    def days(self, sensor: str) -> list[Day]:
        rows = self._connection.execute(
            "SELECT * FROM day WHERE sensor = ? ORDER BY day", (sensor,)
        )
        return [Day(*row) for row in rows]

    def sensors(self) -> list[str]:
        return [row[0] for row in self._connection.execute("SELECT DISTINCT sensor FROM day")]

    def close(self) -> None:
        self._connection.close(True)


class HealthWatch:
    def __init__(
        self,
        spots: Mapping[str, sensing.Spot],
        store: HealthStore,
        disk: Worker,
        wall_ms: WallClock,
    ) -> None:
        self._spots = spots
        self._store = store
        self._disk = disk
        self._wall_ms = wall_ms
        self._today = wall_ms() // DAY_MS
        self._heard = {sensor: _Listening() for sensor in spots}

    def locked(self, accepted: list[str]) -> None:
        """Bets were locked: how strong each chip read at that moment."""
        for sensor in accepted:
            self._heard[sensor].chips.append(self._spots[sensor].level)

    async def run(self) -> None:
        listens = 0
        while True:
            await aio.sleep_ms(LISTEN_EVERY_MS)
            listens += 1
            self._listen()
            new_day = self._wall_ms() // DAY_MS != self._today
            if new_day or listens % SAVE_EVERY == 0:
                await self._save()
            if new_day:
                self._today = self._wall_ms() // DAY_MS
                self._heard = {sensor: _Listening() for sensor in self._spots}

    def _listen(self) -> None:
        now_ms = aio.ticks_ms()
        for sensor, spot in self._spots.items():
            if spot.presence == sensing.ABSENT and spot.confirmed and spot.stable(now_ms):
                self._heard[sensor].hear(spot.level)

    async def _save(self) -> None:
        days = [
            Day(
                self._today,
                sensor,
                heard.noise(),
                self._spots[sensor].zero,
                min(heard.chips) if heard.chips else None,
            )
            for sensor, heard in self._heard.items()
            if heard.count
        ]
        try:
            await self._disk.run(partial(self._store.keep, days))
        except apsw.Error as error:
            log.error("the spots' health was not kept: %s", error)


def advice(days: list[Day]) -> str:
    """What a tech should do about a spot: "" when nothing."""
    if not days:
        return ""
    last = days[-1]
    level = _chip_level_ahead(days)
    if level is not None and level < CHIP_REPLACE:
        return f"replace: a chip will soon read only {level:.0%} of what it did"
    if level is not None and level < CHIP_CLEAN:
        return f"clean: a chip reads {level:.0%} of what it did"
    if last.noise > NOISE_CLEAN:
        return f"clean: its noise has grown to {last.noise:.0%} of a chip"
    if abs(last.drift) > DRIFT_CLEAN:
        return f"clean: the empty felt has drifted by {abs(last.drift):.0%} of a chip"
    return ""


def _chip_level_ahead(days: list[Day]) -> float | None:
    """The chip level two weeks ahead by its trend, or today's when there is too little to judge."""
    seen = [(day.day, day.chip_level) for day in days if day.chip_level is not None]
    if not seen:
        return None
    newest = seen[-1][1]
    if len(seen) < DAYS_TO_JUDGE_MIN:
        return newest
    middle = sum(day for day, _ in seen) / len(seen)
    mean = sum(level for _, level in seen) / len(seen)
    spread = sum((day - middle) ** 2 for day, _ in seen)
    slope = sum((day - middle) * (level - mean) for day, level in seen) / spread
    # A trend upwards is a cleaned pad, not a promise.
    return min(newest, newest + slope * DAYS_AHEAD)
