"""Each spot's health over days: noise, drift and how well a chip is seen, with advice in time.

It alone knows what a figure means. It listens to the spots while they rest and when bets are
locked, and says "clean" or "replace" before a spot fails. It is advice: nothing in a round depends
on it, and one odd chip or one odd day decides nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from math import sqrt
from statistics import median, stdev

import apsw

from controller.core.felt import spot as sensing
from controller.core.felt.reasons import DISTURBED
from controller.evidence.health_store import CHIPS_TO_JUDGE_MIN, DAY_MS, Day, HealthStore, Stretch
from hal import aio
from hal.errors import WorkerBusy
from hal.worker import Worker
from kit.clock import WallClock
from protocol.sensor_id import seat_order
from protocol.wire.fields import clipped
from protocol.wire.rows import ADVICE_MAX_BYTES, PARTS, SPOT_HEALTHS, SpotHealth

log = logging.getLogger("controller.evidence.health")

SPOTS_MAX = SPOT_HEALTHS.count_max
LISTEN_EVERY_MS = 1000
SAVE_EVERY = 600  # listens: ten minutes
# Noise is what is left within so many listens; in a longer time the felt itself drifts.
BLOCK_LISTENS = 30
BLOCK_GAP_MAX = 2  # listens: noisy felt looks now and then as if something came

# A day's level is today's and the two before it; a trend needs more of them.
DAYS_OF_LEVEL = 3
DAYS_OF_TREND_MIN = 5
DAYS_OF_TREND_MAX = 14
DAYS_AHEAD = 14
# Of all pairs of days: a pad that wears falls from nearly each day to each later one.
FALLING_PAIRS_MIN = 0.9

# Times the noise that was calibrated: a chip is at rest when it is as still as the spot was then,
# and from about 1.2 on the first chips are refused.
NOISE_TIMES_CLEAN = 1.1
# Counting in whole steps makes noise too (this rms, on average), and more or less of it depending
# on where between two counts the felt happens to lie. It is not the pad's and is left out.
COUNTING_NOISE = 12**-0.5
# No chip is accepted meanwhile: a twentieth of the day, and not only of a day that just began.
DISTURBED_CLEAN = 0.05
DISTURBED_MIN_S = 300

# In chips: 1.0 is the chip the tech calibrated with.
NOISE_CLEAN = 0.03  # Just below what calibration would still call usable.
DRIFT_CLEAN = 0.35
CHIP_CLEAN = 0.80
CHIP_REPLACE = 0.70


class _Listening:
    """What was heard of one spot in this stretch."""

    def __init__(self) -> None:
        self.empty_s = 0
        self.disturbed_s = 0
        self.chips: list[float] = []
        self._block: list[float] = []
        self._gap = 0
        self._spreads: list[float] = []

    def hear(self, level: float, is_disturbed: bool) -> None:
        """The bare felt, once a second."""
        self.empty_s += 1
        self.disturbed_s += is_disturbed
        self._gap = 0
        self._block.append(level)
        if len(self._block) == BLOCK_LISTENS:
            self._spreads.append(stdev(self._block))
            self._block = []

    def skip(self) -> None:
        """Something is there; when it stays, the felt before and after it need not be the same."""
        self._gap += 1
        if self._gap > BLOCK_GAP_MAX:
            self._block = []

    def noise(self, chip_delta: float) -> float | None:
        if not self._spreads:
            return None
        return sqrt(max(0.0, median(self._spreads) ** 2 - (COUNTING_NOISE / chip_delta) ** 2))

    def stretch(self, spot: sensing.Spot, wall_ms: int) -> Stretch:
        return Stretch(
            spot.sensor,
            wall_ms,
            self.noise(spot.calibration.chip_delta),
            spot.zero,
            median(self.chips) if self.chips else None,
            len(self.chips),
            spot.calibration.noise_level(),
            self.empty_s,
            self.disturbed_s,
        )


class HealthWatch:
    def __init__(
        self,
        spots: Mapping[str, sensing.Spot],
        store: HealthStore,
        disk: Worker,
        wall_ms: WallClock,
        tell: Callable[[tuple[SpotHealth, ...]], None] = lambda healths: None,
    ) -> None:
        """`tell` hears how the spots fare, at the start and whenever more was kept."""
        self._tell = tell
        self._spots = spots
        self._store = store
        self._disk = disk
        self._wall_ms = wall_ms
        self._begin()

    def locked(self, accepted: list[str]) -> None:
        """Bets were locked: how strong each chip read at that moment."""
        for sensor in accepted:
            self._heard[sensor].chips.append(self._spots[sensor].level)

    async def run(self) -> None:
        """Until it is cancelled; an orderly stop then keeps what was heard by then."""
        listens = 0
        await self._sum_up()
        while True:
            await aio.sleep_ms(LISTEN_EVERY_MS)
            listens += 1
            self._listen()
            is_new_day = self._wall_ms() // DAY_MS != self._begun_wall_ms // DAY_MS
            if is_new_day or listens % SAVE_EVERY == 0:
                await self.keep()
                await self._sum_up()

    async def _sum_up(self) -> None:
        try:
            self._tell(await self._disk.run(partial(sum_up, self._store)))
        except (apsw.Error, WorkerBusy) as error:
            log.error("the spots' health was not summed up: %s", error)

    def _begin(self) -> None:
        self._begun_wall_ms = self._wall_ms()
        self._heard = {sensor: _Listening() for sensor in self._spots}

    def _listen(self) -> None:
        now_ms = aio.ticks_ms()
        for sensor, spot in self._spots.items():
            heard, is_disturbed = self._heard[sensor], spot.reason == DISTURBED
            is_empty = spot.presence == sensing.ABSENT and spot.confirmed and spot.stable(now_ms)
            if is_empty or is_disturbed:
                heard.hear(spot.level, is_disturbed)
            else:
                heard.skip()

    async def keep(self) -> None:
        stretches = [
            heard.stretch(self._spots[sensor], self._begun_wall_ms)
            for sensor, heard in self._heard.items()
            if heard.empty_s or heard.chips
        ]
        self._begin()
        try:
            await self._disk.run(partial(self._store.keep, stretches))
        except (apsw.Error, WorkerBusy) as error:
            log.error("the spots' health was not kept: %s", error)


def sum_up(store: HealthStore) -> tuple[SpotHealth, ...]:
    """Each spot's last day and what to do about it, for the manager's people."""
    found = []
    for sensor in sorted(store.sensors(), key=seat_order):
        days = store.days(sensor)
        last = days[-1]
        chip = 0 if last.chip_level is None else round(1000 * last.chip_level)
        noise = 0 if last.noise_times is None else round(100 * last.noise_times)
        said = clipped(advice(days), ADVICE_MAX_BYTES)
        found.append(SpotHealth(sensor, _within(chip), _within(noise), said))
    return tuple(found[:SPOTS_MAX])


def _within(figure: int) -> int:
    return min(max(figure, 0), PARTS.maximum)


def advice(days: list[Day]) -> str:
    """What a tech should do about a spot: "" when nothing."""
    if not days:
        return ""
    last = days[-1]
    return (
        _about_chips(days) or _about_noise(last) or _about_disturbance(last) or _about_drift(last)
    )


def _about_chips(days: list[Day]) -> str:
    seen = [
        (day.day, day.chip_level)
        for day in days
        if day.chip_level is not None and day.chip_count >= CHIPS_TO_JUDGE_MIN
    ]
    if not seen:
        return ""
    level = median(level for _, level in seen[-DAYS_OF_LEVEL:])
    loss_per_day = _loss_per_day(seen[-DAYS_OF_TREND_MAX:])
    ahead = level - loss_per_day * DAYS_AHEAD
    if ahead >= CHIP_CLEAN:
        return ""
    word = "replace" if ahead < CHIP_REPLACE else "clean"
    loss = f" and loses {loss_per_day:.1%} a day" if loss_per_day else ""
    return f"{word}: a chip reads {level:.0%} of what it did{loss}"


def _loss_per_day(seen: list[tuple[int, float]]) -> float:
    """How fast the chip level falls (Theil and Sen's median slope); 0 unless it clearly does."""
    if len(seen) < DAYS_OF_TREND_MIN:
        return 0.0
    slopes = [(b - a) / (later - day) for (day, a), (later, b) in combinations(seen, 2)]
    falling = sum(slope < 0 for slope in slopes)
    return -median(slopes) if falling >= FALLING_PAIRS_MIN * len(slopes) else 0.0


def _about_noise(day: Day) -> str:
    if day.noise_times is not None and day.noise_times > NOISE_TIMES_CLEAN:
        return f"clean: its noise is {day.noise_times:.1f} times what was calibrated"
    if day.noise is not None and day.noise > NOISE_CLEAN:
        return f"clean: its noise has grown to {day.noise:.0%} of a chip"
    return ""


def _about_disturbance(day: Day) -> str:
    if day.disturbed_s < max(DISTURBED_MIN_S, DISTURBED_CLEAN * day.empty_s):
        return ""
    part = day.disturbed_s / day.empty_s
    return f"clean: disturbed for {part:.0%} of the day; look at pad, cable and what is near"


def _about_drift(day: Day) -> str:
    if abs(day.drift) > DRIFT_CLEAN:
        return f"clean: the empty felt has drifted by {abs(day.drift):.0%} of a chip"
    return ""
