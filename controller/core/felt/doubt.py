"""Why nothing that lies on a spot is believed just now: the felt is wet, or its zero is not proven.

Each spot has one. The classifier raises its own doubts here; what the whole table knows (liquid
beside this spot, a zero that holds) the surface tells it by these methods, and hears from here of
what came or went without a hand. So neither of the two writes a field of the other.
"""

from controller.core.felt import tuning

MYPY = False
if MYPY:
    from collections.abc import Callable


class Doubt:
    """`tainted`: this spot was wet or below empty. `near_liquid`: a spot beside it is wet."""

    __slots__ = (
        "_dry_ms",
        "_has_told_rise",
        "_tell_fell",
        "_tell_rose",
        "near_liquid",
        "tainted",
        "zero_is_proven",
    )

    def __init__(self) -> None:
        self.tainted = False
        self.near_liquid = False
        # False while it is not known that the zero is right: what lay here unseen is no chip yet.
        self.zero_is_proven = True
        self._dry_ms = tuning.SPOT_DRY_MS
        self._has_told_rise = False
        self._tell_rose: "Callable[[int], None] | None" = None
        self._tell_fell: "Callable[[int], None] | None" = None

    # -- what the table tells this spot ------------------------------------------------------

    def report_to(self, rose: "Callable[[int], None]", fell: "Callable[[int], None]") -> None:
        """Both are called with the time: something came that no hand put there; a known chip went
        that no hand took.
        """
        self._tell_rose = rose
        self._tell_fell = fell

    def trust_zero(self, is_proven: bool) -> None:
        self.zero_is_proven = is_proven

    def liquid_is_near(self) -> None:
        self.near_liquid = True

    def liquid_is_gone(self) -> None:
        self.near_liquid = False

    def stand_as(self, tainted: bool, near_liquid: bool) -> None:
        """As it stood in a trace that is replayed."""
        self.tainted = tainted
        self.near_liquid = near_liquid

    # -- what this spot finds ----------------------------------------------------------------

    def start_over(self) -> None:
        """The zero was wrong until now, and with it all that spoke of liquid."""
        self.tainted = False
        self.near_liquid = False

    def begin(self) -> None:
        """Something else is here from now on: it may be told of once more."""
        self._has_told_rise = False

    def taint(self) -> None:
        """Until the spot was empty again, nothing on it can become a bet."""
        self.tainted = True

    def become_empty(self, is_sunk: bool) -> None:
        """The spot turned empty; `is_sunk`: by a sudden fall, as under water that flows."""
        self.tainted = self.tainted or is_sunk
        # Flowing water lowers a spot and rises on it later: it gets the time to do so.
        self._dry_ms = tuning.SUNK_DRY_MS if is_sunk else tuning.SPOT_DRY_MS

    def stay_empty(self, empty_ms: int) -> None:
        # One empty moment proves nothing: water that flows passes through zero on its way.
        if self.tainted and empty_ms >= self._dry_ms:
            self.tainted = False

    def tell_rise(self, now_ms: int) -> None:
        # Once for each thing: a spill is known by how many spots tell of it, not by how often.
        if not self._has_told_rise and self._tell_rose is not None:
            self._has_told_rise = True
            self._tell_rose(now_ms)

    def tell_fall(self, now_ms: int) -> None:
        if self._tell_fell is not None:
            self._tell_fell(now_ms)
