"""The supervisor's key: two contacts, of which exactly one is closed.

While the key turns both may be open (or both closed) for a moment; longer than that the two
contradict each other, and then the position is a fault and not a guess. What a position permits is
decided elsewhere.
"""

from __future__ import annotations

from hal.aio import ThreadSafeFlag, ticks_diff, ticks_ms, wait_set_ms
from hal.devices.lines import InputLine

RUN = "RUN"
JPH = "JPH"
FAULT = "FAULT"

TURN_MS_MAX = 200
# In case an edge was lost on its way from the wire.
POLL_MS = 250


class KeySwitch:
    """`position` is "RUN", "JPH" or "FAULT"; during a turn it stays what it was."""

    def __init__(self, contact_run: InputLine, contact_jph: InputLine) -> None:
        self._contact_run = contact_run
        self._contact_jph = contact_jph
        self._edge = ThreadSafeFlag()
        contact_run.also_set(self._edge)
        contact_jph.also_set(self._edge)
        # Nothing is known of a key that has contradicted itself since the start: that is a fault.
        self._last_good = FAULT
        self._disagree_since_ticks: int | None = None
        self._reported = self.position

    @property
    def position(self) -> str:
        """Looks at the contacts now."""
        agreed = self._agreed()
        if agreed is not None:
            self._last_good = agreed
            self._disagree_since_ticks = None
            return agreed
        now = ticks_ms()
        if self._disagree_since_ticks is None:
            self._disagree_since_ticks = now
        if ticks_diff(now, self._disagree_since_ticks) >= TURN_MS_MAX:
            self._last_good = FAULT
        return self._last_good

    async def changed(self) -> str:
        """Returns the position once it differs from what this last returned (or began with)."""
        while self.position == self._reported:
            await wait_set_ms(self._edge, self._wait_ms())
        self._reported = self.position
        return self._reported

    def close(self) -> None:
        self._contact_run.close()
        self._contact_jph.close()

    def _agreed(self) -> str | None:
        run_closed, jph_closed = self._contact_run.active, self._contact_jph.active
        if run_closed == jph_closed:
            return None
        return RUN if run_closed else JPH

    def _wait_ms(self) -> int:
        if self._disagree_since_ticks is None or self._last_good == FAULT:
            return POLL_MS
        turned_for_ms = ticks_diff(ticks_ms(), self._disagree_since_ticks)
        return max(1, TURN_MS_MAX - turned_for_ms)
