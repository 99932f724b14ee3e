"""One MPR121 sensing channel: second filter, touch decision with debounce, baseline tracking.

It knows how one channel's numbers follow from its input; registers, sampling grid and IRQ belong to
`sim.hardware.ics.mpr121`. Figures are 10-bit counts; touching an electrode lowers them.
"""

from __future__ import annotations

from dataclasses import dataclass

COUNTS_MAX = 1023
FIVE_HIGH_BITS = 0x3E0


@dataclass(frozen=True)
class Drift:
    """One baseline-filter scenario: MHD, NHD, NCL, FDL. The touched one has no MHD."""

    largest: int
    step: int
    noise_count: int
    delay_count: int


@dataclass(frozen=True)
class Rules:
    """What the registers say about one channel while it runs."""

    touch_threshold: int
    release_threshold: int
    touch_debounce: int
    release_debounce: int
    tracking: bool
    rising: Drift
    falling: Drift
    touched: Drift


class Electrode:
    """The state of one channel between two samples."""

    __slots__ = ("_delayed", "_drifted", "_streak", "_upwards", "baseline", "data", "touched")

    def __init__(self) -> None:
        self.data = 0
        self.baseline = 0
        self.restart()

    def restart(self) -> None:
        """Stop to run: no touch is known and no count is under way; data and baseline stay."""
        self.touched = False
        self._streak = 0
        self._drifted = 0
        self._delayed = 0
        self._upwards = False

    def clear(self) -> None:
        self.data = 0
        self.baseline = 0
        self.restart()

    def load_baseline(self, five_bits: bool) -> None:
        self.baseline = self.data & FIVE_HIGH_BITS if five_bits else self.data

    def sample(self, counts: int, rules: Rules) -> bool:
        """Takes one second-filter output. False: the same sample again would change nothing."""
        before = self._state()
        self.data = counts
        self._decide(rules)
        if rules.tracking:
            self._track(rules)
        return self._state() != before

    def is_settled(self, lowest: int, highest: int, rules: Rules) -> bool:
        """Whether no level between the two can move the touch bit, now or after a debounce."""
        if self._streak:
            return False
        if self.touched:
            return self.baseline - highest >= rules.release_threshold
        return self.baseline - lowest <= rules.touch_threshold

    def _state(self) -> tuple[int, ...]:
        counters = (self._streak, self._drifted, self._delayed, self._upwards)
        return (self.data, self.baseline, self.touched, *counters)

    def _decide(self, rules: Rules) -> None:
        delta = self.baseline - self.data
        if self.touched:
            flips, debounce = delta < rules.release_threshold, rules.release_debounce
        else:
            flips, debounce = delta > rules.touch_threshold, rules.touch_debounce
        if not flips:
            self._streak = 0
        elif self._streak < debounce:
            self._streak += 1
        else:
            self.touched = not self.touched
            self._streak = 0

    def _track(self, rules: Rules) -> None:
        difference = self.data - self.baseline
        drift = self._scenario(difference, rules)
        small = not self.touched and abs(difference) <= drift.largest
        if difference == 0 or (drift.step == 0 and not small):
            self._drifted = self._delayed = 0  # Nothing can move, so nothing is counted either.
        elif self._delayed < drift.delay_count:
            self._delayed += 1
        else:
            self._delayed = 0
            self._move(difference, small, drift)

    def _scenario(self, difference: int, rules: Rules) -> Drift:
        if self.touched:
            return rules.touched
        return rules.rising if difference > 0 else rules.falling

    def _move(self, difference: int, small: bool, drift: Drift) -> None:
        if small:
            self.baseline = self.data
            self._drifted = 0
            return
        upwards = difference > 0
        if upwards != self._upwards:
            self._upwards, self._drifted = upwards, 0
        if self._drifted < drift.noise_count:
            self._drifted += 1
            return
        self._drifted = 0
        step = min(drift.step, abs(difference))
        self.baseline += step if upwards else -step
