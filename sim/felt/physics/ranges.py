"""Every figure the felt's physics draws, with the range it is drawn from.

These ranges are assumptions: nobody has published what clay chips, hands or wet felt do to a pad
under a layout. They are kept in one place so that a report can print what it assumed, and so that a
measured figure can take an assumed one's place. Not here are mere moments: when a case begins, and
when within it START is pressed, a drop falls or a bus fails. Capacitances are in femtofarads (fF)
on a pad without overlay; one count of an MPR121 at 3.5 pF is about 5 fF.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

RANGES: Mapping[str, tuple[float, float]] = {
    # the table and its pads
    "pad stray, fF": (3400.0, 3700.0),
    "overlay thickness, mm": (0.8, 1.5),
    "pad to pad sensitivity": (0.94, 1.06),
    "pad noise, fF rms": (1.2, 2.6),
    "mains pick-up, fF": (0.0, 2.5),
    "mains, Hz off": (-0.1, 0.1),
    "lamp pick-up, fF at full": (-6.0, 6.0),
    "ageing, loss of sensitivity": (0.0, 0.08),
    "ageing, shift, fF": (-12.0, 12.0),
    "grounding, share of the body's effect": (0.6, 1.0),
    "noise figure found by calibration": (0.92, 1.08),
    # chips
    "clay chip, fF": (270.0, 380.0),
    "plastic chip, fF": (220.0, 300.0),
    "metal-core chip, fF": (340.0, 560.0),
    "chip to chip": (0.95, 1.05),
    "centred, part of a chip": (0.94, 1.0),
    "half off, part of a chip": (0.30, 0.68),
    "on edge, part of a chip": (0.20, 0.45),
    "stack growth, chips": (0.9, 1.7),
    "lammer, part of a chip": (0.35, 0.75),
    "drop, ms": (3.0, 8.0),
    "felt settles, part": (0.0, 0.02),
    "felt settles, ms": (40.0, 150.0),
    "rocking, part": (0.05, 0.30),
    "rocking, Hz": (4.0, 8.0),
    "rocking dies, ms": (80.0, 350.0),
    # hands
    "finger, fF": (420.0, 1000.0),
    "fingers holding a chip, fF": (650.0, 1500.0),
    "palm, fF": (1000.0, 3500.0),
    "hand reach, mm": (3.5, 6.0),
    "hand falls off with power": (1.1, 1.5),
    "movement of the hand, ms": (300.0, 900.0),
    "hand holds the chip, ms": (60.0, 700.0),
    "hand rests, ms": (700.0, 8000.0),
    "resting hand shifts after, s": (0.3, 2.0),
    "resting hand wanders, part rms": (0.03, 0.10),
    "resting hand trembles, part rms": (0.008, 0.03),
    "hover height, mm": (2.0, 30.0),
    "hand hovers at one height, s": (0.3, 2.5),
    "passing hand stays, s": (0.1, 0.8),
    "passing hand, mm above the felt": (0.0, 15.0),
    "wet hand, times a dry one": (1.0, 1.5),
    "drips from a wet hand, fF": (3.0, 60.0),
    "hovering hand wanders, mm rms": (1.0, 4.0),
    "hovering hand trembles, mm rms": (0.15, 0.6),
    "wander, Hz": (0.4, 2.5),
    "tremor, Hz": (7.0, 12.0),
    "hand on felt covers the pad": (0.35, 1.0),
    "sleeve, mm above the felt": (2.0, 8.0),
    # other things
    "card, fF": (8.0, 28.0),
    "phone, fF": (500.0, 2500.0),
    "glass, fF": (250.0, 2000.0),
    # liquid
    "liquid, fF": (60.0, 2500.0),
    "liquid, seat to seat": (0.5, 1.2),
    "hand is there before the liquid, s": (0.1, 0.5),
    "liquid arrives, part at once": (0.0, 0.5),
    "liquid front crosses, ms": (40.0, 300.0),
    "liquid soaks in, s": (0.4, 4.0),
    "liquid reaches the next seat, ms": (50.0, 900.0),
    "flowing water lowers, fF": (15.0, 250.0),
    "water flows, s": (0.3, 3.0),
    "drying, s": (20.0, 900.0),
    "wipe leaves, part": (0.0, 0.5),
    # the room
    "temperature, fF per K": (2.5, 5.5),
    "humidity, fF per %": (0.6, 1.6),
    "pad to pad drift": (0.85, 1.15),
    "temperature change, K": (-15.0, 15.0),
    "temperature change, K per minute": (0.1, 0.5),
    "humidity change, %": (-70.0, 70.0),
    "humidity change, % per minute": (0.2, 1.2),
    "interference, fF rms": (10.0, 200.0),
    "interference, pad to pad": (0.5, 1.0),
    "interference shift, fF": (-350.0, 350.0),
    "interference lasts, ms": (300.0, 6000.0),
    "grounding step, fF": (-12.0, 12.0),
    "new felt shifts, fF": (-60.0, 60.0),
    "new felt, sensitivity": (0.85, 1.15),
    "loose pad, part of the stray left": (0.55, 0.88),
    # people
    "START after the table is at rest, ms": (1200.0, 6000.0),
    "START after power-up, s": (1.0, 4.0),
    "START after minutes without power, s": (1.5, 6.0),
    "START after hours without power, s": (1.5, 20.0),
    "seats bet within, s": (0.0, 3.0),
    "card follows the chip after, s": (0.8, 2.0),
    "chip lies before the spill, s": (2.0, 10.0),
    "chip is saved after the spill, s": (1.0, 12.0),
    "wiped after the spill, s": (1.0, 8.0),
    "rounds begin after, s": (5.0, 30.0),
    "round lasts, s": (15.0, 60.0),
    "between two rounds, s": (5.0, 60.0),
    # how long a case looks
    "drift is watched for, s": (40.0, 160.0),
    "chips lie before the power goes, s": (2.0, 20.0),
    "empty felt before the power goes, s": (6.0, 12.0),
    "power is off for minutes, s": (2.0, 600.0),
}

MATERIALS = ("clay", "plastic", "metal-core")


class Draw:
    """Draws figures by name from one seed, and remembers which names were used."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.used: set[str] = set()

    def of(self, name: str) -> float:
        low, high = RANGES[name]
        self.used.add(name)
        return low + (high - low) * self._random.random()

    def ms(self, name: str) -> float:
        """A figure given in milliseconds, as seconds."""
        return self.of(name) / 1000

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self._random.random()

    def chance(self, part: float) -> bool:
        return self._random.random() < part

    def pick(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def one_of(self, names: tuple[str, ...]) -> str:
        return self._random.choice(names)

    def key(self) -> int:
        return self._random.getrandbits(64)
