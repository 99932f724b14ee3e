"""The short way: spots fed straight from the physics at the moments a IC watch would read.

It stands in for registers, bus and interrupt line, and for nothing else: what decides is the
shipped `Spot` and `Surface`, read at the pace they ask for. The long way through registers is
`sim.runs.sense.registers`; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from controller.core.felt import tuning
from controller.core.felt.spot import (
    EMPTY,
    FOREIGN,
    NOTHING,
    PRESENT,
    REFUSE,
    UNSURE,
    Spot,
)
from controller.core.felt.surface import Surface
from hal.ics.kinds import MPR121
from sim.felt.physics.pad import SAMPLE_NS, PhysicalPad
from sim.felt.physics.table import PhysicalTable
from sim.floor.light_eye import FADES
from sim.hardware.ics.base import FOREVER_NS
from sim.runs.sense.calibrate import Stored
from sim.runs.sense.sensing_ic import ICS, SensingIc

MILLISECOND_NS = 1_000_000
STATUS_READ_MS = 1  # From the interrupt to the touch bits in the host.
DETECTED, REFUSED = FADES["detected"], FADES["refused"]


class _Electrode:
    """One pad with its spot, and the touch bit its IC would show."""

    __slots__ = (
        "_baseline",
        "_clock",
        "_filter_ns",
        "_ic",
        "_raw",
        "_settled_bit",
        "_settled_ns",
        "_streak",
        "_zero",
        "bit",
        "blinks",
        "pad",
        "reference",
        "spot",
    )

    def __init__(
        self,
        pad_id: str,
        pad: PhysicalPad,
        stored: Stored,
        ic: SensingIc,
        clock: Callable[[], int],
    ) -> None:
        self.pad = pad
        self.blinks = False
        self._clock = clock
        self.reference = stored.reference
        self.spot = Spot(pad_id, stored.calibration)
        self.bit = False
        self._ic = ic
        self._raw = ic.raw
        self._filter_ns = ic.filter_ns
        self._settled_bit = False
        self.rebase()
        self._streak = 0
        self.pad.lamp = self._lamp

    def rebase(self) -> None:
        """The IC is started from where the empty felt is by now."""
        step = self._ic.baseline_step
        self._baseline = self.spot.reference_now(self.reference) // step * step
        self._zero = self.spot.zero
        self._settled_ns = 0

    @property
    def is_apart(self) -> bool:
        return abs(self.spot.zero - self._zero) >= tuning.REBASE_BEYOND_CHIPS

    def _lamp(self) -> float:
        if self.blinks:
            return REFUSED.at(self._clock())
        return DETECTED.at(self._clock()) if self.spot.presence == PRESENT else 0.0

    @property
    def is_busy(self) -> bool:
        """False when one more look would show the noise of empty felt and nothing else."""
        return self.spot.classifier.kind != NOTHING or not self.pad.is_undisturbed

    def measure(self, at_ns: int) -> int:
        return self._raw(self.pad.femtofarads(at_ns - self._filter_ns))

    def sample(self, at_ns: int) -> bool:
        """One sample of the IC; True when the touch bit flips."""
        return self.decide(self.measure(at_ns))

    def decide(self, raw: int) -> bool:
        delta = self._baseline - raw
        wants = delta >= self._ic.release if self.bit else delta > self._ic.touch
        if wants == self.bit:
            self._streak = 0
            return False
        self._streak += 1
        if self._streak < self._ic.flips_after:
            return False
        self.bit, self._streak = wants, 0
        return True

    def next_sample_ns(self, at_ns: int) -> int:
        """The first sample from `at_ns` on that could move the touch bit, if that bit matters."""
        if self.spot.presence == UNSURE and self.spot.classifier.kind == FOREIGN:
            return FOREVER_NS  # an unsure spot does not listen to its touch bit
        # A scene is laid out before it begins, so a bound that was found once holds.
        if at_ns < self._settled_ns and self.bit == self._settled_bit and not self._streak:
            return self._settled_ns
        until_ns, least_ff, most_ff = self.pad.calm_ff(at_ns - self._filter_ns)
        if until_ns <= at_ns:
            return at_ns
        if self.bit:
            is_settled = self._baseline - self._raw(least_ff) >= self._ic.release
        else:
            is_settled = self._baseline - self._raw(most_ff) <= self._ic.touch
        if not is_settled or self._streak:
            return at_ns
        self._settled_ns, self._settled_bit = until_ns, self.bit
        return until_ns


class FastTable:
    """The spots of one table in time. `now_ms` is when the last reading was taken."""

    def __init__(
        self, table: PhysicalTable, stored: Mapping[str, Stored], ic: SensingIc = ICS[MPR121]
    ) -> None:
        self.table = table
        self._ic = ic
        self._stored = stored
        self.round_open = False
        self.now_ms = 0
        self.reading_count = 0
        self.lit_changes = 0
        self._watched: Spot | None = None
        self._lit = False
        self._all_read_ms = -tuning.QUIET_EVERY_MS
        self._begin()

    def _begin(self) -> None:
        self._electrodes = [
            _Electrode(pad_id, pad, self._stored[pad_id], self._ic, lambda: self.now_ms)
            for pad_id, pad in self.table.pads.items()
        ]
        self._busy = self._electrodes
        self.spots = {each.spot.sensor: each.spot for each in self._electrodes}
        self.surface = Surface()
        for spot in self.spots.values():
            self.surface.add(spot)

    def _rebase(self) -> None:
        """As a IC watch does: on an empty table, when the felt has moved far enough."""
        if self.round_open or not any(each.is_apart for each in self._electrodes):
            return
        if all(spot.verdict_at_lock(self.now_ms) == EMPTY for spot in self.spots.values()):
            for each in self._electrodes:
                each.rebase()

    def lose_power(self, back_ms: int) -> None:
        """Nothing is read until `back_ms`; then all begins anew, from what the surface kept."""
        memory = self.surface.memory()
        self._begin()
        if memory is not None:
            self.surface.remember(*memory)
            for each in self._electrodes:
                each.rebase()
        self.now_ms = back_ms
        self._all_read_ms = back_ms - tuning.QUIET_EVERY_MS

    def run_until(self, end_ms: int) -> None:
        while self.now_ms < end_ms:
            now_ms = self.now_ms
            wait_ms = tuning.QUIET_EVERY_MS
            for each in self._busy:
                again_ms = each.spot.read_again_ms(now_ms)
                if again_ms < wait_ms:
                    wait_ms = again_ms
                    if again_ms <= tuning.DECIDING_EVERY_MS:
                        break
            next_ms = min(now_ms + self._ic.read_cost_ms + wait_ms, end_ms)
            is_fast = wait_ms <= tuning.DECIDING_EVERY_MS
            flipped_ms = None if is_fast else self._first_flip(now_ms, next_ms)
            if flipped_ms is None:
                self.now_ms = next_ms
                self._read(interrupt=False, is_fast=is_fast)
            else:
                self.now_ms = flipped_ms + STATUS_READ_MS
                self._read(interrupt=True)

    def watch_light(self, sensor: str) -> None:
        """From here on `lit_changes` counts how often this spot's light goes on or off."""
        self._watched = self.spots[sensor]
        self._lit = self._watched.presence == PRESENT

    def start_too_early(self, at_ms: int) -> None:
        """START finds no bet: what it refuses blinks from here on."""
        verdicts = self.verdicts(at_ms)
        for each in self._electrodes:
            each.blinks = verdicts[each.spot.sensor] == REFUSE

    def verdicts(self, at_ms: int) -> dict[str, int]:
        """START: every sensor is read once more, and each spot gives its verdict."""
        self.run_until(at_ms)
        self._all_read_ms = -tuning.QUIET_EVERY_MS
        self._read(interrupt=False)
        return {sensor: spot.verdict_at_lock(self.now_ms) for sensor, spot in self.spots.items()}

    def _first_flip(self, from_ms: int, to_ms: int) -> int | None:
        """When a touch bit flips first in between; samples that cannot matter are not taken."""
        at_ns = (from_ms * MILLISECOND_NS // SAMPLE_NS + 1) * SAMPLE_NS
        to_ns = to_ms * MILLISECOND_NS
        while at_ns < to_ns:
            due = [each.next_sample_ns(at_ns) for each in self._busy]
            soonest_ns = min(due, default=to_ns)
            if soonest_ns > at_ns:
                at_ns = -(-soonest_ns // SAMPLE_NS) * SAMPLE_NS
                continue
            flips = [
                each.sample(at_ns)
                for each, when_ns in zip(self._busy, due, strict=True)
                if when_ns <= at_ns
            ]
            if any(flips):
                return at_ns // MILLISECOND_NS
            at_ns += SAMPLE_NS
        return None

    def _read(self, interrupt: bool, is_fast: bool = False) -> None:
        now_ms = self.now_ms
        if interrupt:
            for each in self._busy:
                each.spot.touched(each.bit, now_ms, True)
            self.now_ms = now_ms = now_ms + self._ic.snapshot_ms
        at_ns = now_ms * MILLISECOND_NS
        electrodes = self._busy
        if now_ms - self._all_read_ms >= tuning.QUIET_EVERY_MS:
            electrodes = self._electrodes
            self._all_read_ms = now_ms
            self._busy = [each for each in self._electrodes if each.is_busy]
        for each in electrodes:
            raw = each.measure(at_ns)
            if is_fast:
                each.decide(raw)
            each.spot.reading(raw, each.reference, each.bit, None, now_ms)
            self.reading_count += 1
        self.surface.look(now_ms, not self.round_open)
        self._rebase()
        if self._watched is not None and (self._watched.presence == PRESENT) != self._lit:
            self._lit = not self._lit
            self.lit_changes += 1
