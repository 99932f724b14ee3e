"""How a table goes on under a new journal: of a restored unit, or of one that replaces another.

It alone knows which journals a table has had and who permitted the next. A permit is an operator's
act with a reason, for one unit and one use, and it ends by itself. What still matters of the round
under way is told to the new journal from the events of those before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from manager.intake.counters import TableCounters
from manager.intake.open_round import replayable_events
from manager.ledger.alarms import Alarms
from manager.ledger.claims import Claims
from manager.ledger.engines.relations import EVENTS, SUCCESSIONS, Row
from manager.ledger.errors import BookingRefused
from manager.ledger.rounds import Rounds
from manager.ledger.store.entries import EventSource
from manager.ledger.store.store import Store
from protocol.proof import lineage
from protocol.proof.chain import decode_body
from protocol.wire import events
from protocol.wire.errors import ProtocolError
from protocol.wire.fields import clipped
from protocol.wire.messages import Event, Hello, Message, State
from protocol.wire.rows import EARLIER_JOURNALS_MAX, Mark, TakenJournal

if TYPE_CHECKING:
    from manager.intake.units import Unit

PERMIT_MAX_MS = 3_600_000

_ROUND_KINDS = (
    events.ROUND_START,
    events.LATE_CHANGE,
    events.HAND,
    events.CLAIM,
    events.AWARDED,
    events.CANCEL,
    events.COMMIT,
    events.SETTLED,
    events.PAID,
    events.TAKEN_BACK,
    events.REVERSED,
)


READ_AT_ONCE = 64


class _Ended(NamedTuple):
    """A journal that another one went on for, and where it ends."""

    unit_id: str
    journal_id: bytes
    sequence: int


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
        self._claims = Claims(store)
        self._counters = TableCounters(store)

    # ---- an operator's act ----

    def permit(self, unit_id: str, table_id: str, operator: str, reason: str) -> None:
        """The next new journal that this unit comes with is the table's, within an hour."""
        with self._store.transaction():
            # One permit a table: a second one would let a second unit in after the first.
            for unused in self._store.find(SUCCESSIONS, {"table_id": table_id, "adopted_ms": 0}):
                self._store.remove(SUCCESSIONS, unused[0])
            known = self._store.find(SUCCESSIONS, {}, newest=1)
            number = known[0][0] + 1 if known else 1
            permitted = (table_id, unit_id, operator, reason, self._store.now_ms)
            self._store.put(SUCCESSIONS, (number, *permitted, 0, b"", "", b"", 0, b"", 0))
            sentence = clipped(f"{operator} permits a new journal of unit {unit_id}: {reason}")
            self._alarms.record("NEW_JOURNAL_PERMITTED", sentence, table_id, EventSource(unit_id))

    def permit_for(self, hello: Hello) -> Permit | None:
        """The permit that this hello may use: for its unit, and a journal never acknowledged."""
        # A journal that was ever acknowledged has a history with some ledger: it is no new one.
        if hello.acked_sequence:
            return None
        return self._permit_of(hello.unit_id)

    def permitted_table(self, unit_id: str) -> str:
        """The table that a unit may take over now, "" when none."""
        permit = self._permit_of(unit_id)
        return permit.table_id if permit else ""

    def heir_of(self, table_id: str) -> str:
        """The unit that may take this table over now, "" when none may."""
        since_ms = self._store.now_ms - PERMIT_MAX_MS
        for row in self._store.find(SUCCESSIONS, {"table_id": table_id, "adopted_ms": 0}):
            if row[5] > since_ms:
                return str(row[2])
        return ""

    def replaced_ids(self) -> list[str]:
        """Every unit that another one ever went on for."""
        rows = self._store.find(SUCCESSIONS, {})
        return sorted({row[8] for row in rows if row[6] > 0 and row[8] != row[2]})

    def _permit_of(self, unit_id: str) -> Permit | None:
        since_ms = self._store.now_ms - PERMIT_MAX_MS
        for row in self._store.find(SUCCESSIONS, {"unit_id": unit_id, "adopted_ms": 0}):
            number, table_id, _, operator, reason, permitted_ms = row[:6]
            if permitted_ms > since_ms:
                return Permit(number, table_id, operator, reason)
        return None

    def use(self, permit: Permit, hello: Hello, before: Unit) -> None:
        """The permit is used up; the journal before ends here."""
        self._store.update(
            SUCCESSIONS,
            (permit.number,),
            adopted_ms=self._store.now_ms,
            journal_id=hello.journal_id,
            before_unit_id=before.unit_id,
            before_journal_id=before.journal_id,
            before_sequence=before.last_sequence,
            before_digest=before.last_digest,
        )
        sentence = clipped(
            f"Unit {hello.unit_id} goes on with a new journal, as {permit.operator} permitted:"
            f" {permit.reason}"
        )
        self._alarms.record("NEW_JOURNAL", sentence, permit.table_id, EventSource(hello.unit_id))

    # ---- what the new journal is told ----

    def awaits_restored(self, unit: Unit) -> bool:
        """True until the unit has recorded where its new journal begins."""
        return self._unfinished(unit) is not None

    def state_for(self, unit: Unit) -> list[Message]:
        """Where the table stands; told after each welcome until it is recorded."""
        if self._unfinished(unit) is None:
            return []
        latest = self._rounds.latest(unit.table_id)
        is_on = latest is not None and latest.is_on
        # A round that has ended needs no bets and no claims: only its number, to count on from.
        told = replayable_events(self._round_events(unit)) if is_on else []
        return [replace(self.told_to(unit), event_count=len(told)), *told]

    def told_to(self, unit: Unit) -> State:
        """Where the table stands, for a journal that has not recorded it yet."""
        row = self._unfinished(unit)
        if row is None:
            raise BookingRefused("The unit goes on from an earlier journal, but nobody told it to.")
        before_unit_id, journal_id, sequence, digest = row
        latest = self._rounds.latest(unit.table_id)
        standing = (latest.number if latest else 0, self._claims.last_number(unit.table_id))
        counters, earlier = (
            self._counters.of(unit.table_id),
            self._earlier(unit.table_id, journal_id),
        )
        marks = self._marks(before_unit_id, journal_id, sequence)
        return State(journal_id, sequence, digest, *standing, counters, 0, earlier, marks)

    def _marks(self, unit_id: str, journal_id: bytes, last_sequence: int) -> tuple[Mark, ...]:
        """The last event and those 1, 2, 4 … before it: where two histories part is found by them.

        With each step back they lie twice as far apart, so that few are enough for any journal.
        """
        backs = [0, *(1 << bit for bit in range(last_sequence.bit_length()))]
        rows = [
            self._store.get(EVENTS, unit_id, journal_id, last_sequence - back) for back in backs
        ]
        return tuple(Mark(row[2], row[7]) for row in rows if row is not None)

    def describe_diverged(self, unit: Unit, record: events.Diverged) -> str:
        """What a person must look into; "" when the record was taken in after all."""
        place = lineage.EarlierPlace(record.journal_id, record.sequence, record.digest)
        if self._took(unit, place):
            return ""
        name = events.EVENT_TYPES[record.kind].__name__ if record.kind in events.EVENT_TYPES else ""
        return clipped(
            f"Record {record.sequence} of unit {unit.unit_id}, {name or 'of an unknown kind'}, is"
            f" not booked: a copy's was taken in its place. {_content(record)}"
        )

    def _earlier(self, table_id: str, before: bytes) -> tuple[TakenJournal, ...]:
        ended = [each for each in self._ended(table_id) if each.journal_id != before]
        newest = ended[:EARLIER_JOURNALS_MAX]
        return tuple(TakenJournal(each.journal_id, each.sequence) for each in newest)

    def note_restored(self, unit: Unit) -> None:
        own = {"table_id": unit.table_id, "journal_id": unit.journal_id}
        for row in self._store.find(SUCCESSIONS, own):
            self._store.update(SUCCESSIONS, row[:1], restored=1)

    def has_taken(self, unit: Unit, body: Mapping[int, Any]) -> bool:
        """True for a record of an earlier journal that was taken in from there already."""
        return any(self._took(unit, origin) for origin in lineage.earlier_places(body))

    def _took(self, unit: Unit, origin: lineage.EarlierPlace) -> bool:
        # By digest, not by number alone: a copied disk may have gone its own way from there.
        for unit_id in {each.unit_id for each in self._ended(unit.table_id)}:
            row = self._store.get(EVENTS, unit_id, origin.journal_id, origin.sequence)
            if row is not None:
                return bool(row[EVENTS.place("digest")] == origin.digest)
        return False

    def _unfinished(self, unit: Unit) -> tuple[Any, ...] | None:
        own = {"table_id": unit.table_id, "journal_id": unit.journal_id, "restored": 0}
        rows = [row for row in self._store.find(SUCCESSIONS, own) if row[6] > 0]
        return rows[0][8:12] if rows else None

    def _ended(self, table_id: str) -> list[_Ended]:
        """The journals that others went on for, the newest first."""
        rows = self._store.find(SUCCESSIONS, {"table_id": table_id})
        return [_Ended(row[8], row[9], row[10]) for row in reversed(rows) if row[6] > 0]

    # ---- the round under way ----

    def _round_events(self, unit: Unit) -> list[Event]:
        """Everything recorded about the latest round, oldest first, each from its first journal."""
        found: list[Event] = []
        for event in _newest_first(self._store, self._ended(unit.table_id)):
            found.append(event)
            if event.kind == events.ROUND_START:
                break
        return found[::-1]


