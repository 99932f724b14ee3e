"""An eye above the lamps: what each sensor's light shows, read from the LED ICs' outputs.

It has its own copy of the pattern table and knows nothing of who commands the lamps or why. A
verdict needs a second, at times a quarter more, that agrees with a pattern; until then it is
"settling". A fade agrees when its level follows the same curve at every moment of that second.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from sim.hardware.ics.pca9685 import LEVEL_MAX

MILLISECOND_NS = 1_000_000
WINDOW_MS = 1000
PHASE_TOLERANCE_MS = 40
EYE_MS = 10  # Two lamps switched within this time are seen as switched together.
# A second in which no lit look both began and ended may be a blink, or the end of one light and
# the begin of another. This much more of the past tells: steady amber and then a fault passes for
# late for 740 ms of amber, 340 ms of dark and a flash of 150 ms.
LOOK_BACK_MS = 240
LEVEL_TOLERANCE = 0.02
CHANGES_MAX = 128
FADE_TOLERANCE = 0.005
SAMPLES_MS = range(-WINDOW_MS, 1, 25)  # before now
PHASE_STEP_MS = 10

WHITE, AMBER = "white", "amber"
DARK, BRIGHT, BRIGHT_AMBER, LOW_AMBER = "dark", "white", "amber", "amber 30 %"
TRAINING = "training-"  # white and amber have changed places
SETTLING, UNKNOWN = "settling", "unknown"

# (white, amber) as parts of full brightness.
LOOKS = {DARK: (0.0, 0.0), BRIGHT: (1.0, 0.0), BRIGHT_AMBER: (0.0, 1.0), LOW_AMBER: (0.0, 0.3)}

# Each light as its looks in order, with the time in ms that each lasts; one look is a steady light.
PATTERNS: dict[str, tuple[tuple[str, int], ...]] = {
    "off": ((DARK, WINDOW_MS),),
    "accepted": ((BRIGHT, WINDOW_MS),),
    "late": ((BRIGHT_AMBER, 700), (DARK, 300)),
    "fault": (
        (BRIGHT_AMBER, 150),
        (DARK, 100),
        (BRIGHT_AMBER, 150),
        (DARK, 100),
        (BRIGHT_AMBER, 150),
        (DARK, 350),
    ),
    "find": ((BRIGHT, 125), (BRIGHT_AMBER, 125)),
    "service": ((LOW_AMBER, 500), (DARK, 500)),
    TRAINING + "off": ((LOW_AMBER, 100), (DARK, 900)),
    TRAINING + "accepted": ((BRIGHT_AMBER, WINDOW_MS),),
    TRAINING + "late": ((BRIGHT, 700), (DARK, 300)),
}


@dataclass(frozen=True)
class Fade:
    """White goes up and down between two parts of full brightness, each way in `half_ms`."""

    low: float
    high: float
    half_ms: int
    frame_ms: int

    def at(self, since_low_ms: int) -> float:
        ms = since_low_ms % (2 * self.half_ms) // self.frame_ms * self.frame_ms
        way = ms if ms < self.half_ms else 2 * self.half_ms - ms
        return self.low + (self.high - self.low) * way / self.half_ms

    @property
    def tolerance(self) -> float:
        """One frame early or late, and the lamp's own."""
        step = (self.high - self.low) * self.frame_ms / self.half_ms
        return step + FADE_TOLERANCE


FADES: dict[str, Fade] = {
    "detected": Fade(0.05, 0.15, 1000, 100),
    "refused": Fade(0.0, 0.30, 500, 50),
    "winner": Fade(0.30, 1.0, 250, 50),
}
NEVER_DIMMED = ("refused", "fault", "find", "service")


@dataclass(frozen=True)
class Seen:
    """One look and how long it lasted; `whole` if both its ends lie inside the window."""

    look: str
    duration_ms: float
    whole: bool


