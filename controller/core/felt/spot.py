"""Decides for one sensor what the table may believe: PRESENT, ABSENT, UNSURE or FAULT.

The sensing IC's touch bit moves the presence at once, so that a light follows the hand. Only the
raw measure against the stored empty-felt reference confirms it, and only a confirmed presence that
has rested becomes a bet. UNSURE: something is there, but no chip for certain; the lock refuses it.
Reading the IC is done elsewhere. A failed read is a fault, never "empty".
"""

from controller.core.felt import tuning
from controller.core.felt.calibration import Calibration
from controller.core.felt.classifier import Classifier
from controller.core.felt.reasons import CHIP, FOREIGN, MOVED, NOTHING, UNDECIDED
from hal.aio import ticks_diff
from protocol.sensor_id import seat_of

__all__ = ["CHIP", "FOREIGN", "NOTHING", "UNDECIDED", "Calibration", "Classifier", "Spot"]

PRESENT = "present"
ABSENT = "absent"
UNSURE = "unsure"
FAULT = "fault"

# The reason before the first reading: nothing is wrong yet, and nothing is known.
NOT_READ = "not read yet"
LOOSE_PAD = "the pad reads far below empty felt: loose, or very wet"

# Verdicts at the lock.
ACCEPT = 1
REFUSE = 2
EMPTY = 3
LEFT = 4  # refused like REFUSE, but nothing lies there: the spot was left a moment ago


