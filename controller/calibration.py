"""Learns what each sensor reads empty and under one chip: a tech's act, never the unit's own idea.

It alone knows how many samples make a reference, when they are too restless to be one, and when a
chip moves a reading far enough to be told from noise. Where the result is kept is `references`'.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import median, pstdev

from controller.core.scale import NOISE_MIN
from hal import aio
from hal.board import Board
from hal.errors import SensorFault

SAMPLE_COUNT = 8
SAMPLE_EVERY_MS = 20
# A spot's noise is what single readings show in play, found to one part in twenty.
READING_COUNT = 240
READING_EVERY_MS = 10
SPREAD_NOISES = 10

# How many times its noise a chip must move a reading: from here on the rates of docs/sensing.md
# hold, and below the second figure even a good chip may be refused.
GOOD_MARGIN = 60
USABLE_MARGIN = 30
GOOD, WEAK, BAD = "good", "weak", "bad"

Confirm = Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class SpotCalibration:
    """One spot as the tech left it."""

    sensor: str
    reference: int
    chip_delta: int
    noise: float

    @property
    def margin(self) -> float:
        return self.chip_delta / max(self.noise, NOISE_MIN)

    @property
    def verdict(self) -> str:
        if self.margin >= GOOD_MARGIN:
            return GOOD
        return WEAK if self.margin >= USABLE_MARGIN else BAD

    @property
    def sentence(self) -> str:
        if self.verdict == GOOD:
            return f"a chip moves it by {self.chip_delta}, {self.margin:.0f} times its noise"
        if self.verdict == WEAK:
            return f"a chip moves it only {self.margin:.0f} times its noise: clean the pad"
        return "no chip was seen: is one lying there? Otherwise check pad and cable"


async def calibrate(board: Board, confirm: Confirm) -> list[SpotCalibration]:
    """The tech's procedure: empty felt, one chip on every spot, done."""
    await confirm("Clear and dry the felt: nothing may lie on any spot.")
    await _start(board, await measure_empty(board))
    empty = await _listen(board)
    spreads = _spreads_max(board)
    references = {sensor: _reference(sensor, raw, spreads[sensor]) for sensor, raw in empty.items()}
    await confirm("Put one chip on the middle of every spot and take your hands away.")
    chips = await _listen(board)
    return [
        SpotCalibration(
            sensor,
            references[sensor],
            references[sensor] - _reference(sensor, chips[sensor], spreads[sensor]),
            max(pstdev(empty[sensor]), pstdev(chips[sensor])),
        )
        for sensor in references
    ]


async def measure_empty(board: Board) -> dict[str, int]:
    """The median raw reading of every sensor; raises SensorFault for one that will not rest."""
    samples = await _sample(board)
    spreads = _spreads_max(board)
    return {sensor: _reference(sensor, raw, spreads[sensor]) for sensor, raw in samples.items()}


async def _start(board: Board, references: dict[str, int]) -> None:
    """The sensing chips measure from here on as they do in play."""
    for name, chip in board.chips.items():
        places = [place for place in board.sensors if place.chip == name]
        places.sort(key=lambda place: place.electrode)
        await chip.start([references[place.id] for place in places])


async def _listen(board: Board) -> dict[str, list[int]]:
    """Single readings of every sensor, at the pace at which a spot is decided."""
    heard: dict[str, list[int]] = {place.id: [] for place in board.sensors}
    for _ in range(READING_COUNT):
        for name, chip in board.chips.items():
            readings = await chip.snapshot()
            for place in board.sensors:
                if place.chip == name:
                    fault = readings[place.electrode].fault
                    if fault:
                        raise SensorFault(f"Sensor {place.id}: {fault}.")
                    heard[place.id].append(readings[place.electrode].raw)
        await aio.sleep_ms(READING_EVERY_MS)
    return heard


async def _sample(board: Board) -> dict[str, list[int]]:
    samples: dict[str, list[int]] = {place.id: [] for place in board.sensors}
    for _ in range(SAMPLE_COUNT):
        for name, chip in board.chips.items():
            raw = await chip.measure()
            for place in board.sensors:
                if place.chip == name:
                    samples[place.id].append(raw[place.electrode])
        await aio.sleep_ms(SAMPLE_EVERY_MS)
    return samples


def _spreads_max(board: Board) -> dict[str, int]:
    """How far a resting sensor's samples may lie apart, by its chip's own noise."""
    return {
        place.id: SPREAD_NOISES * board.chips[place.chip].noise_counts_typical
        for place in board.sensors
    }


def _reference(sensor: str, raw: list[int], spread_max: int) -> int:
    spread = max(raw) - min(raw)
    if spread > spread_max:
        raise SensorFault(
            f"Sensor {sensor} moved by {spread} counts while it was measured. "
            "Clear and dry the felt, then calibrate again."
        )
    return round(median(raw))
