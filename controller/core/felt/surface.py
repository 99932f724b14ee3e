"""What the spots of one table have in common: drift of the empty felt, and liquid on it.

It tells each spot where its zero is. It moves a zero only while no round is open, and only by spots
that are known to be empty. A drift that most empty spots share is followed both ways. A single spot
is followed only as damp felt goes, and back: what water lowers would be a ghost when it is wiped
away. Several neighbours rising together are a spill, and doubt spreads from
there to the seats beside it. What it knows outlives the power (`memory`, `remember`); whether that
still holds when the power is back, `anchor` says.
"""

from controller.core.felt import tuning
from controller.core.felt.zero_proof import HELD, SURE, Anchor
from hal.aio import ticks_diff

MYPY = False
if MYPY:
    from controller.core.felt.spot import Spot


class Surface:
    """The spots of one table, whichever sensing ICs they hang on.

    A spot's zero is what all share and its own damp, both kept here; the spot is told of it. Of
    liquid it hears by `Doubt.report_to`. Nothing of a spot is written from here.
    """

    __slots__ = (
        "_anchor",
        "_damp",
        "_learned_ms",
        "_rose_ms",
        "_shared",
        "_spots",
        "_wet",
        "_wet_ms",
    )

    def __init__(self) -> None:
        self._anchor = Anchor()
        self._spots: "list[Spot]" = []
        self._wet: "list[Spot]" = []
        self._wet_ms = 0
        self._learned_ms = None  # type: int | None
        self._shared = 0.0
        self._damp: "dict[str, float]" = {}  # each sensor's own part of its zero
        self._rose_ms: "dict[str, int]" = {}  # when it last told of liquid

    def add(self, spot: "Spot") -> None:
        self._spots.append(spot)
        doubt = spot.classifier.doubt
        doubt.trust_zero(False)
        doubt.report_to(
            lambda now_ms: self._rose(spot, now_ms), lambda now_ms: self._fell(spot, now_ms)
        )

    @property
    def is_wet(self) -> bool:
        return bool(self._wet)

    def zero_of(self, spot: "Spot") -> float:
        """The level of this spot's empty felt, against its stored reference."""
        return self._shared + self.damp_of(spot)

    def damp_of(self, spot: "Spot") -> float:
        """This spot's own part of its zero: damp felt that the others do not share."""
        return self._damp.get(spot.sensor, 0.0)

    @property
    def is_held(self) -> bool:
        """True when the felt may have moved while the power was off: nothing there is believed."""
        return self._anchor.state == HELD

    def memory(self) -> "tuple[float, list[tuple[str, float, float | None]]] | None":
        """(shared zero, (sensor, its own part, level of its chip) of each spot), while sure."""
        if self._anchor.state != SURE:
            return None
        return self._shared, [
            (spot.sensor, self.damp_of(spot), spot.classifier.chip_level()) for spot in self._spots
        ]

    def remember(self, shared: float, spots: "list[tuple[str, float, float | None]]") -> None:
        """Before the first reading: what `memory` told when the power was last on."""
        self._shared = _bounded(shared)
        for sensor, damp, chip_level in spots:
            for spot in self._spots:
                if spot.sensor == sensor:
                    # Bounded again: the file may be of software with other limits, or damaged.
                    self._damp[sensor] = _bounded_damp(damp)
                    if chip_level is not None:
                        spot.classifier.thing.remember(chip_level)
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
            spot.hold(self.is_held)
            spot.classifier.doubt.trust_zero(self._anchor.state == SURE)
            if moved:
                # Everything it found was measured from a zero that was wrong.
                spot.classifier.start_over()

    def _move_zeros(self) -> None:
        for spot in self._spots:
            spot.move_zero(self.zero_of(spot))

    # -- drift -------------------------------------------------------------------------------

    def _learning_step(self, now_ms: int, may_learn: bool) -> float:
        if not may_learn or self._wet or self._anchor.state != SURE:
            self._learned_ms = None
            return 0.0
        # Time in a round, or while the felt was wet, is not made up for afterwards.
        if self._learned_ms is None:
            self._learned_ms = now_ms
        passed_ms = ticks_diff(now_ms, self._learned_ms)
        if 0 <= passed_ms < tuning.LEARN_EVERY_MS:
            return 0.0
        self._learned_ms = now_ms
        # After a gap the felt is not followed faster: whatever moved meanwhile, nobody watched it.
        passed_ms = max(0, min(passed_ms, tuning.LEARN_STEP_MAX_MS))
        return tuning.LEARN_CHIPS_PER_S * passed_ms / 1000

    def _learn(self, step: float, now_ms: int) -> None:
        empty = [spot for spot in self._spots if _is_learnable(spot, now_ms)]
        if len(empty) >= tuning.SHARED_COUNT_MIN:
            # The median of the empty spots: one wet spot, or two of seven, do not move it.
            shared = _limited(_median([spot.level for spot in empty]), step)
            self._shared = _bounded(self._shared + shared)
        for spot in empty:
            # Its level is what is left beside both parts of its zero. Never below zero damp: what
            # water lowers would be a ghost chip when it is wiped away.
            damp = self.damp_of(spot) + _limited(spot.level, step * tuning.LOCAL_PART)
            self._damp[spot.sensor] = _bounded_damp(damp)
        self._move_zeros()

    # -- liquid ------------------------------------------------------------------------------

    def _rose(self, spot: "Spot", now_ms: int) -> None:
        if self._anchor.state != SURE:
            return  # against a zero that may be wrong, every spot seems to have risen
        self._rose_ms[spot.sensor] = now_ms
        together = [other for other in self._spots if self._rose_lately(other, now_ms)]
        # Once the felt is wet, one more spot is enough: the spill spreads.
        is_spill = len(together) >= tuning.SPILL_COUNT_MIN or _has_neighbours(together)
        if self._wet or is_spill:
            self._spread(together, now_ms)

    def _fell(self, spot: "Spot", now_ms: int) -> None:
        """A known chip is gone and no hand took it: beside wet felt it lies under water."""
        others = [other for other in self._spots if other is not spot]
        wet = [other for other in others if self._rose_lately(other, now_ms)]
        if _has_neighbours([spot] + wet):
            self._spread([spot] + wet, now_ms)

    def _rose_lately(self, spot: "Spot", now_ms: int) -> bool:
        rose_ms = self._rose_ms.get(spot.sensor)
        if rose_ms is None or not spot.classifier.doubt.tainted:
            return False
        return ticks_diff(now_ms, rose_ms) <= tuning.SPILL_MS

    def _spread(self, wet: "list[Spot]", now_ms: int) -> None:
        self._wet = self._wet + [spot for spot in wet if spot not in self._wet]
        self._wet_ms = now_ms
        for spot in self._spots:
            if self._is_near(spot):
                spot.classifier.liquid_is_near(now_ms)

    def _is_near(self, spot: "Spot") -> bool:
        for wet in self._wet:
            if abs(wet.seat - spot.seat) <= tuning.SPILL_SEATS:
                return True
        return False

    def _dry(self, now_ms: int) -> None:
        if not self._wet:
            return
        for spot in self._wet:
            if not spot.classifier.empty_for_ms(now_ms):
                self._wet_ms = now_ms  # all of them have to be dry at the same time
        if ticks_diff(now_ms, self._wet_ms) >= tuning.SPILL_DRY_MS:
            self._wet = []
            for spot in self._spots:
                spot.classifier.doubt.liquid_is_gone()


def _is_learnable(spot: "Spot", now_ms: int) -> bool:
    classifier = spot.classifier
    # Felt that drifted out of its range is refused, but it is felt: followed, it comes back in.
    empty_ms = classifier.empty_for_ms(now_ms)
    return classifier.crept or empty_ms >= tuning.EMPTY_BEFORE_LEARNING_MS


def _has_neighbours(spots: "list[Spot]") -> bool:
    """A spot between two wet ones may be hidden under a hand, so two seats apart is near."""
    for one in spots:
        for other in spots:
            apart = abs(one.seat - other.seat)
            if one is not other and apart <= tuning.SPILL_NEAR_SEATS:
                return True
    return False


def _bounded(shared: float) -> float:
    # Not far below the calibrated zero: a zero that followed water down would turn the felt into a
    # ghost chip when it is wiped.
    return max(tuning.SHARED_MIN_CHIPS, min(tuning.SHARED_MAX_CHIPS, shared))


def _bounded_damp(damp: float) -> float:
    return max(0.0, min(tuning.LOCAL_MAX_CHIPS, damp))


def _limited(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))


def _median(values: "list[float]") -> float:
    return sorted(values)[len(values) // 2]
