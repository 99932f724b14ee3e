"""Decides for one sensor whether a chip lies on it: PRESENT, ABSENT or FAULT with a reason.

The chip's touch bit moves the presence at once, so that a light follows the hand; only the raw
measure against the stored empty-felt reference confirms it, and only a confirmed presence that has
rested becomes a bet. Reading the chip is done elsewhere. A failed read is a fault, never "empty".
"""

from hal.aio import ticks_diff

PRESENT = "present"
ABSENT = "absent"
FAULT = "fault"

# The reason before the first reading: nothing is wrong yet, and nothing is known.
NOT_READ = "not read yet"

# Verdicts at the lock.
ACCEPT = 1
REFUSE = 2
EMPTY = 3
LEFT = 4  # refused like REFUSE, but nothing lies there: the spot was left a moment ago

SETTLE_MS = 150
DISAGREE_MAX_MS = 200
# The watcher reads each chip at least once a second; three missed reads are no reading at all.
READING_AGE_MAX_MS = 3000

# What a classifier may answer.
NOTHING = 0
CHIP = 1
UNDECIDED = 2
FOREIGN = 3

RAW_MAX = 1023


class DeltaClassifier:
    """Tells a chip from empty felt by how far it pulls the measure below the reference.

    Between the two thresholds it does not decide: what was confirmed stays so (hysteresis). A
    classifier that also knows hands and liquids can take its place; it answers FOREIGN for those.
    """

    __slots__ = ("chip_delta_min", "empty_delta_max")

    def __init__(self, chip_delta_min: int = 12, empty_delta_max: int = 8) -> None:
        if empty_delta_max >= chip_delta_min:
            raise ValueError("Empty felt must lie below a chip, or the spot would flicker.")
        self.chip_delta_min = chip_delta_min
        self.empty_delta_max = empty_delta_max

    def classify(self, raw: int, reference: int, now_ms: int) -> int:
        delta = reference - raw
        if delta >= self.chip_delta_min:
            return CHIP
        if delta <= self.empty_delta_max:
            return NOTHING
        return UNDECIDED


class Spot:
    """One sensor's presence through time. Each input returns True when the outcome changed."""

    __slots__ = (
        "_changed_ms",
        "_classifier",
        "_disagrees",
        "_disagrees_since_ms",
        "_read_ms",
        "_rested",
        "confirmed",
        "presence",
        "reason",
        "sensor",
    )

    def __init__(self, sensor: str, classifier: "DeltaClassifier | None" = None) -> None:
        self.sensor = sensor
        self.presence = FAULT
        self.reason = NOT_READ
        self.confirmed = False
        self._classifier = classifier or DeltaClassifier()
        self._changed_ms = 0
        self._rested = False
        self._read_ms = 0
        self._disagrees = False
        self._disagrees_since_ms = 0

    def touched(self, is_touched: bool, now_ms: int) -> bool:
        """The fast path: the touch bit alone. It never ends a fault; only a reading does."""
        self._rest(now_ms)
        presence = PRESENT if is_touched else ABSENT
        if self.presence in (FAULT, presence):
            return False
        return self._become(presence, "", False, now_ms)

    def reading(
        self,
        raw: int,
        reference: int,
        is_touched: bool,
        fault_reason: "str | None",
        now_ms: int,
    ) -> bool:
        """The whole measure: confirms what the touch bit said, or finds the fault."""
        self._rest(now_ms)
        if fault_reason:
            return self.fault(fault_reason, now_ms)
        if raw <= 0 or raw >= RAW_MAX:
            return self.fault(f"the reading {raw} is out of range", now_ms)
        self._read_ms = now_ms
        seen = self._classifier.classify(raw, reference, now_ms)
        if seen == FOREIGN:
            return self.fault("something other than a chip lies here", now_ms)
        presence = PRESENT if is_touched else ABSENT
        if seen == UNDECIDED:
            agrees = self.confirmed and presence == self.presence
        else:
            agrees = (seen == CHIP) == is_touched
        return self._judge(presence, agrees, now_ms)

    def fault(self, reason: str, now_ms: int) -> bool:
        self._disagrees = False
        return self._become(FAULT, reason, False, now_ms)

    def stable(self, now_ms: int) -> bool:
        """True when a presence that is no fault has not changed for SETTLE_MS."""
        self._rest(now_ms)
        return self.presence != FAULT and self._rested

    def verdict_at_lock(self, now_ms: int) -> int:
        """ACCEPT a rested chip, EMPTY rested felt; everything else is refused, never guessed."""
        if self.presence == FAULT or not self.confirmed or not self._is_fresh(now_ms):
            return REFUSE
        if self.presence == PRESENT:
            return ACCEPT if self.stable(now_ms) else REFUSE
        return EMPTY if self.stable(now_ms) else LEFT

    def _judge(self, presence: str, agrees: bool, now_ms: int) -> bool:
        if agrees:
            self._disagrees = False
            return self._become(presence, "", True, now_ms)
        if not self._disagrees:
            self._disagrees = True
            self._disagrees_since_ms = now_ms
        if ticks_diff(now_ms, self._disagrees_since_ms) >= DISAGREE_MAX_MS:
            return self._become(FAULT, "touch and measurement disagree", False, now_ms)
        if self.presence == FAULT:
            return False  # a fault ends when everything agrees again, not before
        return self._become(presence, "", False, now_ms)

    def _become(self, presence: str, reason: str, confirmed: bool, now_ms: int) -> bool:
        before = (self.presence, self.reason, self.confirmed)
        if presence != self.presence:
            self._changed_ms = now_ms
            self._rested = False
        self.presence = presence
        self.reason = reason
        self.confirmed = confirmed
        return before != (presence, reason, confirmed)

    def _rest(self, now_ms: int) -> None:
        # Latched, because ticks wrap: a chip that lies for a week must not turn young again.
        if ticks_diff(now_ms, self._changed_ms) >= SETTLE_MS:
            self._rested = True

    def _is_fresh(self, now_ms: int) -> bool:
        return 0 <= ticks_diff(now_ms, self._read_ms) <= READING_AGE_MAX_MS
