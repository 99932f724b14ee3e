"""One spot that is read every 10 ms, as its IC watch would while anything happens.

Levels are in chips above the stored reference; each sensing IC measures them on its own scale,
with the figures that are usual for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.core.felt.spot import Calibration, Spot
from hal.aio import ticks_add
from hal.ics.fdc1004 import Fdc1004
from hal.ics.fdc1004_electrode import FULL_SCALE
from hal.ics.kinds import FDC1004, MPR121, TOUCH_THRESHOLDS
from hal.ics.mpr121 import Mpr121

FELT = 1 / 60  # a count beside the reference, as felt mostly is
CHIP = 59 / 60
EDGE = 1 / 3
HAND = 5.0
READ_EVERY_MS = 10


@dataclass(frozen=True)
class Scale:
    """What one sensing IC makes of a level, on a usual pad."""

    reference: int
    chip_delta: int
    noise: int
    raw_max: int
    touch: int

    def raw(self, level: float) -> int:
        return round(self.reference - level * self.chip_delta)

    def new_spot(self) -> Spot:
        return Spot("3A", Calibration(self.chip_delta, self.noise, self.raw_max))


def _usual(kind: str, driver: type[Mpr121] | type[Fdc1004], reference: int) -> Scale:
    return Scale(
        reference,
        driver.chip_counts_typical,
        driver.noise_counts_typical,
        driver.counts_full_scale,
        TOUCH_THRESHOLDS[kind][0],
    )


SCALES = {
    MPR121: _usual(MPR121, Mpr121, 700),
    FDC1004: _usual(FDC1004, Fdc1004, FULL_SCALE - 7_200),
}


class Watched:
    """A spot, the level on it, and the time."""

    def __init__(self, now_ms: int = 0, ic: str = MPR121) -> None:
        self.scale = SCALES[ic]
        self.spot = self.scale.new_spot()
        self.now_ms = now_ms
        self.level = FELT
        self.read()

    def read(self, noise: int = 0) -> bool:
        """`noise` is in the usual noise of the IC."""
        raw = self.scale.raw(self.level) + noise * self.scale.noise
        reference = self.scale.reference
        return self.spot.reading(raw, reference, self._is_touched, None, self.now_ms)

    def put(self, level: float) -> None:
        """The level jumps, and the touch bit tells of it."""
        self.level = level
        self.spot.touched(self._is_touched, self.now_ms)
        self.read()

    def pass_ms(self, duration_ms: int) -> None:
        for _ in range(duration_ms // READ_EVERY_MS):
            self.now_ms = ticks_add(self.now_ms, READ_EVERY_MS)
            self.read()

    def glitch(self, level: float) -> None:
        """One reading that is wrong, and then the level is what it was."""
        true_level, self.level = self.level, level
        self.pass_ms(READ_EVERY_MS)
        self.level = true_level

    def creep(self, to_level: float, duration_ms: int) -> None:
        """The level moves so slowly that nothing but warmth or damp can have done it."""
        from_level, steps = self.level, duration_ms // READ_EVERY_MS
        for step in range(1, steps + 1):
            self.level = from_level + (to_level - from_level) * step / steps
            self.pass_ms(READ_EVERY_MS)

    def verdict(self) -> int:
        return self.spot.verdict_at_lock(self.now_ms)

    def seen(self) -> tuple[str, bool]:
        return self.spot.presence, self.spot.confirmed

    @property
    def _is_touched(self) -> bool:
        return self.scale.reference - self.scale.raw(self.level) > self.scale.touch


def with_chip(ic: str = MPR121) -> Watched:
    watched = Watched(ic=ic)
    watched.pass_ms(1_000)
    watched.put(CHIP)
    watched.pass_ms(500)
    return watched
