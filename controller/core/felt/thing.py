"""The thing that lies on one spot: a chip, still undecided, or foreign and why.

It alone remembers which chip was accepted here, so that it is known again, and puts the answers of
`evidence` together to one. When something comes to the spot and when it is empty again, the
classifier says. Levels are in chips above the felt it lies on.
"""

from controller.core.felt import tuning
from controller.core.felt.arrival import UNSEEN
from controller.core.felt.reasons import (
    CHIP,
    FOREIGN,
    NEAR_LIQUID,
    RESTLESS,
    UNDECIDED,
    UNKNOWN,
)
from controller.core.felt.second_chip import Pile
from hal.aio import ticks_diff

MYPY = False
if MYPY:
    from controller.core.felt.doubt import Doubt
    from controller.core.felt.evidence import Evidence


class Thing:
    """One at a time. `kind` and `reason` say what it is, `began_ms` since when a chip has lain."""

    __slots__ = (
        "_accepted_ms",
        "_doubt",
        "_evidence",
        "_hand_seen",
        "_is_memory",
        "_known_level",
        "_trace",
        "began_ms",
        "kind",
        "pile",
        "reason",
    )

    def __init__(self, noise: float, evidence: "Evidence", doubt: "Doubt") -> None:
        self.kind = UNDECIDED
        self.reason = ""
        self.began_ms = 0
        self.pile = Pile(noise)
        self._evidence = evidence
        self._trace = evidence.trace
        self._doubt = doubt
        self._known_level: "float | None" = None  # of the chip that was accepted here
        self._is_memory = False  # the chip that lies here is that one
        self._hand_seen = False  # over it, since it was accepted
        self._accepted_ms = 0

    def end(self) -> None:
        """It is gone or cannot be read; a chip that was accepted stays known."""
        self.kind = UNDECIDED
        self.reason = ""

    def forget_chip(self) -> None:
        self._known_level = None

    # -- the chip that is known --------------------------------------------------------------

    def remember(self, chip_level: float) -> None:
        """Before the first reading: a chip of this level lay here when the power went."""
        self._known_level = chip_level

    def known_level(self) -> "float | None":
        return self._known_level

    def is_remembered(self) -> bool:
        """True while the chip of which it was told, or that it knew before, lies there."""
        return self.kind == CHIP and self._is_memory

    def went_without_hand(self) -> bool:
        """True when no hand came for a known chip that is gone: water may hide it."""
        return self._known_level is not None and not self._hand_seen

    def revoke(self, now_ms: int) -> bool:
        """Liquid shows beside it; True when it was taken for a chip so lately that it may be wet
        felt, and is taken for one no longer.
        """
        if self.kind != CHIP or ticks_diff(now_ms, self._accepted_ms) >= tuning.REVOKE_MS:
            return False
        self._known_level = None
        self._doubt.taint()
        self._set(FOREIGN, NEAR_LIQUID)
        return True

    # -- readings ----------------------------------------------------------------------------

    def see(self, level: float, now_ms: int, passed_ms: int) -> bool:
        """One reading; True when it was just judged to be foreign."""
        known = self._known_level
        if known is not None and level > known + tuning.HAND_MIN_CHIPS:
            self._hand_seen = True
        if self.kind == CHIP:
            self._watch_chip(level, now_ms, passed_ms)
        is_due = self._trace.add(level, now_ms)
        if self.kind == UNDECIDED and not is_due:
            # A drop may be decided between two blocks: whoever presses START waits for it.
            is_due = self._evidence.is_rested_drop(now_ms)
        if not is_due:
            return False
        if self.kind != CHIP:
            return self._judge(now_ms)
        # A chip has proven itself: only what is certainly more than noise makes it prove so again.
        if self._trace.is_restless(tuning.CHIP_RESTLESS_MS, now_ms):
            self._move(now_ms)
        return False

    def _watch_chip(self, level: float, now_ms: int, passed_ms: int) -> None:
        known = self._known_level
        # Wider than what makes a chip: one at the edge of its range would flicker.
        if (
            known is not None
            and known - tuning.HELD_BELOW_CHIPS <= level <= known + tuning.HELD_ABOVE_CHIPS
        ):
            self.pile.rest(level, passed_ms)
        else:
            self.pile.leave(level, now_ms)
            self._move(now_ms)

    def _move(self, now_ms: int) -> None:
        """The chip moves: it has to rest anew, and what it did before does not count."""
        if self._doubt.near_liquid:
            # Whoever takes the chip leaves wet felt behind, which may weigh as much.
            self._known_level = None
            self._doubt.taint()
        self._set(UNDECIDED, "")
        self._evidence.note_move(now_ms)
        self._trace.clear()

    def _judge(self, now_ms: int) -> bool:
        """After each block: a chip, still undecided, or foreign with the likeliest reason."""
        if self._trace.moved():
            self._evidence.note_move(now_ms)
        level = self._trace.level()
        if self._is_chip(level, now_ms):
            self._accept(level, now_ms)
            return False
        if not self._doubt.tainted and self._evidence.no_hand_put_it(level, now_ms):
            self._doubt.taint()
            self._doubt.tell_rise(now_ms)
        elif not self._doubt.near_liquid and self.pile.fell(level) and self._rests(now_ms):
            self.pile.note_fallen(level)
        reason = self._why_foreign(level, now_ms)
        if reason:
            self._set(FOREIGN, reason)
        return bool(reason)

    def _is_chip(self, level: float, now_ms: int) -> bool:
        # Wet felt may weigh as a chip does, and rests as one: beside water nothing new is believed.
        if self._doubt.tainted or self._doubt.near_liquid:
            return False
        known = self._known_level
        self._is_memory = known is not None and self._evidence.is_known_chip(level, known, now_ms)
        if self._is_memory:
            return True
        if not self._doubt.zero_is_proven and self._evidence.arrival.origin == UNSEEN:
            return False  # the felt itself may have moved by as much while nobody looked
        return self._evidence.is_new_chip(level, now_ms)

    def _accept(self, level: float, now_ms: int) -> None:
        self.began_ms = self._evidence.came_ms(now_ms)
        self.pile.note_left_behind(level, self.began_ms)
        self._hand_seen = False
        accepted_level = self._evidence.accept()
        if not self._is_memory:
            # A known one is measured by what it was: chips neither grow nor shrink, not even little
            # by little. Felt that soaks under a chip does, and would in the end weigh as a chip.
            self._known_level = accepted_level
        self._accepted_ms = now_ms
        self._set(CHIP, "")

    def _rests(self, now_ms: int) -> bool:
        if self._doubt.tainted:
            return False
        return self._trace.mean_if_still(tuning.STACK_REST_MS, now_ms) is not None

    def _why_foreign(self, level: float, now_ms: int) -> str:
        if self._doubt.near_liquid:
            return NEAR_LIQUID
        if self._doubt.tainted:
            return UNKNOWN
        reason = self._evidence.why_no_chip(level, now_ms)
        if reason == RESTLESS and self.kind == FOREIGN:
            return self.reason  # it was named before it moved, and that name tells more
        return reason

    def _set(self, kind: int, reason: str) -> None:
        self.kind = kind
        self.reason = reason
