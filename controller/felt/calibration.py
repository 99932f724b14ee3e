"""Learns what each sensor reads empty and under one chip: a tech's act, never the unit's own idea.

It alone knows how many samples make a reference, when they are too restless to be one, and when a
chip moves a reading far enough to be told from noise. Where the result is kept is `references`'.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import sqrt
from statistics import fmean, median, pstdev

from controller.core.felt import tuning
from hal import aio
from hal.board.open import Board, SensorPlace
from hal.errors import HardwareFault, SensorFault

GOOD, WEAK, BAD = "good", "weak", "bad"

EMPTY_STEP = "Clear and dry the felt: nothing may lie on any spot."
CHIP_STEP = "Put one chip on the middle of every spot and take your hands away."
# What to do about a spot that moved, by the step it happened in.
MOVED_EMPTY = "while nothing lay on it: clear and dry it, keep hands away, and calibrate again"
MOVED_CHIP = "under its chip: take your hands away, let the chip lie, and calibrate again"

Confirm = Callable[[str], Awaitable[None]]
Readings = dict[str, list[int]]


@dataclass(frozen=True)
class SpotCalibration:
    """One spot as the tech left it; with a `trouble` it was not measured and is bad."""

    sensor: str
    reference: int
    chip_delta: int
    noise: float
    trouble: str = ""

    @property
    def margin(self) -> float:
        return self.chip_delta / max(self.noise, tuning.NOISE_MIN_COUNTS)

    @property
    def verdict(self) -> str:
        if self.trouble:
            return BAD
        if self.margin >= tuning.GOOD_MARGIN_NOISES:
            return GOOD
        return WEAK if self.margin >= tuning.USABLE_MARGIN_NOISES else BAD

    @property
    def sentence(self) -> str:
        if self.trouble:
            return self.trouble
        if self.verdict == GOOD:
            return f"a chip moves it by {self.chip_delta}, {self.margin:.0f} times its noise"
        if self.verdict == WEAK:
            return f"a chip moves it only {self.margin:.0f} times its noise: clean the pad"
        if self.margin >= tuning.SEEN_MARGIN_NOISES:
            return (
                f"too noisy, a chip moves it only {self.margin:.0f} times its noise: "
                "clean the pad, check its cable and what runs near it"
            )
        return "no chip was seen: is one lying there? Otherwise check pad and cable"


async def calibrate(board: Board, confirm: Confirm) -> list[SpotCalibration]:
    """The tech's procedure: empty felt, one chip on every spot, done. Every spot gets a verdict."""
    measuring = Measuring(board)
    await confirm(EMPTY_STEP)
    await measuring.start()
    empty = await measuring.listen(MOVED_EMPTY)
    chips: Readings = {}
    # Nobody is sent to lay chips on a table of which no spot can be read.
    if not measuring.is_hopeless():
        await confirm(CHIP_STEP)
        chips = await measuring.listen(MOVED_CHIP)
    return [
        judged(place.id, empty, chips, measuring.troubles.get(place.id, ""))
        for place in board.sensors
    ]


async def measure_empty(board: Board) -> dict[str, int]:
    """The median raw reading of every sensor; raises SensorFault naming those that have none."""
    measuring = Measuring(board)
    empty = await measuring.sample(MOVED_EMPTY)
    if measuring.troubles:
        raise SensorFault(
            "; ".join(f"Sensor {sensor}: {why}" for sensor, why in measuring.troubles.items()) + "."
        )
    return {sensor: round(median(raw)) for sensor, raw in empty.items()}


def judged(sensor: str, empty: Readings, chips: Readings, trouble: str) -> SpotCalibration:
    if trouble:
        return SpotCalibration(sensor, 0, 0, 0.0, trouble)
    # The median: one reading under a passing sleeve must not move what the table calls empty.
    reference = round(median(empty[sensor]))
    delta = reference - round(median(chips[sensor]))
    # The larger of the two: a chip must be found still by it, and felt as well.
    noise = max(pstdev(empty[sensor]), pstdev(chips[sensor]))
    return SpotCalibration(sensor, reference, delta, noise)


def _moved_counts(raw: Sequence[int], quiet_noise: int) -> int:
    """How far a spot moved while it was read; 0 when its own noise explains what it read."""
    count = tuning.NOISE_BLOCK_READINGS
    blocks = [raw[start : start + count] for start in range(0, len(raw) - count + 1, count)]
    if not blocks:
        spread = max(raw, default=0) - min(raw, default=0)
        return spread if spread > tuning.SPREAD_MAX_NOISES * quiet_noise else 0
    # From neighbours, because a spot that wanders would otherwise call its own wandering noise.
    noise = max(quiet_noise, median(map(_noise_between_neighbours, blocks)))
    means = [fmean(block) for block in blocks]
    moved = max(means) - min(means)
    return round(moved) if moved > tuning.BLOCK_MOVED_NOISES * noise else 0