def _newest_first(store: Store, ended: Iterable[_Ended]) -> Iterator[Event]:
    for unit_id, journal_id, sequence in ended:
        yield from _own_events(journal_id, _rows_down(store, unit_id, journal_id, sequence + 1))


def _rows_down(store: Store, unit_id: str, journal_id: bytes, below: int) -> Iterator[Row]:
    """A journal's events from the newest on, read as far as they are wanted."""
    journal = {"unit_id": unit_id, "journal_id": journal_id}
    while rows := store.find(EVENTS, journal, newest=READ_AT_ONCE, below=below):
        yield from rows
        below = rows[-1][2]


def _content(record: events.Diverged) -> str:
    try:
        body = events.parse(record.kind, decode_body(record.body))
    except (ProtocolError, ValueError):
        return ""
    return ", ".join(f"{name} {value}" for name, value in vars(body).items())


def _own_events(journal_id: bytes, rows: Iterable[Row]) -> Iterator[Event]:
    """What a journal recorded first, ready to be recorded anew."""
    for _unit, _journal, sequence, kind, encoded, monotonic_ms, wall_ms, digest, _ms in rows:
        body = decode_body(encoded)
        # What the manager itself had told this journal stands, as it was first recorded, in an
        # earlier one, and is taken from there.
        if kind not in _ROUND_KINDS or lineage.is_known(body):
            continue
        origin = lineage.EarlierPlace(journal_id, sequence, digest)
        again = lineage.recorded_anew(body, origin, known=True)
        yield Event(sequence, kind, again, monotonic_ms, wall_ms, digest)
