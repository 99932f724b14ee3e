"""Whether something came to lie on a chip that is known: a second chip, after the bets are locked.

It alone knows how much more a second chip weighs and how it comes: it falls, or a hand leaves it.
Cards on a chip weigh less, a hand does not rest, liquid and drift come slowly. What the spot itself
is, the classifier says, and nothing found here changes it. Levels are in chips above the felt.
"""

from controller.core.felt import tuning
from controller.core.felt.arrival import JUMPED, Arrival
from hal.aio import ticks_diff


class Pile:
    """What lies on one spot's chip. `count` grows with each addition; `began_ms` is the last's."""

    __slots__ = ("_arrival", "_is_up", "_level", "_since_ms", "began_ms", "count")

    def __init__(self, noise: float) -> None:
        self.count = 0
        self.began_ms = 0
        self._arrival = Arrival(noise)
        self._level: "float | None" = None  # of what lies there at rest
        self._is_up = False
        self._since_ms = 0

    def clear(self) -> None:
        """No chip is known to lie here."""
        self._level = None

    def rest(self, level: float, passed_ms: int) -> None:
        """The chip lies there: slowly it may weigh anything, and that is no addition."""
        self._is_up = False
        if self._level is None:
            self._level = level
        else:
            part = min(1.0, passed_ms / tuning.PILE_FOLLOW_MS)
            self._level += (level - self._level) * part

    def leave(self, level: float, now_ms: int) -> None:
        """The first reading that is not the chip's any more."""
        if self._level is not None:
            self._is_up = True
            self._since_ms = now_ms
            # Only what follows tells whether it fell: a chip at rest is read ten times a second, so
            # the reading before this one may be long ago.
            self._arrival.begin(level - self._level, JUMPED)

    def see(self, level: float, now_ms: int) -> None:
        if self._is_up and self._level is not None:
            age_ms = ticks_diff(now_ms, self._since_ms)
            self._arrival.see(level - self._level, age_ms, False)

    def fell(self, level: float) -> bool:
        """True when what rests at `level` now came in one step and has not moved since."""
        if not self._is_up or self._level is None or not self._is_more(level):
            return False
        return self._arrival.is_drop(level - self._level)

    def note_fallen(self, level: float) -> None:
        self._note(level, self._since_ms)

    def note_left_behind(self, level: float, began_ms: int) -> None:
        """A hand left something at rest that the spot takes for a chip, or for a pile of them."""
        if self._is_more(level):
            self._note(level, began_ms)
        else:
            self._level = level
            self._is_up = False

    def _is_more(self, level: float) -> bool:
        known = self._level
        # By its own weight and by the pile's: a light chip that is pushed to the middle of its spot
        # gains as much as a second chip adds, but never weighs more than one.
        return (
            known is not None
            and level >= tuning.PILE_MIN_CHIPS
            and known + tuning.ADDED_MIN_CHIPS <= level <= known + tuning.ADDED_MAX_CHIPS
        )

    def _note(self, level: float, began_ms: int) -> None:
        self.count += 1
        self.began_ms = began_ms
        self._level = level
        self._is_up = False