def _noise_between_neighbours(raw: Sequence[int]) -> float:
    """The noise that is in single readings, whatever moves more slowly than they are taken."""
    # The difference of two readings has twice the variance of one.
    return sqrt(fmean((after - before) ** 2 for before, after in pairwise(raw)) / 2)


class Measuring:
    """All spots of a board while they are measured; one that fails does not stop the others."""

    def __init__(self, board: Board) -> None:
        self.troubles: dict[str, str] = {}  # the first of each spot
        self._ics = board.ics
        self._places: dict[str, list[SensorPlace]] = {name: [] for name in board.ics}
        for place in sorted(board.sensors, key=lambda place: place.electrode):
            self._places[place.ic].append(place)

    def is_hopeless(self) -> bool:
        return all(self._is_lost(name) for name in self._ics)

    async def start(self) -> None:
        """The sensing ICs measure from here on as they do in play."""
        for name in self._ics:
            await self._try(name, partial(self._start, name))

    async def listen(self, moved: str, only: Collection[str] | None = None) -> Readings:
        """Single readings of every sensor, at the pace at which a spot is decided.

        `only` these have to lie still; without it, all of them.
        """
        count, every_ms = tuning.NOISE_READING_COUNT, tuning.NOISE_READING_EVERY_MS
        return await self._collect(self._read, count, every_ms, moved, only)

    def forgive(self, sensors: Collection[str]) -> None:
        """These are measured once more."""
        for sensor in sensors:
            self.troubles.pop(sensor, None)

    async def sample(self, moved: str) -> Readings:
        """A few measures of every sensor; they need no start and no reference."""
        count, every_ms = tuning.SAMPLE_COUNT, tuning.SAMPLE_EVERY_MS
        return await self._collect(self._measure, count, every_ms, moved)

    async def _collect(
        self,
        take: Callable[[str], Awaitable[list[int]]],
        count: int,
        every_ms: int,
        moved: str,
        only: Collection[str] | None = None,
    ) -> Readings:
        heard: Readings = {place.id: [] for places in self._places.values() for place in places}

        async def take_into(name: str) -> None:
            for place, raw in zip(self._places[name], await take(name), strict=True):
                heard[place.id].append(raw)

        for _ in range(count):
            for name in self._ics:
                await self._try(name, partial(take_into, name))
            await aio.sleep_ms(every_ms)
        for name, places in self._places.items():
            for place in places:
                if only is not None and place.id not in only:
                    continue
                counts = _moved_counts(heard[place.id], self._ics[name].noise_counts_typical)
                if counts:
                    self._note(place, f"it moved by {counts} counts {moved}")
        return heard

    async def _try(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """An IC that fails is every spot's trouble; nothing is asked of it any more."""
        if self._is_lost(name):
            return
        try:
            await work()
        except HardwareFault as fault:
            self._note_ic(name, str(fault).rstrip("."))

    async def _start(self, name: str) -> None:
        raw_by_sensor = dict(
            zip((place.id for place in self._places[name]), await self._measure(name), strict=True)
        )
        sound = [raw for sensor, raw in raw_by_sensor.items() if sensor not in self.troubles]
        if not sound:
            return
        # A dead electrode needs a reference too, or the IC would not run for the others.
        stand_in = round(median(sound))
        await self._ics[name].start(
            [stand_in if sensor in self.troubles else raw for sensor, raw in raw_by_sensor.items()]
        )

    async def _measure(self, name: str) -> list[int]:
        measures = await self._ics[name].measure_each()
        self._note_faults(name, [each.fault for each in measures])
        return [each.raw for each in measures]

    async def _read(self, name: str) -> list[int]:
        readings = await self._ics[name].snapshot()
        self._note_faults(name, [each.fault for each in readings])
        return [each.raw for each in readings]

    def _note_faults(self, name: str, faults: Sequence[str | None]) -> None:
        if all(faults) and len(faults) > 1:
            self._note_ic(name, f"{faults[0]}, all its spots")
        for place, fault in zip(self._places[name], faults, strict=True):
            if fault:
                self._note(place, f"its pad is open or shorted ({fault}): check pad and cable")

    def _note_ic(self, name: str, sentence: str) -> None:
        why = f"{name} ({self._ics[name].label}): {sentence}; check its cable and supply"
        for place in self._places[name]:
            self._note(place, why)

    def _note(self, place: SensorPlace, why: str) -> None:
        self.troubles.setdefault(place.id, why)

    def _is_lost(self, name: str) -> bool:
        return all(place.id in self.troubles for place in self._places[name])
