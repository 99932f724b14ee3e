"""What the spots of one table have in common: drift of the empty felt, and liquid on it.

It alone moves the zeros, and only while no round is open and only by spots that are known to be
empty. A drift that most empty spots share is followed both ways; a single spot is followed only
downwards (damp felt) and back, never above its stored reference: what water lifts there would be a
ghost when it is wiped away. Several neighbours rising together are a spill, and doubt spreads from
there to the seats beside it. What it knows outlives the power (`memory`, `remember`); whether that
still holds when the power is back, `anchor` says.
"""

from controller.core.anchor import HELD, SURE, Anchor
from hal.aio import ticks_diff

MYPY = False
if MYPY:
    from controller.core.sensing import Spot

# Chips per second; felt in a heated room drifts at a third of this.
LEARN_PER_S = 0.001
LEARN_EVERY_MS = 400
LEARN_STEP_MAX_MS = 2000
EMPTY_BEFORE_LEARNING_MS = 2000
SHARED_COUNT_MIN = 3
LOCAL_MAX = 0.30
LOCAL_PART = 0.25  # One spot alone is followed more slowly than what most of them share.
# Water on most spots lowers them all as a cold room does: when it is wiped away the felt must weigh
# less than any chip above the zero that followed it.
SHARED_MIN = -0.50
SHARED_MAX = 1.50

SPILL_COUNT_MIN = 3
SPILL_MS = 5000
SPILL_SEATS = 1
SPILL_NEAR_SEATS = 2
DRY_MS = 10000


