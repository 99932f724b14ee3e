"""How hands move: along minimum-jerk paths, and never quite still.

It knows movement only; what a moving hand does to a pad is the hand's business. Times are seconds.
"""

from __future__ import annotations

from math import pi, sin, sqrt

from sim.felt.physics.ranges import Draw

WANDER_TONES = 3
TREMOR_TONES = 2


def minimum_jerk(part: float) -> float:
    """The part of the way a reaching hand has covered after `part` of its time."""
    if part <= 0:
        return 0.0
    if part >= 1:
        return 1.0
    return part * part * part * (10 + part * (6 * part - 15))


class Unsteadiness:
    """A sum of slow tones (posture, breath, pulse) and of fast ones (tremor)."""

    __slots__ = ("_tones", "peak")

    def __init__(self, draw: Draw, wander_rms: float, tremor_rms: float) -> None:
        self._tones = _tones(draw, "wander, Hz", WANDER_TONES, wander_rms)
        self._tones += _tones(draw, "tremor, Hz", TREMOR_TONES, tremor_rms)
        self.peak = sum(amplitude for amplitude, _, _ in self._tones)

    def at(self, t_s: float) -> float:
        total = 0.0
        for amplitude, omega, phase in self._tones:
            total += amplitude * sin(omega * t_s + phase)
        return total


def _tones(draw: Draw, name: str, count: int, rms: float) -> list[tuple[float, float, float]]:
    amplitude = rms * sqrt(2 / count)
    return [(amplitude, 2 * pi * draw.of(name), draw.between(0, 2 * pi)) for _ in range(count)]
