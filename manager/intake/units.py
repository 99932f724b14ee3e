"""The units: who may speak for which table, and how far each one's journal has been taken in.

A unit is known by its first hello: its name, its table and its journal's random id. From then on
only that journal is that unit. Another journal under the same name is a replaced or copied disk
and is refused; a journal that went back in time is a fork and locks the unit until a person
releases it. Only a person can let a new journal go on for an old one (`succession`). What the
events mean is not known here.
"""

from __future__ import annotations

from typing import NamedTuple

from manager.intake.succession import Successions
from manager.ledger.alarms import Alarms
from manager.ledger.corrections.reasons import Signed
from manager.ledger.engines.relations import TABLES, UNITS
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import Entry, EventSource, Kind, Reference
from manager.ledger.store.store import Store
from manager.ledger.tables import Tables
from manager.ledger.tails import era_of
from protocol.proof.chain import first_digest
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import clipped
from protocol.wire.messages import Event, Hello

_tuple = tuple.__new__  # a named tuple's own way costs twice


class Unit(NamedTuple):
    """A row of the units; a tuple, because every event makes one."""

    unit_id: str
    table_id: str
    journal_id: bytes
    last_sequence: int
    last_digest: bytes
    last_event_ms: int
    software: str
    settings_digest: bytes
    lock_sentence: str

    @property
    def locked(self) -> bool:
        return self.lock_sentence != ""

    def lock_problem(self) -> ProtocolError:
        return ProtocolError(
            ErrorCode.LOCKED, f"Unit {self.unit_id} is locked: {self.lock_sentence}"
        )


