"""Whether the felt's zero can be believed after a start, before anything found there is a bet.

Nobody watched while the power was off. If most spots then read alike, but neither empty nor as the
chips that lay there, the felt itself has moved, or a chip lies on every seat: from raw data alone
that is the same. It alone knows which of both can be ruled out. What a spot holds, the spot says;
who moves the zero, the surface does. Levels are in chips.
"""

from controller.core.findings import CHIP, NOTHING
from hal.aio import ticks_diff

MYPY = False
if MYPY:
    from controller.core.sensing import Spot

# How long everything found at the start may take to come to rest.
WAIT_MAX_MS = 1500
ALIKE = 0.12
ALIKE_COUNT_MIN = 3
# A chip that is to be a bet weighs at least 0.65: what most spots share below that is felt.
MOVED_MAX = 0.50

WAITING = 0
HELD = 1
SURE = 2


class Anchor:
    """Asked after each round of readings until it is sure."""

    __slots__ = ("_began_ms", "_filled", "_found", "state")

    def __init__(self) -> None:
        self.state = WAITING
        self._began_ms: "int | None" = None
        # While held: the spots that were not empty, and whether their levels could be chips.
        self._found: "list[Spot]" = []
        self._filled = False

    def look(self, spots: "list[Spot]", shared: float, now_ms: int) -> float:
        """How far the felt has moved for certain, or 0.0; `shared` is the zero it was given."""
        if self._began_ms is None:
            self._began_ms = now_ms
        if self.state == HELD and self._filled and _was_taken_from(self._found):
            # Somebody took what lay there, and the felt under it reads empty: they are chips.
            self.state = SURE
            return 0.0
        if not _all_rest(spots, now_ms) and ticks_diff(now_ms, self._began_ms) < WAIT_MAX_MS:
            return 0.0
        return self._judge(spots, shared, now_ms)

    def _judge(self, spots: "list[Spot]", shared: float, now_ms: int) -> float:
        anchors = 0
        found = []
        levels = []
        for spot in spots:
            if spot.classifier.kind == NOTHING or spot.classifier.is_remembered():
                anchors += 1
            else:
                found.append(spot)
                level = spot.classifier.rest_level(now_ms)
                if level is not None:
                    # Above what lay there before: chips that stayed have moved with their felt.
                    levels.append(level - spot.classifier.remembered_level())
        alike = _largest_alike(levels)
        moved = sorted(alike)[len(alike) // 2] if alike else 0.0
        if self._is_proven(anchors, len(alike), moved, len(spots)):
            self.state = SURE
            return 0.0
        is_felt = abs(moved) <= MOVED_MAX or abs(shared + moved) <= ALIKE
        if is_felt and 2 * len(alike) > len(spots):
            self.state = SURE
            return moved
        if self.state == WAITING:
            self.state = HELD
            self._found = found
            self._filled = moved > 0
        return 0.0

    def _is_proven(self, anchors: int, alike: int, moved: float, count: int) -> bool:
        if self.state == HELD:
            # Once in doubt, what cannot be read just now proves nothing.
            return 2 * anchors > count
        if alike < ALIKE_COUNT_MIN:
            return True
        # Felt that rose leaves no spot reading empty; on felt that fell a chip does just that.
        return anchors > 0 if moved > 0 else anchors >= alike


def _all_rest(spots: "list[Spot]", now_ms: int) -> bool:
    for spot in spots:
        classifier = spot.classifier
        is_decided = classifier.kind in (NOTHING, CHIP)
        if not is_decided and classifier.rest_level(now_ms) is None:
            return False
    return True


def _was_taken_from(spots: "list[Spot]") -> bool:
    for spot in spots:
        if spot.classifier.kind == NOTHING:
            return True
    return False


def _largest_alike(levels: "list[float]") -> "list[float]":
    largest: "list[float]" = []
    for level in levels:
        alike = [other for other in levels if abs(other - level) <= ALIKE]
        if len(alike) > len(largest):
            largest = alike
    return largest
