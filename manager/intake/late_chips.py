"""What a chip that came after the lock means: no bet, or something laid on one.

It alone reads the earlier news of a round's spots back. Nothing here changes a bet or a meter.
"""

from __future__ import annotations

from manager.intake.round_so_far import told_since_start
from manager.intake.units import Unit
from manager.ledger.store.entries import EventSource
from manager.ledger.store.store import Store
from protocol.wire import events


class LateChips:
    def __init__(self, store: Store) -> None:
        self._store = store

    def sentence(
        self, unit: Unit, origin: EventSource, change: events.LateChange, accepted: tuple[str, ...]
    ) -> str:
        """What is worth a look, or "": taking the chips off is the dealer's work."""
        if not change.present:
            return ""
        when = f"{change.offset_ms} ms after the lock of round {change.round_number}"
        if change.sensor not in accepted:
            return f"A chip came to {change.sensor} {when}; it is no bet."
        if self._was_taken(unit, origin, change.sensor):
            return ""
        return f"Something was laid on the bet at {change.sensor} {when}; the bet is as it was."

    def _was_taken(self, unit: Unit, origin: EventSource, sensor: str) -> bool:
        """True when the spot's last news of this round was that its chip is gone."""
        for earlier in told_since_start(self._store, unit, events.LATE_CHANGE):
            if isinstance(earlier, events.LateChange) and earlier.sensor == sensor:
                return not earlier.present
        return False