class Spot:
    """One sensor's presence through time. Each input returns True when the outcome changed."""

    __slots__ = (
        "_changed_ms",
        "_edge_is_news",
        "_edge_ms",
        "_looked_ms",
        "_read_ms",
        "_rested",
        "_touch_bit",
        "calibration",
        "classifier",
        "confirmed",
        "level",
        "presence",
        "reason",
        "seat",
        "sensor",
        "unproven",
        "zero",
    )

    def __init__(self, sensor: str, calibration: "Calibration | None" = None) -> None:
        self.sensor = sensor
        self.seat = seat_of(sensor)
        self.presence = FAULT
        self.reason = NOT_READ
        self.confirmed = False
        self.level = 0.0  # in chips, after the last reading that was no fault
        self.zero = 0.0  # the level of the empty felt now, against its stored reference
        self.unproven = False  # the zero may be wrong, so nothing here is believed
        self.calibration = calibration or Calibration()
        self.classifier = Classifier(self.calibration.noise_level())
        self._changed_ms = 0
        self._rested = False
        self._read_ms = 0
        self._touch_bit = False
        self._edge_ms = 0
        self._edge_is_news = False
        self._looked_ms = 0

    # -- what the table says -----------------------------------------------------------------

    def move_zero(self, zero: float) -> None:
        """From now on the empty felt is at this level, against its stored reference."""
        self.zero = zero

    def hold(self, is_held: bool) -> None:
        """While held, whatever lies here is refused: the felt may have moved in the dark."""
        self.unproven = is_held

    # -- what the sensing IC says ------------------------------------------------------------

    def touched(self, is_touched: bool, now_ms: int, prompt: bool = True) -> bool:
        """The fast path: the touch bit alone. It never ends a fault; only a reading does.

        `prompt`: the bit is known to have changed just now, not some time since the last look.
        """
        seen_lately = 0 <= ticks_diff(now_ms, self._looked_ms) <= tuning.PROMPT_MS
        self._looked_ms = now_ms
        if is_touched == self._touch_bit:
            return False
        self._touch_bit = is_touched
        self._edge_ms = now_ms
        # A bit that two looks in a row saw change is as fresh as one that an interrupt told of.
        self._edge_is_news = prompt or seen_lately
        # What was refused for a reason is not lit by a bit that cannot know the reason.
        if self.presence == FAULT or (self.presence == UNSURE and not self._is_undecided()):
            return False
        return self._become(PRESENT if is_touched else ABSENT, "", False, now_ms)

    def reading(
        self,
        raw: int,
        reference: int,
        is_touched: bool,
        fault_reason: "str | None",
        now_ms: int,
    ) -> bool:
        """The whole measure: says what lies here, or finds the fault."""
        self._rest(now_ms)
        if fault_reason:
            return self.fault(fault_reason, now_ms)
        if raw <= 0 or raw >= self.calibration.raw_max:
            return self.fault(f"the reading {raw} is out of range", now_ms)
        moved = is_touched != self._touch_bit and self.touched(is_touched, now_ms, False)
        self._looked_ms = self._read_ms = now_ms
        # A thing adds capacitance, and that lowers the reading: up is down here.
        self.level = (reference - raw) / self.calibration.chip_delta - self.zero
        prompt = self._edge_is_news and self._is_prompt(now_ms)
        additions = self.classifier.pile.count
        changed = self._judge(self.classifier.take(self.level, now_ms, prompt), now_ms)
        return changed or moved or self.classifier.pile.count != additions

    def fault(self, reason: str, now_ms: int) -> bool:
        self.classifier.lost()
        return self._become(FAULT, reason, False, now_ms)

    # -- what the table asks -----------------------------------------------------------------

    def stable(self, now_ms: int) -> bool:
        """True when a presence that is no fault has not changed for `SETTLE_MS`."""
        self._rest(now_ms)
        return self.presence != FAULT and self._rested

    def verdict_at_lock(self, now_ms: int) -> int:
        """ACCEPT a rested chip, EMPTY rested felt; everything else is refused, never guessed."""
        if self.presence == FAULT or not self.confirmed or not self._is_fresh(now_ms):
            return REFUSE
        if self.presence == PRESENT:
            return ACCEPT if self.stable(now_ms) else REFUSE
        return EMPTY if self.stable(now_ms) else LEFT

    def read_again_ms(self, now_ms: int) -> int:
        """How soon the next reading is wanted when nothing calls for it before."""
        self._rest(now_ms)
        if self.presence != FAULT:
            if self.classifier.is_restless(now_ms):
                return tuning.DECIDING_EVERY_MS
            if not self._rested:
                return tuning.SETTLING_EVERY_MS
        if self.presence == PRESENT:
            return tuning.WATCHING_EVERY_MS
        return tuning.CALM_EVERY_MS if self.presence == UNSURE else tuning.QUIET_EVERY_MS

    def reference_now(self, reference: int) -> int:
        """The stored reference, moved to where the empty felt is today."""
        return round(reference - self.zero * self.calibration.chip_delta)

    # -- inside ------------------------------------------------------------------------------

    def _judge(self, kind: int, now_ms: int) -> bool:
        if self.unproven:
            return self._become(UNSURE, MOVED, False, now_ms)
        if kind == CHIP:
            was_unsure = self.presence == UNSURE
            changed = self._become(PRESENT, "", True, now_ms)
            # It was dark while it proved that it rests: it need not do so twice.
            self._rested = self._rested or was_unsure
            return changed
        if kind == NOTHING:
            return self._become(ABSENT, "", True, now_ms)
        if kind == FOREIGN:
            if self.classifier.loose_for_ms(now_ms) >= tuning.LOOSE_PAD_MS:
                return self._become(FAULT, LOOSE_PAD, False, now_ms)
            return self._become(UNSURE, self.classifier.reason, False, now_ms)
        if self.classifier.is_being_left():
            # Dark at once, as the touch bit would have it, but not yet known to be empty.
            return self._become(ABSENT, "", False, now_ms)
        if self.presence in (PRESENT, UNSURE):
            # The light stays as it is while the spot is undecided, or a card would make it flicker.
            return self._become(self.presence, "", False, now_ms)
        return self._become(PRESENT if self._touch_bit else UNSURE, "", False, now_ms)

    def _is_undecided(self) -> bool:
        return self.classifier.kind == UNDECIDED

    def _is_prompt(self, now_ms: int) -> bool:
        if self._touch_bit and 0 <= ticks_diff(now_ms, self._edge_ms) <= tuning.PROMPT_MS:
            return True
        self._edge_is_news = False
        return False

    def _become(self, presence: str, reason: str, confirmed: bool, now_ms: int) -> bool:
        if presence != self.presence:
            self._changed_ms = now_ms
            self._rested = False
        elif reason == self.reason and confirmed == self.confirmed:
            return False
        self.presence = presence
        self.reason = reason
        self.confirmed = confirmed
        return True

    def _rest(self, now_ms: int) -> None:
        # Latched, because ticks wrap: a chip that lies for a week must not turn young again.
        if ticks_diff(now_ms, self._changed_ms) >= tuning.SETTLE_MS:
            self._rested = True

    def _is_fresh(self, now_ms: int) -> bool:
        return 0 <= ticks_diff(now_ms, self._read_ms) <= tuning.READING_AGE_MAX_MS
