"""What a chip that came after the lock means: no bet, or something laid on one.

It alone reads the earlier news of a round's spots back. Nothing here changes a bet or a meter.
"""

from __future__ import annotations

from manager.ledger.entries import Origin
from manager.ledger.store import Store
from manager.units import Unit
from protocol import events
from protocol.chain import decode_body


class LateChips:
    def __init__(self, store: Store) -> None:
        self._store = store

    def sentence(
        self, unit: Unit, origin: Origin, change: events.LateChange, accepted: tuple[str, ...]
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

    def _was_taken(self, unit: Unit, origin: Origin, sensor: str) -> bool:
        """True when the spot's last news of this round was that its chip is gone."""
        journal = unit.unit_id, unit.journal_id
        start = self._store.row(
            "SELECT sequence FROM events WHERE unit_id = ? AND journal_id = ? AND sequence < ?"
            " AND kind = ? ORDER BY sequence DESC LIMIT 1",
            (*journal, origin.sequence, events.ROUND_START),
        )
        rows = self._store.rows(
            "SELECT body FROM events WHERE unit_id = ? AND journal_id = ? AND sequence > ?"
            " AND sequence < ? AND kind = ? ORDER BY sequence DESC",
            (*journal, start[0] if start else 0, origin.sequence, events.LATE_CHANGE),
        )
        for (encoded,) in rows:
            earlier = events.LateChange.from_body(decode_body(encoded))
            if earlier.sensor == sensor:
                return not earlier.present
        return False
