"""A trace once more: what the spots were told around START, through today's sensing.

Every look, reading and failure is told once more to the shipped spots, at its recorded time; their
verdicts at START are compared with the recorded ones. Where today's spots ask for readings that the
table did not take then, the last one is told again. A field incident becomes a test this way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from controller.core.felt import spot as sensing
from controller.core.felt.surface import Surface
from controller.evidence.round_trace import Failure, Heard, Look, Reading, Trace, TraceFault

# How long what lay there when the trace begins is held before it, and how often it is told.
LEAD_MS = 1000
LEAD_EVERY_MS = 10
# A reading is missing when it comes so much later than it was asked for: a bus takes its time.
MISSING_TIMES = 3
MISSING_MS = 30
VERDICTS = {sensing.ACCEPT: "accepted", sensing.EMPTY: "empty"}


@dataclass(frozen=True)
class Replayed:
    """What a spot was judged then, and now."""

    sensor: str
    then: str
    now: str


def replay(trace: Trace) -> list[Replayed]:
    """Each spot's verdict then and now; a trace that cannot tell is a TraceFault."""
    if not trace.places:
        raise TraceFault("it was recorded by older software and does not say what its spots heard")
    surface = Surface()
    spots = {sensor: _spot(sensor, trace, surface) for sensor in trace.places}
    ics = {
        name: _Ic(name, trace, spots, surface)
        for name in sorted({ic for ic, _ in trace.places.values()})
    }
    for heard in _heard_until_judged(trace):
        for ic in ics.values():
            ic.tell_missing(heard.offset_ms)
        ics[heard.ic].tell(heard)
    for ic in ics.values():
        ic.tell_missing(trace.judged_ms)
    return [_compare(trace, sensor, spot) for sensor, spot in spots.items()]


def _spot(sensor: str, trace: Trace, surface: Surface) -> sensing.Spot:
    """As it was calibrated then, and with the empty felt where it was."""
    chip_delta, noise, raw_max, zero = trace.scales[sensor]
    spot = sensing.Spot(sensor, sensing.Calibration(chip_delta, noise, raw_max))
    spot.move_zero(zero)
    surface.add(spot)
    # Whether that zero was believed is told with each reading.
    spot.classifier.doubt.trust_zero(True)
    return spot


def _heard_until_judged(trace: Trace) -> list[Heard]:
    """In the order in which it was heard: within a millisecond a look comes first."""
    heard: Iterable[Heard] = (*trace.looks, *trace.samples, *trace.failures)
    return sorted(
        (each for each in heard if each.offset_ms <= trace.judged_ms),
        key=lambda each: each.offset_ms,
    )


class _Ic:
    """One sensing IC of the trace and its spots, which hear of it what they heard then."""

    def __init__(
        self, name: str, trace: Trace, spots: dict[str, sensing.Spot], surface: Surface
    ) -> None:
        places = [(place[1], sensor) for sensor, place in trace.places.items() if place[0] == name]
        self._spots = {electrode: spots[sensor] for electrode, sensor in sorted(places)}
        self._references = {electrode: trace.references[sensor] for electrode, sensor in places}
        self._surface = surface
        readings = [each for each in trace.samples if each.ic == name]
        self._coming_ms = deque(each.offset_ms for each in readings)
        self._last: Reading | None = None
        if readings:
            self._hold(readings[0])

    def tell(self, heard: Heard) -> None:
        if isinstance(heard, Reading):
            self._coming_ms.popleft()
            self._last = heard
            self._tell_reading(heard)
        elif isinstance(heard, Look):
            if self._last is not None and self._last.touched != heard.touched:
                self._last = None  # something came or went: that reading is not told again
            for electrode, spot in self._spots.items():
                spot.touched(_bit(heard.touched, electrode), heard.offset_ms, heard.prompt)
        else:
            assert isinstance(heard, Failure)
            self._last = None  # until it answers again there is nothing to tell
            for spot in self._spots.values():
                spot.fault(heard.reason, heard.offset_ms)

    def tell_missing(self, until_ms: int) -> None:
        """Tells the last reading again while today's spots wait for one that was not taken."""
        while self._last is not None:
            last_ms = self._last.offset_ms
            wanted_ms = min(spot.read_again_ms(last_ms) for spot in self._spots.values())
            next_ms = self._coming_ms[0] if self._coming_ms else until_ms
            is_missing = next_ms - last_ms > MISSING_TIMES * wanted_ms + MISSING_MS
            if not is_missing or last_ms + wanted_ms > until_ms:
                return
            self._last = self._last._replace(offset_ms=last_ms + wanted_ms)
            self._tell_reading(self._last)

    def _hold(self, first: Reading) -> None:
        """Lets spots that were sure of something when the trace begins be sure of it again."""
        standing = first.standing
        sure = [
            electrode
            for electrode in self._spots
            if _bit(standing.settled | standing.tainted | standing.near_liquid, electrode)
        ]
        for before_ms in range(LEAD_MS, 0, -LEAD_EVERY_MS):
            earlier = first._replace(offset_ms=first.offset_ms - before_ms)
            for electrode in sure:
                self._tell_electrode(earlier, electrode)
        for electrode in sure:
            if not _bit(standing.settled, electrode):
                self._spots[electrode].classifier.liquid_is_near(first.offset_ms)
            doubt = self._spots[electrode].classifier.doubt
            doubt.stand_as(_bit(standing.tainted, electrode), doubt.near_liquid)

    def _tell_reading(self, reading: Reading) -> None:
        if len(reading.faults) == len(reading.raw):
            return  # the failure that follows says so for the whole IC
        for electrode in self._spots:
            self._tell_electrode(reading, electrode)

    def _tell_electrode(self, reading: Reading, electrode: int) -> None:
        spot, standing = self._spots[electrode], reading.standing
        spot.hold(_bit(standing.unproven, electrode))
        if not self._surface.is_wet:
            doubt = spot.classifier.doubt
            doubt.stand_as(doubt.tainted, _bit(standing.near_liquid, electrode))
        spot.reading(
            reading.raw[electrode],
            self._references[electrode],
            _bit(reading.touched, electrode),
            reading.faults.get(electrode),
            reading.offset_ms,
        )


def _bit(bits: int, electrode: int) -> bool:
    return bool(bits >> electrode & 1)


def _compare(trace: Trace, sensor: str, spot: sensing.Spot) -> Replayed:
    then = (
        "accepted"
        if sensor in trace.accepted
        else "refused"
        if sensor in trace.refused
        else "empty"
    )
    verdict = spot.verdict_at_lock(trace.judged_ms)
    return Replayed(sensor, then, VERDICTS.get(verdict, "refused"))
