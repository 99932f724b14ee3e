"""The self-test of the sensing ICs: do they answer, do they call, and is each pad fit to play?

It alone knows which finding is a fault of the pad and which is a chip or a hand on it. What is on a
spot is found by the same code as in play, from what a tech calibrated; a spot that could not take a
bet now must not pass here. It needs nobody, and starts the ICs with their references.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from statistics import pstdev

from controller.core.felt import spot as sensing
from controller.core.felt import tuning
from controller.core.felt.level_history import Trace
from controller.core.felt.reasons import BELOW_EMPTY, CREPT, DISTURBED, TOO_LITTLE
from controller.service.part_result import PartResult, in_words, judge
from hal import aio
from hal.board.open import Board, SensorPlace
from hal.devices.capacitive import CapacitiveSensor
from hal.devices.lines import InputLine
from hal.errors import HardwareFault

# As long as play needs for the slowest of its findings, a loose pad or something that moves.
READING_COUNT = 300
READING_EVERY_MS = 10

LINE_LOOKS = 5
LINE_LOOK_MS = 20
# How long a call may take to be heard. A wire needs no time; a line behind a bridge is looked at by
# its driver every 40 ms, and a busy processor is late: neither is a fault of the wire.
CALLED_LOOKS = 25

NOISY = "too noisy for a chip to be accepted: clean the pad, check its cable and what runs near it"
# What to do about a finding that neither a chip nor a hand explains.
ADVICE = {
    DISTURBED: NOISY,
    TOO_LITTLE: "take away what lies there; if nothing does, dry the felt and calibrate",
    BELOW_EMPTY: "dry the felt, check pad and cable, then calibrate",
    CREPT: "dry the felt, then calibrate",
    sensing.LOOSE_PAD: "check pad and cable",
}


async def sensor_verdicts(
    board: Board, name: str, references: Mapping[str, int], spots: Mapping[str, sensing.Spot]
) -> list[PartResult]:
    """The interrupt and every spot of one sensing IC."""
    places = sorted(
        (place for place in board.sensors if place.ic == name), key=lambda p: p.electrode
    )
    ic = board.ics[name]
    owner = f"{name} ({ic.label})"
    empty = [references[place.id] for place in places]
    listening = [_Listening(place, spots[place.id], references[place.id]) for place in places]
    verdicts = []
    try:
        if ic.interrupt is not None:
            test = partial(_test_line, ic, ic.interrupt, empty)
            verdicts.append(await judge(f"interrupt of {name}", test, ic.label))
        await ic.start(empty)
        for _ in range(READING_COUNT):
            await aio.sleep_ms(READING_EVERY_MS)
            readings = await ic.snapshot()
            for each in listening:
                reading = readings[each.place.electrode]
                each.hear(reading.raw, reading.touched, reading.fault)
    except HardwareFault as fault:
        sentence = in_words(fault, owner)
        return [PartResult(f"sensor {place.id}", False, sentence) for place in places]
    return verdicts + [each.verdict() for each in listening]


async def _test_line(ic: CapacitiveSensor, line: InputLine, empty: list[int]) -> str:
    """Makes every spot look touched, by a reference no felt has, and waits for the IC's call."""
    await ic.start(empty)
    await _require_let_go(ic, line)
    edge_count = line.edge_count
    beyond = 2 * ic.chip_counts_typical
    await ic.start([min(raw + beyond, ic.counts_full_scale - 1) for raw in empty])
    for _ in range(CALLED_LOOKS):
        await aio.sleep_ms(LINE_LOOK_MS)
        called = line.edge_count != edge_count
        if called:
            break
    if not await ic.read_touched():
        return "not tried: no spot of the IC could be made to call"
    if not called:
        raise HardwareFault("The IC called, but the unit did not hear it: check the wire.")
    await _require_let_go(ic, line)
    return "calls when a spot is touched, and lets go when the IC is read"


async def _require_let_go(ic: CapacitiveSensor, line: InputLine) -> None:
    for _ in range(LINE_LOOKS):
        await aio.sleep_ms(LINE_LOOK_MS)
        await ic.read_touched()
        if not line.active:
            return
    raise HardwareFault("The line stays low although the IC was read: it is shorted.")


class _Listening:
    """One spot for a few seconds, and whether it was ever as still as a chip has to lie."""

    def __init__(self, place: SensorPlace, spot: sensing.Spot, reference: int) -> None:
        self.place = place
        self._spot = spot
        self._reference = reference
        self._trace = Trace(spot.calibration.noise_level())
        self._was_still = False
        self._raw: list[int] = []
        self._lowest = 0.0

    def hear(self, raw: int, touched: bool, fault: str | None) -> None:
        now_ms = aio.ticks_ms()
        spot = self._spot
        spot.reading(raw, self._reference, touched, fault, now_ms)
        if spot.presence == sensing.FAULT:
            return
        self._raw.append(raw)
        self._lowest = min(self._lowest, spot.level)
        if self._trace.add(spot.level, now_ms) and not self._was_still:
            mean = self._trace.mean_if_still(tuning.LEFT_BEHIND_REST_MS, now_ms)
            self._was_still = mean is not None

    def verdict(self) -> PartResult:
        part, trouble = f"sensor {self.place.id}", self._trouble()
        if not self._raw:
            return PartResult(part, False, trouble)
        return PartResult(
            part, not trouble, f"{self._figures()}: {trouble or self._what_is_there()}"
        )

    def _trouble(self) -> str:
        """Why no bet could be taken here, or "" when the pad is fit, or something covers it."""
        spot = self._spot
        if spot.presence == sensing.FAULT or spot.reason in ADVICE:
            advice = ADVICE.get(spot.reason, "open or shorted? Check pad and cable")
            return f"{spot.reason}; {advice}"
        is_bare = spot.presence == sensing.ABSENT
        # A hand only ever adds: what swings below the empty felt is noise.
        if not self._was_still and (is_bare or self._lowest < -tuning.EMPTY_MAX_CHIPS):
            return NOISY
        return ""

    def _what_is_there(self) -> str:
        if self._spot.presence == sensing.ABSENT:
            return "empty"
        if self._spot.confirmed:
            return "a chip lies there"
        return f"{self._spot.reason or 'something is here'}; clear the spot to have its pad judged"

    def _figures(self) -> str:
        scale, raw = self._spot.calibration, self._raw[-1]
        below = self._reference - raw
        return (
            f"raw {raw}, {below} below its reference (a chip: {scale.chip_delta:.0f}), "
            f"noise {pstdev(self._raw):.1f} (calibrated: {scale.noise:.1f})"
        )
