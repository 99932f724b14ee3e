"""How a table goes on under a new journal: of a restored unit, or of one that replaces another.

It alone knows which journals a table has had and who permitted the next. A permit is an operator's
act with a reason, for one unit and one use, and it ends by itself. What still matters of the round
under way is told to the new journal from the events of those before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manager.counters import TableCounters
from manager.ledger.alarms import Alarms
from manager.ledger.entries import Origin as Cause
from manager.ledger.errors import LedgerError
from manager.ledger.rounds import Rounds
from manager.ledger.store import Store
from manager.round_digest import what_matters
from protocol import events, lineage
from protocol.chain import decode_body
from protocol.fields import clipped
from protocol.messages import Event, Hello, Message, State
from protocol.rows import EARLIER_JOURNALS_MAX, TakenJournal

if TYPE_CHECKING:
    from manager.units import Unit

PERMIT_MAX_MS = 3_600_000

_TABLE = (
    "CREATE TABLE IF NOT EXISTS successions (number INTEGER PRIMARY KEY, table_id TEXT NOT NULL,"
    " unit_id TEXT NOT NULL, operator TEXT NOT NULL, reason TEXT NOT NULL,"
    " permitted_ms INTEGER NOT NULL, adopted_ms INTEGER NOT NULL, journal_id BLOB NOT NULL,"
    " before_unit_id TEXT NOT NULL, before_journal_id BLOB NOT NULL,"
    " before_sequence INTEGER NOT NULL, before_digest BLOB NOT NULL, restored INTEGER NOT NULL)"
    " STRICT"
)
_ROUND_KINDS = (
    events.ROUND_START,
    events.LATE_CHANGE,
    events.HAND,
    events.CLAIM,
    events.AWARDED,
    events.CANCEL,
    events.COMMIT,
    events.SETTLED,
)


@dataclass(frozen=True, slots=True)
class Permit:
    number: int
    table_id: str
    operator: str
    reason: str


class Successions:
    def __init__(self, store: Store, alarms: Alarms) -> None:
        self._store = store
        self._alarms = alarms
        self._rounds = Rounds(store)
        self._counters = TableCounters(store)
        store.execute(_TABLE)

    # ---- an operator's act ----

    def permit(self, unit_id: str, table_id: str, operator: str, reason: str) -> None:
        """The next new journal that this unit comes with is the table's, within an hour."""
        if not operator or not reason:
            raise LedgerError("Permitting a new journal needs a name and a reason.")
        if self._store.row("SELECT 1 FROM tables WHERE id = ?", (table_id,)) is None:
            raise LedgerError(f"There is no table {table_id}.")
        with self._store.transaction():
            self._store.execute(
                "DELETE FROM successions WHERE table_id = ? AND adopted_ms = 0", (table_id,)
            )
            self._store.execute(
                "INSERT INTO successions VALUES (NULL, ?, ?, ?, ?, ?, 0, x'', '', x'', 0, x'', 0)",
                (table_id, unit_id, operator, reason, self._store.now_ms),
            )
            sentence = clipped(f"{operator} permits a new journal of unit {unit_id}: {reason}")
            self._alarms.record("NEW_JOURNAL_PERMITTED", sentence, table_id, Cause(unit_id))

    def permit_for(self, hello: Hello) -> Permit | None:
        """The permit that this hello may use: for its unit, and a journal never acknowledged."""
        if hello.acked_sequence or hello.version_max < 1:
            return None
        return self._permit_of(hello.unit_id)

    def permitted_table(self, unit_id: str) -> str:
        """The table that a unit may take over now, "" when none."""
        permit = self._permit_of(unit_id)
        return permit.table_id if permit else ""

    def _permit_of(self, unit_id: str) -> Permit | None:
        row = self._store.row(
            "SELECT number, table_id, operator, reason FROM successions"
            " WHERE unit_id = ? AND adopted_ms = 0 AND permitted_ms > ?",
            (unit_id, self._store.now_ms - PERMIT_MAX_MS),
        )
        return Permit(*row) if row else None

    def use(self, permit: Permit, hello: Hello, before: Unit) -> None:
        """The permit is used up; the journal before ends here."""
        self._store.execute(
            "UPDATE successions SET adopted_ms = ?, journal_id = ?, before_unit_id = ?,"
            " before_journal_id = ?, before_sequence = ?, before_digest = ? WHERE number = ?",
            (
                self._store.now_ms,
                hello.journal_id,
                before.unit_id,
                before.journal_id,
                before.last_sequence,
                before.last_digest,
                permit.number,
            ),
        )
        sentence = clipped(
            f"Unit {hello.unit_id} goes on with a new journal, as {permit.operator} permitted:"
            f" {permit.reason}"
        )
        self._alarms.record("NEW_JOURNAL", sentence, permit.table_id, Cause(hello.unit_id))

    # ---- what the new journal is told ----

    def awaits_restored(self, unit: Unit) -> bool:
        """True until the unit has recorded where its new journal begins."""
        return self._unfinished(unit) is not None

    def state_for(self, unit: Unit) -> list[Message]:
        """Where the table stands; told after each welcome until it is recorded."""
        row = self._unfinished(unit)
        if row is None:
            return []
        latest = self._rounds.latest(unit.table_id)
        is_on = latest is not None and latest.is_on
        told = what_matters(self._round_events(unit)) if is_on else []
        last_claim = self._store.row(
            "SELECT coalesce(max(number), 0) FROM claims WHERE table_id = ?", (unit.table_id,)
        )
        assert last_claim is not None
        journal_id, sequence, digest = row
        number = latest.number if latest else 0
        counters = self._counters.of(unit.table_id)
        earlier = self._earlier(unit.table_id, journal_id)
        standing = (number, last_claim[0], counters, len(told), earlier)
        return [State(journal_id, sequence, digest, *standing), *told]

    def _earlier(self, table_id: str, before: bytes) -> tuple[TakenJournal, ...]:
        rows = self._store.rows(
            "SELECT before_journal_id, before_sequence FROM successions WHERE table_id = ?"
            " AND adopted_ms > 0 AND before_journal_id <> ? ORDER BY number DESC LIMIT ?",
            (table_id, before, EARLIER_JOURNALS_MAX),
        )
        return tuple(TakenJournal(*row) for row in rows)

    def note_restored(self, unit: Unit) -> None:
        self._store.execute(
            "UPDATE successions SET restored = 1 WHERE table_id = ? AND journal_id = ?",
            (unit.table_id, unit.journal_id),
        )

    def has_taken(self, unit: Unit, body: Mapping[int, Any]) -> bool:
        """True for a record of an earlier journal that was taken in from there already."""
        return any(self._took(unit, origin) for origin in lineage.origins_of(body))

    def _took(self, unit: Unit, origin: lineage.Origin) -> bool:
        row = self._store.row(
            "SELECT digest FROM events WHERE journal_id = ?1 AND sequence = ?2 AND unit_id IN"
            " (SELECT before_unit_id FROM successions WHERE table_id = ?3)",
            (origin.journal_id, origin.sequence, unit.table_id),
        )
        return row is not None and row[0] == origin.digest

    def _unfinished(self, unit: Unit) -> tuple[Any, ...] | None:
        return self._store.row(
            "SELECT before_journal_id, before_sequence, before_digest FROM successions"
            " WHERE table_id = ? AND journal_id = ? AND adopted_ms > 0 AND NOT restored",
            (unit.table_id, unit.journal_id),
        )

    # ---- the round under way ----

    def _round_events(self, unit: Unit) -> list[Event]:
        """Everything recorded about the latest round, oldest first, each from its first journal."""
        found: list[Event] = []
        for event in self._newest_first(unit.table_id):
            found.append(event)
            if event.kind == events.ROUND_START:
                break
        return found[::-1]

    def _newest_first(self, table_id: str) -> Iterator[Event]:
        journals = self._store.rows(
            "SELECT before_unit_id, before_journal_id FROM successions"
            " WHERE table_id = ? AND adopted_ms > 0 ORDER BY number DESC",
            (table_id,),
        )
        for unit_id, journal_id in journals:
            rows = self._store.rows(
                "SELECT sequence, kind, body, monotonic_ms, wall_ms, digest FROM events"
                " WHERE unit_id = ? AND journal_id = ? ORDER BY sequence DESC",
                (unit_id, journal_id),
            )
            yield from _own_events(journal_id, rows)


def _own_events(journal_id: bytes, rows: Iterable[tuple[Any, ...]]) -> Iterator[Event]:
    """What a journal recorded first, ready to be recorded anew."""
    for sequence, kind, encoded, monotonic_ms, wall_ms, digest in rows:
        body = decode_body(encoded)
        if kind not in _ROUND_KINDS or lineage.is_known(body):
            continue
        origin = lineage.Origin(journal_id, sequence, digest)
        again = lineage.recorded_anew(body, origin, known=True)
        yield Event(sequence, kind, again, monotonic_ms, wall_ms, digest)
