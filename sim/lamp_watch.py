"""An eye above the lamps: what each sensor's light shows, read from the LED chips' outputs.

It has its own copy of the pattern table and knows nothing of who commands the lamps or why. A
verdict needs one whole second in which the light agrees with a pattern; until then it is
"settling".
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise

from sim.chips.pca9685 import LEVEL_MAX

MILLISECOND_NS = 1_000_000
WINDOW_MS = 1000
PHASE_TOLERANCE_MS = 40
EYE_MS = 10  # Two lamps switched within this time are seen as switched together.
LEVEL_TOLERANCE = 0.02
CHANGES_MAX = 128

WHITE, AMBER = "white", "amber"
DARK, DIM, BLINK, LOW = "dark", "white 15 %", "white 20 %", "white 30 %"
BRIGHT, BRIGHT_AMBER = "white", "amber"
SETTLING, UNKNOWN = "settling", "unknown"

# (white, amber) as parts of full brightness.
LOOKS = {
    DARK: (0.0, 0.0),
    DIM: (0.15, 0.0),
    BLINK: (0.20, 0.0),
    LOW: (0.30, 0.0),
    BRIGHT: (1.0, 0.0),
    BRIGHT_AMBER: (0.0, 1.0),
}

# Each light as its looks in order, with the time in ms that each lasts; one look is a steady light.
PATTERNS: dict[str, tuple[tuple[str, int], ...]] = {
    "off": ((DARK, WINDOW_MS),),
    "detected": ((DIM, WINDOW_MS),),
    "accepted": ((BRIGHT, WINDOW_MS),),
    "refused": ((BLINK, 250), (DARK, 250)),
    "late": ((BRIGHT_AMBER, 700), (DARK, 300)),
    "winner": ((BRIGHT, 500), (LOW, 500)),
    "fault": (
        (BRIGHT_AMBER, 100),
        (DARK, 100),
        (BRIGHT_AMBER, 100),
        (DARK, 100),
        (BRIGHT_AMBER, 100),
        (DARK, 500),
    ),
}


@dataclass(frozen=True)
class Seen:
    """One look and how long it lasted; `whole` if both its ends lie inside the window."""

    look: str
    duration_ms: float
    whole: bool


class LampWatch:
    """Records every duty change of every lamp, and says what a person would see."""

    def __init__(self) -> None:
        self._changes: dict[tuple[str, str], deque[tuple[int, int]]] = {}

    def add(self, sensor: str) -> None:
        for colour in (WHITE, AMBER):
            self._changes[sensor, colour] = deque([(-1, 0)], maxlen=CHANGES_MAX)

    def record(self, sensor: str, colour: str, at_ns: int, level: int) -> None:
        """The lamp's output changed to `level` of 4096 at `at_ns`, which may still be ahead."""
        self._changes[sensor, colour].append((at_ns, level))

    def level(self, sensor: str, colour: str, now_ns: int) -> float:
        """The lamp's brightness at `now_ns`, 0 to 1."""
        changes = self._lamp(sensor, colour)
        passed = [level for at_ns, level in changes if at_ns <= now_ns]
        return (passed[-1] if passed else changes[0][1]) / LEVEL_MAX

    def last_change_ns(self, sensor: str, colour: str) -> int:
        """When the lamp's output last changed."""
        return self._lamp(sensor, colour)[-1][0]

    def light(self, sensor: str, now_ns: int) -> str:
        """The light's name, "settling", or "unknown" for a steady light that has no name."""
        seen = self.seen(sensor, now_ns)
        for name, pattern in PATTERNS.items():
            if any(_agrees(seen, pattern, first) for first in range(len(pattern))):
                return name
        return UNKNOWN if len(seen) == 1 else SETTLING

    def describe(self, sensor: str, now_ns: int) -> str:
        """What was seen in the last second, for a report."""
        return ", ".join(f"{e.look} {e.duration_ms:.0f} ms" for e in self.seen(sensor, now_ns))

    def seen(self, sensor: str, now_ns: int) -> list[Seen]:
        """The looks of the last second, oldest first."""
        begin_ns = now_ns - WINDOW_MS * MILLISECOND_NS
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
        return looks

    def _look(self, sensor: str, at_ns: int) -> str:
        white, amber = (self.level(sensor, colour, at_ns) for colour in (WHITE, AMBER))
        for look, (white_wanted, amber_wanted) in LOOKS.items():
            if (
                abs(white - white_wanted) <= LEVEL_TOLERANCE
                and abs(amber - amber_wanted) <= LEVEL_TOLERANCE
            ):
                return look
        return f"white {white:.0%} amber {amber:.0%}"

    def _lamp(self, sensor: str, colour: str) -> deque[tuple[int, int]]:
        if (sensor, colour) not in self._changes:
            raise ValueError(f"There is no {colour} lamp at sensor {sensor}.")
        return self._changes[sensor, colour]


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