class Units:
    def __init__(self, store: Store, tables: Tables, alarms: Alarms) -> None:
        self._store = store
        self._tables = tables
        self._alarms = alarms
        self.successions = Successions(store, alarms)
        self._last_at_hello: dict[str, int] = {}

    def greet(self, hello: Hello) -> Unit:
        """The unit behind a hello, or the reason it may not speak; the reason becomes an alarm."""
        with self._store.transaction():
            table_id = self._tables.table_of_unit(hello.unit_id)
            known = self.of_table(table_id) if table_id else None
            problem = self._problem(hello, table_id, known)
            if problem is not None and self._succeeds(hello):
                problem = None
            elif problem is not None:
                self._turn_away(hello, table_id or "", known, problem)
            elif known is None and table_id is not None:
                self._adopt(hello, table_id)
        if problem is not None:
            raise problem
        self._last_at_hello[hello.unit_id] = hello.last_sequence
        return self.get(hello.unit_id)

    def was_said_before_hello(self, origin: EventSource) -> bool:
        """Whether the unit had recorded this event when its present connection began."""
        return origin.sequence <= self._last_at_hello.get(origin.unit_id, 0)

    def table_for(self, unit_id: str) -> str | None:
        """The table a unit may be enrolled for: the one it serves, or is permitted to take over.

        While another unit may take its table over, a code for it is good for that one alone.
        """
        permitted = self.successions.permitted_table(unit_id)
        served = self._tables.table_of_unit(unit_id)
        if permitted or served is None:
            return permitted or None
        return None if self.successions.heir_of(served) else served

    def replaced_ids(self) -> list[str]:
        """Units whose tables others took over: their certificates must not count."""
        return [
            unit_id
            for unit_id in self.successions.replaced_ids()
            if self._tables.table_of_unit(unit_id) is None
        ]

    def permit_new_journal(self, unit_id: str, table_id: str, signed: Signed, reason: str) -> str:
        """Lets a unit go on with a new journal, at its own table or at one that is named."""
        if not reason:
            raise LedgerError("A permit needs a reason.")
        served = self._tables.table_of_unit(unit_id)
        if not table_id and served is None:
            raise LedgerError(
                f"Unit {unit_id} serves no table here; say which one it takes over: --table ID."
            )
        wanted = table_id or served or ""
        if self._tables.settings_of(wanted) is None:
            raise LedgerError(f"There is no table {wanted}.")
        if served is not None and served != wanted:
            raise LedgerError(f"Unit {unit_id} serves table {served}.")
        before = self.of_table(wanted)
        if before is not None and before.locked:
            signed.require_two("Going on at the table of a locked unit")
        self.successions.permit(unit_id, wanted, signed.names, reason)
        return wanted

    def find(self, unit_id: str) -> Unit | None:
        row = self._store.get(UNITS, unit_id)
        return row if row is None or type(row) is Unit else Unit._make(row)

    def get(self, unit_id: str) -> Unit:
        unit = self.find(unit_id)
        if unit is None:
            raise LedgerError(f"There is no unit {unit_id}.")
        return unit

    def of_table(self, table_id: str) -> Unit | None:
        # It goes by its board's serial or by its table's id: no need to look through all units.
        for unit_id in (self._tables.board_serial_of(table_id), table_id):
            unit = self.find(unit_id)
            if unit is not None and unit.table_id == table_id:
                return unit
        return None

    def advance(self, unit: Unit, event: Event) -> None:
        """The event is taken in: the next one follows it."""
        # As it stands now: the event itself may have told of another program or other settings.
        unit_id, table_id, journal_id, _, _, _, *told = self.get(unit.unit_id)
        reached = (event.sequence, event.digest, self._store.now_ms)
        row = _tuple(Unit, (unit_id, table_id, journal_id, *reached, *told))
        self._store.put(UNITS, row, said=False)  # by the transaction that names the event

    def note_software(self, unit: Unit, software: str) -> None:
        self._store.update(UNITS, (unit.unit_id,), software=software)

    def note_settings(self, unit: Unit, digest: bytes) -> None:
        self._store.update(UNITS, (unit.unit_id,), config_digest=digest)

    def lock(self, unit: Unit, sentence: str, origin: EventSource) -> None:
        """Nothing more is taken from this unit until a person releases it."""
        self._store.update(UNITS, (unit.unit_id,), lock_sentence=sentence)
        self._alarms.record("FORK", sentence, unit.table_id, origin)

    def release(self, unit_id: str, reason: str, signed: Signed) -> None:
        """Two people looked into it and let the unit speak again; the chain keeps who and why."""
        signed.require_two("Releasing a unit")
        if not reason.strip():
            raise LedgerError("Releasing a unit needs a reason.")
        with self._store.transaction():
            unit = self.get(unit_id)
            if not unit.locked:
                raise LedgerError(f"Unit {unit_id} is not locked.")
            self._store.update(UNITS, (unit_id,), lock_sentence="")
            sentence = clipped(f"Unit {unit_id} released by {signed.names}: {reason}")
            detail = {"unit": unit_id, "was": unit.lock_sentence, **signed.detail(reason)}
            self._store.append(
                Entry(Kind.UNIT_RELEASED, Reference(unit.table_id), sentence, (), detail=detail)
            )
            self._alarms.record("RELEASED", sentence, unit.table_id, EventSource(unit_id))

    def _problem(
        self, hello: Hello, table_id: str | None, known: Unit | None
    ) -> ProtocolError | None:
        name, code = hello.unit_id, ErrorCode.UNKNOWN_UNIT
        if table_id is None:
            return ProtocolError(code, f"No table here is served by a unit {name}.")
        if known is None:
            return None if self._is_told_of_restore(hello) else _stranger_problem(hello)
        if known.unit_id != name:
            return ProtocolError(code, f"Table {table_id} is served by unit {known.unit_id}.")
        if known.locked:
            return known.lock_problem()
        if known.journal_id != hello.journal_id:
            sentence = f"Unit {name} came with another journal than the one known here."
            return ProtocolError(ErrorCode.FORK, sentence)
        problem = _history_problem(hello, known)
        if problem is not None and problem.code == ErrorCode.TAIL:
            return None if self._is_told_of_restore(hello) else problem
        return problem

    def _is_told_of_restore(self, hello: Hello) -> bool:
        """Two people let the ledger go on from a backup since this unit was told its tail."""
        era = hello.tail[0].era if hello.tail else 0
        return era < era_of(self._store)

    def _succeeds(self, hello: Hello) -> bool:
        """A person has permitted that this unit goes on at its table with a new journal."""
        permit = self.successions.permit_for(hello)
        before = self.of_table(permit.table_id) if permit else None
        if permit is None or before is None or before.journal_id == hello.journal_id:
            return False
        self.successions.use(permit, hello, before)
        self._store.remove(UNITS, before.unit_id)
        if before.unit_id != hello.unit_id:
            self._store.update(TABLES, (permit.table_id,), board_serial=hello.unit_id)
        self._adopt(hello, permit.table_id)
        return True

    def _turn_away(
        self, hello: Hello, table_id: str, known: Unit | None, problem: ProtocolError
    ) -> None:
        origin = EventSource(hello.unit_id)
        same_journal = known is not None and known.journal_id == hello.journal_id
        if known is not None and same_journal and problem.code == ErrorCode.FORK:
            self.lock(known, problem.sentence, origin)
        else:
            self._alarms.record_once(problem.code.name, problem.sentence, table_id, origin)

    def _adopt(self, hello: Hello, table_id: str) -> None:
        begun = (0, first_digest(hello.journal_id), 0)
        told = (hello.software, hello.settings_digest, "")
        self._store.put(UNITS, (hello.unit_id, table_id, hello.journal_id, *begun, *told))


def _stranger_problem(hello: Hello) -> ProtocolError | None:
    """A unit never seen here must not hold acknowledgements from a ledger: they were not ours."""
    if hello.acked_sequence == 0:
        return None
    sentence = f"Unit {hello.unit_id} was acknowledged by another ledger than this one."
    return ProtocolError(ErrorCode.TAIL, sentence)


def _history_problem(hello: Hello, known: Unit) -> ProtocolError | None:
    if hello.last_sequence < known.last_sequence:
        sentence = (
            f"Unit {known.unit_id} has events up to {hello.last_sequence}, but"
            f" {known.last_sequence} were taken in: its journal went back in time."
        )
        return ProtocolError(ErrorCode.FORK, sentence)
    if hello.acked_sequence > known.last_sequence:
        sentence = (
            f"Unit {known.unit_id} was acknowledged up to {hello.acked_sequence}, but this ledger"
            f" has {known.last_sequence}: an older copy of the ledger is in use."
        )
        return ProtocolError(ErrorCode.TAIL, sentence)
    return None
