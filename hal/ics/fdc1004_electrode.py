"""One FDC1004 electrode between two reads: its last good measure, its touch bit, its age.

The IC has no touch bits and no baseline, so both live here: a measure is compared with the stored
reference, with hysteresis. It alone knows when a measure counts. Registers and reading are the
driver's business, and so is what lies on the felt whoever decides from raw data.
"""

from __future__ import annotations

from hal.aio import ticks_diff

# Raw measures are FULL_SCALE minus the capacitance in 2048ths of a picofarad (0.49 fF, the IC's
# own resolution): whatever comes near the pad adds capacitance and lowers the number. The offset
# that the CAPDAC took off is added back, so a reference does not depend on that setting.
FULL_SCALE = 1 << 18
UNITS_PER_CAPDAC_STEP = 6400
CODE_MIN, CODE_MAX = -0x8000, 0x7FFF
# Half a picofarad. A pad with its wire has several; a wire that is off leaves the pin's own.
OPEN_UNITS_MAX = 1024

# Ten cycles of four measurements at 400 a second.
STALE_MS = 100

OUT_OF_RANGE = "out of range"
STOPPED = "IC stopped measuring"


class Electrode:
    """Its state while the IC runs; a new one for each start."""

    def __init__(self, reference: int, touch: int, release: int, capdac: int) -> None:
        self.reference = reference
        self.raw = reference
        self.touched = False
        self.good_count = 0
        # A measurement during which something came or went is neither the old level nor the new.
        # There is only one such in a row, so the measure after it counts in any case.
        self.may_be_mixed = False
        self.fault: str | None = STOPPED
        self._touch = touch
        self._release = release
        self._capdac = capdac
        # A quarter of the empty pad: temperature and age do not get there, a lost wire does.
        self._units_min = max(OPEN_UNITS_MAX, (FULL_SCALE - reference) // 4)
        # None: nothing was measured yet or since a fault, and that must not look like an empty pad.
        self._good_ms: int | None = None
        self._done_ms: int | None = None

    def take(self, code: int, now_ms: int) -> None:
        """A new measurement that was marked as done."""
        self._done_ms = now_ms
        units = units_of(code, self._capdac)
        # A measure at its limit is none: the IC also gives one when it was read too early.
        if units is None or units < self._units_min:
            return
        self._good_ms = now_ms
        self._follow(FULL_SCALE - units)

    def overdue(self, now_ms: int) -> str | None:
        """Why the last measure no longer counts, or None."""
        if _is_old(self._done_ms, now_ms):
            return STOPPED
        return OUT_OF_RANGE if _is_old(self._good_ms, now_ms) else None

    def judge(self, now_ms: int) -> None:
        """Sets or ends the fault. Only a new measure ends it, however the ticks come round."""
        self.fault = self.overdue(now_ms)
        if self.fault is not None:
            self._good_ms = None
        if self.fault == STOPPED:
            self._done_ms = None

    def _follow(self, raw: int) -> None:
        moved = abs(raw - self.raw) > self._release
        self.may_be_mixed = moved and not self.may_be_mixed
        self.good_count += 1
        self.raw = raw
        delta = self.reference - raw
        if self.touched:
            self.touched = delta >= self._release
        else:
            self.touched = delta > self._touch


def units_of(code: int, capdac: int) -> int | None:
    """The capacitance in 2048ths of a picofarad, or None for a measure at its limit."""
    if code in (CODE_MIN, CODE_MAX):
        return None
    return code + UNITS_PER_CAPDAC_STEP * capdac


def _is_old(since_ms: int | None, now_ms: int) -> bool:
    return since_ms is None or ticks_diff(now_ms, since_ms) > STALE_MS