class LampEye:
    """Records every duty change of every lamp, and says what a person would see."""

    def __init__(self) -> None:
        self.night_part = 1.0  # of the light that is left in a dark room
        self._changes: dict[tuple[str, str], deque[tuple[int, int]]] = {}
        self._worn: dict[tuple[str, str], float] = {}

    def wear(self, sensor: str, colour: str, part: float) -> None:
        """The lamp itself gives only this part of the light it is told to give."""
        self._worn[sensor, colour] = part

    def add(self, sensor: str) -> None:
        for colour in (WHITE, AMBER):
            self._changes[sensor, colour] = deque([(-1, 0)], maxlen=CHANGES_MAX)

    def record(self, sensor: str, colour: str, at_ns: int, level: int) -> None:
        """The lamp's output changed to `level` of 4096 at `at_ns`, which may still be ahead."""
        self._changes[sensor, colour].append((at_ns, level))

    def level(self, sensor: str, colour: str, now_ns: int) -> float:
        """The lamp's brightness at `now_ns`, 0 to 1."""
        changes = self._lamp(sensor, colour)
        at_ns, level = changes[-1]
        if at_ns > now_ns:  # seldom: each sample of a physical pad asks for its lamp as it is now
            passed = (level for at_ns, level in reversed(changes) if at_ns <= now_ns)
            level = next(passed, changes[0][1])
        return self._worn.get((sensor, colour), 1.0) * level / LEVEL_MAX

    def last_change_ns(self, sensor: str, colour: str) -> int:
        """When the lamp's output last changed."""
        return self._lamp(sensor, colour)[-1][0]

    def light(self, sensor: str, now_ns: int) -> str:
        """The light's name, "settling", or "unknown" for a steady light that has no name."""
        seen = self.seen(sensor, now_ns)
        if len(seen) > 1 and not any(each.whole and each.look != DARK for each in seen):
            seen = self.seen(sensor, now_ns, WINDOW_MS + LOOK_BACK_MS)
        for name, pattern in PATTERNS.items():
            if any(_agrees(seen, pattern, first) for first in range(len(pattern))):
                return name
        if len(seen) == 1:
            return UNKNOWN
        return self._fading(sensor, now_ns)

    def _fading(self, sensor: str, now_ns: int) -> str:
        for prefix, fading, dark in (("", WHITE, AMBER), (TRAINING, AMBER, WHITE)):
            if any(self._levels(sensor, dark, now_ns)):
                continue
            levels = self._levels(sensor, fading, now_ns)
            for name, fade in FADES.items():
                part = 1.0 if name in NEVER_DIMMED else self.night_part
                if _follows(levels, fade, part):
                    return prefix + name
        return SETTLING

    def _levels(self, sensor: str, colour: str, now_ns: int) -> list[float]:
        """The lamp's brightness at each sample of the last second, oldest first."""
        return [self.level(sensor, colour, now_ns + at_ms * MILLISECOND_NS) for at_ms in SAMPLES_MS]

    def describe(self, sensor: str, now_ns: int) -> str:
        """What was seen in the last second, for a report."""
        return ", ".join(f"{e.look} {e.duration_ms:.0f} ms" for e in self.seen(sensor, now_ns))

    def seen(self, sensor: str, now_ns: int, window_ms: int = WINDOW_MS) -> list[Seen]:
        """The looks of the last second, oldest first."""
        begin_ns = now_ns - window_ms * MILLISECOND_NS
        edges = [*self._look_changes(sensor, begin_ns, now_ns), (now_ns, "")]
        return [
            Seen(look, (end_ns - at_ns) / MILLISECOND_NS, at_ns > begin_ns and end_ns < now_ns)
            for (at_ns, look), (end_ns, _) in pairwise(edges)
        ]

    def _look_changes(self, sensor: str, begin_ns: int, now_ns: int) -> list[tuple[int, str]]:
        times = {begin_ns}
        for colour in (WHITE, AMBER):
            changes = self._lamp(sensor, colour)
            times.update(at_ns for at_ns, _ in changes if begin_ns < at_ns <= now_ns)
        looks: list[tuple[int, str]] = []
        for at_ns in sorted(times):
            look = self._look(sensor, at_ns)
            if looks and at_ns - looks[-1][0] < EYE_MS * MILLISECOND_NS:
                at_ns = looks.pop()[0]
            if not looks or looks[-1][1] != look:
                looks.append((at_ns, look))
        if len(looks) > 1 and now_ns - looks[-1][0] < EYE_MS * MILLISECOND_NS:
            looks.pop()  # no eye has seen it yet
        return looks

    def _look(self, sensor: str, at_ns: int) -> str:
        white, amber = (self.level(sensor, colour, at_ns) for colour in (WHITE, AMBER))
        for look, wanted in LOOKS.items():
            for part in {1.0, self.night_part}:
                off = max(abs(white - wanted[0] * part), abs(amber - wanted[1] * part))
                if off <= LEVEL_TOLERANCE:
                    return look
        return f"white {white:.0%} amber {amber:.0%}"

    def _lamp(self, sensor: str, colour: str) -> deque[tuple[int, int]]:
        changes = self._changes.get((sensor, colour))
        if changes is None:
            raise ValueError(f"There is no {colour} lamp at sensor {sensor}.")
        return changes


def _agrees(seen: list[Seen], pattern: tuple[tuple[str, int], ...], first: int) -> bool:
    """Whether the looks follow the pattern from its look number `first` on."""
    if len(pattern) == 1:
        return len(seen) == 1 and seen[0].look == pattern[0][0]
    for index, each in enumerate(seen):
        look, duration_ms = pattern[(first + index) % len(pattern)]
        too_short = each.whole and each.duration_ms < duration_ms - PHASE_TOLERANCE_MS
        too_long = each.duration_ms > duration_ms + PHASE_TOLERANCE_MS
        if each.look != look or too_short or too_long:
            return False
    return True


def _follows(levels: list[float], fade: Fade, part: float) -> bool:
    """Whether all levels lie on the curve, wherever in it the window began."""
    tolerance = fade.tolerance
    for curve in _curves(fade):
        for level, on_curve in zip(levels, curve, strict=True):
            if not -tolerance <= level - part * on_curve <= tolerance:
                break
        else:
            return True
    return False


@cache
def _curves(fade: Fade) -> list[list[float]]:
    """A second of the fade, begun at each of its phases; scenarios ask for it all the time."""
    phases_ms = range(0, 2 * fade.half_ms, PHASE_STEP_MS)
    return [[fade.at(at_ms + phase) for at_ms in SAMPLES_MS] for phase in phases_ms]