class Surface:
    """The spots of one table, whichever sensing chips they hang on."""

    __slots__ = ("_anchor", "_learned_ms", "_shared", "_spots", "_wet", "_wet_ms")

    def __init__(self) -> None:
        self._anchor = Anchor()
        self._spots: "list[Spot]" = []
        self._wet: "list[Spot]" = []
        self._wet_ms = 0
        self._learned_ms = None  # type: int | None
        self._shared = 0.0

    def add(self, spot: "Spot") -> None:
        self._spots.append(spot)
        spot.classifier.anchored = False
        spot.classifier.on_unknown_rise = lambda now_ms: self._rose(spot, now_ms)
        spot.classifier.on_unknown_fall = lambda now_ms: self._fell(spot, now_ms)

    @property
    def is_wet(self) -> bool:
        return bool(self._wet)

    def zero_of(self, spot: "Spot") -> float:
        """What this spot would measure with nothing on it, in chips below its reference."""
        return self._shared + spot.damp

    @property
    def is_held(self) -> bool:
        """True when the felt may have moved while the power was off: nothing there is believed."""
        return self._anchor.state == HELD

    def memory(self) -> "tuple[float, list[tuple[str, float, float | None]]] | None":
        """(shared zero, (sensor, its own part, level of its chip) of each spot), while sure."""
        if self._anchor.state != SURE:
            return None
        return self._shared, [
            (spot.sensor, spot.damp, spot.classifier.chip_level()) for spot in self._spots
        ]

    def remember(self, shared: float, spots: "list[tuple[str, float, float | None]]") -> None:
        """Before the first reading: what `memory` told when the power was last on."""
        self._shared = _bounded(shared)
        for sensor, damp, chip_level in spots:
            for spot in self._spots:
                if spot.sensor == sensor:
                    spot.damp = max(0.0, min(LOCAL_MAX, damp))
                    if chip_level is not None:
                        spot.classifier.remember(chip_level)
        self._move_zeros()

    def look(self, now_ms: int, may_learn: bool) -> None:
        """After each round of readings."""
        if self._anchor.state != SURE:
            self._find_anchor(now_ms)
        self._dry(now_ms)
        step = self._learning_step(now_ms, may_learn)
        if step:
            self._learn(step, now_ms)

    # -- after a start -----------------------------------------------------------------------

    def _find_anchor(self, now_ms: int) -> None:
        moved = self._anchor.look(self._spots, self._shared, now_ms)
        if moved:
            self._shared = _bounded(self._shared + moved)
            self._move_zeros()
        for spot in self._spots:
            spot.unproven = self.is_held
            spot.classifier.anchored = self._anchor.state == SURE
            if moved:
                spot.classifier.start_over()

    def _move_zeros(self) -> None:
        for spot in self._spots:
            spot.zero = self.zero_of(spot)

    # -- drift -------------------------------------------------------------------------------

    def _learning_step(self, now_ms: int, may_learn: bool) -> float:
        if not may_learn or self._wet or self._anchor.state != SURE:
            self._learned_ms = None
            return 0.0
        if self._learned_ms is None:
            self._learned_ms = now_ms
        passed_ms = ticks_diff(now_ms, self._learned_ms)
        if 0 <= passed_ms < LEARN_EVERY_MS:
            return 0.0
        self._learned_ms = now_ms
        return LEARN_PER_S * max(0, min(passed_ms, LEARN_STEP_MAX_MS)) / 1000

    def _learn(self, step: float, now_ms: int) -> None:
        empty = [spot for spot in self._spots if _is_learnable(spot, now_ms)]
        if len(empty) >= SHARED_COUNT_MIN:
            shared = _limited(_median([spot.level for spot in empty]), step)
            self._shared = _bounded(self._shared + shared)
        for spot in empty:
            damp = spot.damp + _limited(spot.level, step * LOCAL_PART)
            spot.damp = max(0.0, min(LOCAL_MAX, damp))
        self._move_zeros()

    # -- liquid ------------------------------------------------------------------------------

    def _rose(self, spot: "Spot", now_ms: int) -> None:
        if self._anchor.state != SURE:
            return  # against a zero that may be wrong, every spot seems to have risen
        spot.rose_ms = now_ms
        together = [other for other in self._spots if _rose_lately(other, now_ms)]
        if self._wet or len(together) >= SPILL_COUNT_MIN or _has_neighbours(together):
            self._spread(together, now_ms)

    def _fell(self, spot: "Spot", now_ms: int) -> None:
        """A known chip is gone and no hand took it: beside wet felt it lies under water."""
        wet = [other for other in self._spots if other is not spot and _rose_lately(other, now_ms)]
        if _has_neighbours([spot] + wet):
            self._spread([spot] + wet, now_ms)

    def _spread(self, wet: "list[Spot]", now_ms: int) -> None:
        self._wet = self._wet + [spot for spot in wet if spot not in self._wet]
        self._wet_ms = now_ms
        for spot in self._spots:
            if self._is_near(spot):
                spot.classifier.revoke(now_ms)

    def _is_near(self, spot: "Spot") -> bool:
        for wet in self._wet:
            if abs(seat_of(wet.sensor) - seat_of(spot.sensor)) <= SPILL_SEATS:
                return True
        return False

    def _dry(self, now_ms: int) -> None:
        if not self._wet:
            return
        for spot in self._wet:
            if not spot.classifier.empty_for_ms(now_ms):
                self._wet_ms = now_ms
        if ticks_diff(now_ms, self._wet_ms) >= DRY_MS:
            self._wet = []
            for spot in self._spots:
                spot.classifier.near_liquid = False


def seat_of(sensor: str) -> int:
    """3 of "3A"; a sensor without a number is nobody's neighbour's neighbour: 0."""
    digits = sensor[:-1]
    return int(digits) if digits.isdigit() else 0


def _is_learnable(spot: "Spot", now_ms: int) -> bool:
    classifier = spot.classifier
    return classifier.crept or classifier.empty_for_ms(now_ms) >= EMPTY_BEFORE_LEARNING_MS


def _rose_lately(spot: "Spot", now_ms: int) -> bool:
    return spot.classifier.tainted and ticks_diff(now_ms, spot.rose_ms) <= SPILL_MS


def _has_neighbours(spots: "list[Spot]") -> bool:
    """A spot between two wet ones may be hidden under a hand, so two seats apart is near."""
    for one in spots:
        for other in spots:
            apart = abs(seat_of(one.sensor) - seat_of(other.sensor))
            if one is not other and apart <= SPILL_NEAR_SEATS:
                return True
    return False


def _bounded(shared: float) -> float:
    return max(SHARED_MIN, min(SHARED_MAX, shared))


def _limited(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))


def _median(values: "list[float]") -> float:
    return sorted(values)[len(values) // 2]
