"""Whether the felt's zero can be believed after a start, before anything found there is a bet.

Nobody watched while the power was off. If most spots then read alike, but neither empty nor as the
chips that lay there, the felt itself has moved, or a chip lies on every seat: from raw data alone
that is the same. It alone knows which of both can be ruled out. What a spot holds, the spot says;
who moves the zero, the surface does. Levels are in chips.
"""

from controller.core.felt import tuning
from controller.core.felt.reasons import CHIP, NOTHING
from hal.aio import ticks_diff

MYPY = False
if MYPY:
    from controller.core.felt.spot import Spot

WAITING = 0  # not everything has come to rest
HELD = 1  # it could be drift or a chip on every seat: nothing is believed
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
        waited_ms = ticks_diff(now_ms, self._began_ms)
        # A hand that never rests must not keep the table waiting for good.
        if not _all_rest(spots, now_ms) and waited_ms < tuning.PROOF_WAIT_MAX_MS:
            return 0.0
        return self._judge(spots, shared, now_ms)

    def _judge(self, spots: "list[Spot]", shared: float, now_ms: int) -> float:
        anchors = 0
        found = []
        levels = []
        for spot in spots:
            if spot.classifier.kind == NOTHING or spot.classifier.thing.is_remembered():
                anchors += 1
            else:
                found.append(spot)
                level = spot.classifier.rest_level(now_ms)
                if level is not None:
                    # Above what lay there before: chips that stayed have moved with their felt.
                    levels.append(level - (spot.classifier.thing.known_level() or 0.0))
        alike = _largest_alike(levels)
        # The median: one hand among spots that moved alike does not drag the zero along.
        moved = sorted(alike)[len(alike) // 2] if alike else 0.0
        if self._is_proven(anchors, len(alike), moved, len(spots)):
            self.state = SURE
            return 0.0
        # Too light for chips, or back where the tech calibrated it: in both cases it is the felt.
        is_felt = (
            abs(moved) <= tuning.FELT_MOVED_MAX_CHIPS or abs(shared + moved) <= tuning.ALIKE_CHIPS
        )
        if is_felt and 2 * len(alike) > len(spots):
            self.state = SURE
            return moved
        if self.state == WAITING:
            self.state = HELD
            self._found = found
            self._filled = moved > 0
        return 0.0

    def _is_proven(self, anchors: int, alike: int, moved: float, count: int) -> bool:
        """`anchors` spots read as the zero says, `alike` of the others moved by `moved` alike."""
        if self.state == HELD:
            # Once in doubt, what cannot be read just now proves nothing.
            return 2 * anchors > count
        if alike < tuning.ALIKE_COUNT_MIN:
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
    """The most levels that lie near one of them: what the spots share, if they share anything."""
    largest: "list[float]" = []
    for level in levels:
        alike = [other for other in levels if abs(other - level) <= tuning.ALIKE_CHIPS]
        if len(alike) > len(largest):
            largest = alike
    return largest
