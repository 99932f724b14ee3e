"""What a unit has told since its last START: the events that matter while people act on a round.

It reads the newest events first and only as many as the round has, however long the journal is.
What they mean is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from manager.intake.units import Unit
from manager.ledger.engines.relations import EVENTS
from manager.ledger.store.store import Store
from protocol.proof.chain import decode_body
from protocol.wire import events

READ_AT_ONCE = 64


def told_since_start(store: Store, unit: Unit, kind: int) -> Iterator[events.EventBody]:
    """The events of this kind since the unit's last START, newest first.

    A journal that goes on for another one begins with what still matters of that one's round.
    """
    before = unit.last_sequence + 1
    while True:
        journal = {"unit_id": unit.unit_id, "journal_id": unit.journal_id}
        rows = store.find(EVENTS, journal, newest=READ_AT_ONCE, below=before)
        for _unit, _journal, _sequence, found, encoded, *_ in rows:
            if found == events.ROUND_START:
                return
            if found == kind:
                yield events.parse(kind, decode_body(encoded))
        if len(rows) < READ_AT_ONCE:
            return
        before = rows[-1][2]
