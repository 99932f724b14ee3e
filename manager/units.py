"""The units: who may speak for which table, and how far each one's journal has been taken in.

A unit is known by its first hello: its name, its table and its journal's random id. From then on
only that journal is that unit. Another journal under the same name is a replaced or copied card
and is refused; a journal that went back in time is a fork and locks the unit until a person
releases it. Only a person can let a new journal go on for an old one (`succession`). What the
events mean is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

from manager.ledger.alarms import Alarms
from manager.ledger.entries import Origin
from manager.ledger.errors import LedgerError
from manager.ledger.store import Store
from manager.ledger.tables import Tables
from manager.succession import Successions
from protocol.chain import first_digest
from protocol.errors import ErrorCode, ProtocolError
from protocol.messages import Event, Hello


@dataclass(frozen=True, slots=True)
class Unit:
    unit_id: str
    table_id: str
    journal_id: bytes
    last_sequence: int
    last_digest: bytes
    last_event_ms: int
    software: str
    config_digest: bytes
    lock_sentence: str

    @property
    def locked(self) -> bool:
        return self.lock_sentence != ""


class Units:
    def __init__(self, store: Store, tables: Tables, alarms: Alarms) -> None:
        self._store = store
        self._tables = tables
        self._alarms = alarms
        self.successions = Successions(store, alarms)

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
        return self.get(hello.unit_id)

    def table_for(self, unit_id: str) -> str | None:
        """The table a unit may be enrolled for: the one it serves, or is permitted to take over."""
        return self.successions.permitted_table(unit_id) or self._tables.table_of_unit(unit_id)

    def find(self, unit_id: str) -> Unit | None:
        row = self._store.row("SELECT * FROM units WHERE unit_id = ?", (unit_id,))
        return Unit(*row) if row else None

    def get(self, unit_id: str) -> Unit:
        unit = self.find(unit_id)
        if unit is None:
            raise LedgerError(f"There is no unit {unit_id}.")
        return unit

    def of_table(self, table_id: str) -> Unit | None:
        row = self._store.row("SELECT * FROM units WHERE table_id = ?", (table_id,))
        return Unit(*row) if row else None

    def advance(self, unit: Unit, event: Event) -> None:
        """The event is taken in: the next one follows it."""
        self._store.execute(
            "UPDATE units SET last_sequence = ?, last_digest = ?, last_event_ms = ?"
            " WHERE unit_id = ?",
            (event.sequence, event.digest, self._store.now_ms, unit.unit_id),
        )

    def note_software(self, unit: Unit, software: str) -> None:
        self._store.execute(
            "UPDATE units SET software = ? WHERE unit_id = ?", (software, unit.unit_id)
        )

    def note_settings(self, unit: Unit, digest: bytes) -> None:
        self._store.execute(
            "UPDATE units SET config_digest = ? WHERE unit_id = ?", (digest, unit.unit_id)
        )

    def lock(self, unit: Unit, sentence: str, origin: Origin) -> None:
        """Nothing more is taken from this unit until a person releases it."""
        self._store.execute(
            "UPDATE units SET lock_sentence = ? WHERE unit_id = ?", (sentence, unit.unit_id)
        )
        self._alarms.record("FORK", sentence, unit.table_id, origin)

    def release(self, unit_id: str, sentence: str) -> None:
        """A person looked into it and lets the unit speak again; the reason is recorded."""
        unit = self.get(unit_id)
        if not sentence:
            raise LedgerError("Releasing a unit needs a reason.")
        with self._store.transaction():
            self._store.execute("UPDATE units SET lock_sentence = '' WHERE unit_id = ?", (unit_id,))
            self._alarms.record("RELEASED", sentence, unit.table_id, Origin(unit_id))

    def _problem(
        self, hello: Hello, table_id: str | None, known: Unit | None
    ) -> ProtocolError | None:
        name, code = hello.unit_id, ErrorCode.UNKNOWN_UNIT
        if table_id is None:
            return ProtocolError(code, f"No table here is served by a unit {name}.")
        if known is None:
            return _stranger_problem(hello)
        if known.unit_id != name:
            return ProtocolError(code, f"Table {table_id} is served by unit {known.unit_id}.")
        if known.locked:
            return ProtocolError(ErrorCode.LOCKED, f"Unit {name} is locked: {known.lock_sentence}")
        if known.journal_id != hello.journal_id:
            sentence = f"Unit {name} came with another journal than the one known here."
            return ProtocolError(ErrorCode.FORK, sentence)
        return _history_problem(hello, known)

    def _succeeds(self, hello: Hello) -> bool:
        """A person has permitted that this unit goes on at its table with a new journal."""
        permit = self.successions.permit_for(hello)
        before = self.of_table(permit.table_id) if permit else None
        if permit is None or before is None or before.journal_id == hello.journal_id:
            return False
        self.successions.use(permit, hello, before)
        self._store.execute("DELETE FROM units WHERE table_id = ?", (permit.table_id,))
        if before.unit_id != hello.unit_id:
            self._store.execute(
                "UPDATE tables SET board_serial = ? WHERE id = ?", (hello.unit_id, permit.table_id)
            )
        self._adopt(hello, permit.table_id)
        return True

    def _turn_away(
        self, hello: Hello, table_id: str, known: Unit | None, problem: ProtocolError
    ) -> None:
        origin = Origin(hello.unit_id)
        same_journal = known is not None and known.journal_id == hello.journal_id
        if known is not None and same_journal and problem.code == ErrorCode.FORK:
            self.lock(known, problem.sentence, origin)
        else:
            self._alarms.record_once(problem.code.name, problem.sentence, table_id, origin)

    def _adopt(self, hello: Hello, table_id: str) -> None:
        self._store.execute(
            "INSERT INTO units VALUES (?, ?, ?, 0, ?, 0, ?, ?, '')",
            (
                hello.unit_id,
                table_id,
                hello.journal_id,
                first_digest(hello.journal_id),
                hello.software,
                hello.config_digest,
            ),
        )


def _stranger_problem(hello: Hello) -> ProtocolError | None:
    """A unit never seen here must not hold acknowledgements from a ledger: they were not ours."""
    if hello.acked_sequence == 0:
        return None
    sentence = f"Unit {hello.unit_id} was acknowledged by another ledger than this one."
    return ProtocolError(ErrorCode.GAP, sentence)


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
        return ProtocolError(ErrorCode.GAP, sentence)
    return None
