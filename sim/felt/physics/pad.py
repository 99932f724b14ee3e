"""One pad under the felt: its own capacitance, what the room does to it, and what lies on it.

It adds everything up at a moment and says within which bounds the sum stays for how long, so that a
model of a sensing IC need not sample what cannot change. Noise belongs to the sample, which the
IC takes every 4 ms. It knows no registers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, pi, sin

from sim.felt.capacitance import FEMTOFARAD_COUNTS, SHORT_CIRCUIT_FEMTOFARADS
from sim.felt.capacitance import femtofarads as femtofarads_of
from sim.felt.physics.noise import EXTREME, gauss
from sim.felt.physics.things import Thing
from sim.hardware.ics.base import FOREVER_NS, Source

COUNTS_MAX = 1023
SAMPLE_NS = 4_000_000
SAMPLE_S = 0.004
DRIFT_CALM_S = 10.0


def counts_of(femtofarads: float) -> int:
    """What an MPR121 reads: the more capacitance, the lower."""
    if femtofarads <= FEMTOFARAD_COUNTS / COUNTS_MAX:
        return COUNTS_MAX
    return int(FEMTOFARAD_COUNTS / femtofarads)


@dataclass
class Ramp:
    """A slow change of the room: from zero to `ff` between two moments."""

    ff: float
    begin_s: float
    end_s: float

    def at(self, t_s: float) -> float:
        if t_s <= self.begin_s:
            return 0.0
        if t_s >= self.end_s:
            return self.ff
        return self.ff * (t_s - self.begin_s) / (self.end_s - self.begin_s)


@dataclass
class Interference:
    """Foreign noise with a shift of its own, from one moment to another."""

    rms_ff: float
    shift_ff: float
    begin_s: float
    end_s: float
    key: int

    def at(self, t_s: float, number: int) -> float:
        if not self.begin_s <= t_s < self.end_s:
            return 0.0
        return self.shift_ff + self.rms_ff * gauss(self.key, number)


@dataclass
class PhysicalPad(Source):
    """The constants of one pad and everything that acts on it."""

    stray_ff: float
    sensitivity: float
    noise_ff: float
    noise_key: int
    mains_ff: float = 0.0
    mains_omega: float = 2 * pi * 50.0
    lamp_ff: float = 0.0
    lamp: Callable[[], float] | None = None
    things: list[Thing] = field(default_factory=list)
    ramps: list[Ramp] = field(default_factory=list)
    interferences: list[Interference] = field(default_factory=list)
    dead_counts: int | None = None
    # The sample that was asked for last, its noise and its part of a mains period: an IC that
    # integrates asks for each several times.
    _drawn: tuple[int, float, float] = field(default=(-1, 0.0, 0.0), init=False, repr=False)

    def still_ff(self, t_s: float) -> float:
        """Everything but noise."""
        added = 0.0
        for thing in self.things:
            added += thing.added_ff(t_s)
        total = self.stray_ff + self.sensitivity * added
        for ramp in self.ramps:  # written out: a drift for hours asks a hundred thousand times
            if t_s >= ramp.end_s:
                total += ramp.ff
            elif t_s > ramp.begin_s:
                total += ramp.ff * (t_s - ramp.begin_s) / (ramp.end_s - ramp.begin_s)
        if self.lamp is not None:
            total += self.lamp_ff * self.lamp()
        return total

    def femtofarads(self, at_ns: int) -> float:
        """What a converter that samples every 4 ms sees in the sample of this moment."""
        if self.dead_counts is not None:
            return femtofarads_of(self.dead_counts)
        number = at_ns // SAMPLE_NS
        t_s = number * SAMPLE_S
        drawn, noise, mains = self._drawn
        if drawn != number:
            noise, mains = gauss(self.noise_key, number), sin(self.mains_omega * t_s)
            self._drawn = number, noise, mains
        total = self.still_ff(t_s) + self.noise_ff * noise
        total += self.mains_ff * mains
        for interference in self.interferences:
            total += interference.at(t_s, number)
        return total

    def counts(self, at_ns: int) -> int:
        if self.dead_counts is not None:
            return self.dead_counts
        return counts_of(self.femtofarads(at_ns))

    @property
    def is_undisturbed(self) -> bool:
        """True when nothing but its own noise was ever put on it."""
        return not (self.things or self.ramps or self.interferences) and self.dead_counts is None

    def noise_rms_ff(self) -> float:
        return float((self.noise_ff**2 + self.mains_ff**2 / 2) ** 0.5)

    def calm(self, at_ns: int) -> tuple[int, int, int]:
        """(until_ns, lowest, highest counts): what any sample before `until_ns` can read."""
        if self.dead_counts is not None:
            return FOREVER_NS, self.dead_counts, self.dead_counts
        until_ns, least_ff, most_ff = self.calm_ff(at_ns)
        return until_ns, counts_of(most_ff), counts_of(least_ff)

    def calm_ff(self, at_ns: int) -> tuple[int, float, float]:
        """The same as capacitance: (until_ns, least, most); nothing is known while it moves."""
        if self.dead_counts is not None:
            dead_ff = femtofarads_of(self.dead_counts)
            return FOREVER_NS, dead_ff, dead_ff
        t_s = at_ns * 1e-9
        until_s = self._calm_until(t_s)
        if until_s <= t_s:
            return at_ns, 0.0, SHORT_CIRCUIT_FEMTOFARADS
        until_ns = FOREVER_NS if until_s == inf else int(until_s * 1e9)
        still_ff = self.still_ff(t_s)
        spread_ff = self.noise_ff * EXTREME + self.mains_ff + abs(self.lamp_ff)
        for ramp in self.ramps:
            # It only ever goes one way, so it stays between its two ends.
            spread_ff += abs(ramp.at(min(until_s, ramp.end_s)) - ramp.at(t_s))
        return until_ns, still_ff - spread_ff, still_ff + spread_ff

    def _calm_until(self, t_s: float) -> float:
        until_s = inf
        for thing in self.things:
            until_s = min(until_s, thing.calm_until(t_s))
            if until_s <= t_s:
                return t_s
        for ramp in self.ramps:
            if t_s < ramp.end_s:
                # For so long the fastest drift is a few counts, and its bounds say how many.
                until_s = min(until_s, t_s + DRIFT_CALM_S)
        for interference in self.interferences:
            if t_s < interference.end_s:
                until_s = min(until_s, max(t_s, interference.begin_s))
        return until_s
