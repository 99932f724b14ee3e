"""The unit's journal: every event, durable before anything acts on it.

It alone knows what has been recorded, what the manager has acknowledged and what may be forgotten.
All calls block on the disk; the caller runs them on the disk's worker. After any fault of the
disk the journal stays faulty until it is opened again: nobody can say what a failed sync left
behind, so nothing is ever tried twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import apsw

from controller import journal_file
from controller.critical import Baseline, CriticalState
from controller.journal_file import JournalFault
from controller.journal_records import Entry, JournalRecord, Salvaged, StoredSettings, record_of
from controller.memory import Memory
from protocol import chain, events, profile
from protocol.errors import ProtocolError
from protocol.rows import Counters
from protocol.settings import settings_digest

__all__ = ["Entry", "Journal", "JournalFault", "JournalRecord", "Salvaged", "StoredSettings"]

# What may wait for the manager, and what stays on the unit afterwards: a day of play, about 10 MB.
CAPACITY_RECORDS_MAX: Final = 50_000
RETAINED_RECORDS_MAX: Final = 20_000
# A round that was under way when the journal filled up can still be finished and recorded.
RESERVE_RECORDS: Final = 1_000
TRIM_RECORDS_MAX: Final = 500  # in one go, so that no press waits for a long clean-up
WARN_PERCENT: Final = 80

# A kind and a body that no record has: what the dealer pressed so far.
Moment = tuple[int, dict[int, Any]]

_COLUMNS: Final = "sequence, kind, body, monotonic_ms, wall_ms, digest"


class Journal:
    """One journal file, opened by `Journal.open`."""

    def __init__(self, connection: apsw.Connection, capacity_records_max: int) -> None:
        self._connection = connection
        self._fault: str | None = None  # why nothing more may be trusted
        self.capacity_records_max = capacity_records_max
        self.journal_id: bytes = self._value("SELECT journal_id FROM meta")
        self.acked_sequence: int = self._value("SELECT sequence FROM acked")
        self._acked_stored = self.acked_sequence
        self._anchor_sequence: int = self._value("SELECT sequence FROM anchor")
        self.baseline = journal_file.baseline_of(connection)
        self._memory = Memory(connection, self.journal_id)
        self._memory.acknowledged(self.acked_sequence)
        self._memory.check_at_start()

    @classmethod
    def open(
        cls,
        path: str,
        vfs: str | None = None,
        new_journal_id: Callable[[int], bytes] = os.urandom,
        created_wall_ms: int = 0,
        capacity_records_max: int = CAPACITY_RECORDS_MAX,
        wal_bytes: int = journal_file.WAL_BYTES,
        unit_id: str = "",
        must_exist: bool = False,
    ) -> Journal:
        """Opens and checks the whole journal, or makes a new one where there may be none."""
        try:
            connection = journal_file.connect(path, vfs)
        except apsw.Error as error:
            raise JournalFault(f"The journal cannot be opened: {error}.") from error
        try:
            if journal_file.is_new(connection):
                if must_exist:
                    raise JournalFault("The journal is empty, but this unit has had one.")
                journal_id = new_journal_id(chain.JOURNAL_ID_BYTES)
                journal_file.create(connection, journal_id, unit_id, created_wall_ms, wal_bytes)
            journal_file.check_file(connection, unit_id)
            journal_file.upgrade(connection)
            journal = cls(connection, capacity_records_max)
            journal_file.trust(connection)
            return journal
        except BaseException as error:
            journal_file.abandon(connection)
            if isinstance(error, (apsw.Error, ProtocolError)):
                raise JournalFault(f"The journal cannot be opened: {error}.") from error
            raise

    @property
    def last_sequence(self) -> int:
        return self._memory.last_sequence

    @property
    def last_digest(self) -> bytes:
        return self._memory.last_digest

    # ---- recording ----

    def append(
        self, kind: int, body: dict[int, Any], monotonic_ms: int, wall_ms: int
    ) -> JournalRecord:
        """Records one event; it is durable when this returns.

        A body the manager would refuse is refused here, with a ProtocolError: once durable, it
        would stand in the way of every later event.
        """
        return self.append_many([Entry(kind, body, monotonic_ms, wall_ms)])[0]

    def append_many(
        self, entries: Iterable[Entry], moments: Sequence[Moment] = ()
    ) -> list[JournalRecord]:
        """Records several events, and what is kept beside them: all or none."""
        return self._record(entries, None, moments=moments)

    def adopt_settings(self, body: bytes, monotonic_ms: int, wall_ms: int) -> JournalRecord:
        """Keeps new settings and records their adoption, both or neither."""
        settings = StoredSettings(body, settings_digest(body))
        adopted = events.Config(settings.digest).to_body()
        return self._record([Entry(events.CONFIG, adopted, monotonic_ms, wall_ms)], settings)[0]

    def adopt_salvage(self, entries: Iterable[Entry]) -> list[JournalRecord]:
        """Records what a damaged journal left, and lets go of what was kept of it: both or none."""
        return self._record(entries, None, ends_salvage=True)

    def _record(
        self,
        entries: Iterable[Entry],
        settings: StoredSettings | None,
        ends_salvage: bool = False,
        moments: Sequence[Moment] = (),
    ) -> list[JournalRecord]:
        self._refuse_if_faulty()
        encoded = list(self._chained(entries))
        self._refuse_if_overfull(len(encoded))
        self._memory.take((r.sequence, r.kind, r.body, r.digest) for r, _ in encoded)
        with self._transaction():
            self._connection.executemany(
                f"INSERT INTO record ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (r.sequence, r.kind, body, r.monotonic_ms, r.wall_ms, r.digest)
                    for r, body in encoded
                ),
            )
            if settings is not None:
                self._store_settings(settings)
            if ends_salvage:
                self._connection.execute("DELETE FROM salvage")
            self._connection.executemany(
                "INSERT OR REPLACE INTO moment VALUES (?, ?, ?)",
                ((kind, self.last_sequence, chain.encode_body(body)) for kind, body in moments),
            )
            self._memory.write_copies()
            self._store_acked()
        return [record for record, _ in encoded]

    def _chained(self, entries: Iterable[Entry]) -> Iterator[tuple[JournalRecord, bytes]]:
        """Each entry as a record that follows the one before it, with its encoded body."""
        sequence, digest = self.last_sequence, self.last_digest
        for kind, body, monotonic_ms, wall_ms in entries:
            sequence += 1
            events.parse(kind, body)
            encoded = chain.encode_body(body)
            digest = chain.encoded_event_digest(
                digest, sequence, kind, encoded, monotonic_ms, wall_ms
            )
            yield JournalRecord(sequence, kind, body, monotonic_ms, wall_ms, digest), encoded

    # ---- reading ----

    def records(self, after_sequence: int, limit: int) -> list[JournalRecord]:
        """The next records in order; refused when they were already trimmed, never skipped."""
        self._refuse_if_faulty()
        if after_sequence < self._anchor_sequence:
            raise JournalFault(
                f"Journal records up to {self._anchor_sequence} are no longer kept; "
                f"those after {after_sequence} were asked for."
            )
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM record WHERE sequence > ? ORDER BY sequence LIMIT ?",
            (after_sequence, limit),
        )
        return [record_of(row) for row in rows]

    def last_sequence_of(self, kind: int, before_sequence: int | None = None) -> int:
        """The newest kept record of a kind, before a given one; 0 when there is none."""
        self._refuse_if_faulty()
        before = self.last_sequence + 1 if before_sequence is None else before_sequence
        rows = self._rows(
            "SELECT sequence FROM record WHERE kind = ? AND sequence < ? "
            "ORDER BY sequence DESC LIMIT 1",
            (kind, before),
        )
        return rows[0][0] if rows else 0

    @property
    def first_sequence(self) -> int:
        """The oldest record still kept, or the next one to come."""
        return self._anchor_sequence + 1

    @property
    def backlog(self) -> int:
        """Records the manager has not acknowledged."""
        return self.last_sequence - self.acked_sequence

    @property
    def record_count(self) -> int:
        return self.last_sequence - self._anchor_sequence

    @property
    def nearly_full(self) -> bool:
        return self.backlog * 100 >= self.capacity_records_max * WARN_PERCENT

    @property
    def full(self) -> bool:
        """No new round may start; the one under way can still be recorded."""
        return self.backlog >= self.capacity_records_max

    # ---- the critical state ----

    @property
    def repair(self) -> str:
        """What had to be repaired when the journal was opened, "" when nothing."""
        return self._memory.repair

    def check_memory(self, round_image: bytes) -> str:
        """Compares file, copies and the round in use; "" when they agree, else what was repaired.

        What cannot be repaired from the verified chain is a fault for good.
        """
        self._refuse_if_faulty()
        try:
            return self._memory.check(round_image)
        except JournalFault as fault:
            raise self._latched(str(fault)) from fault
        except (apsw.Error, ProtocolError) as error:
            raise self._latched(f"The journal cannot be checked: {error}.") from error

    def counters_at(self, sequence: int) -> Counters:
        """What was counted up to a record that is not older than the last acknowledged one."""
        self._refuse_if_faulty()
        return self._memory.counters_at(sequence)

    def keep_salvage(self, records: Iterable[Salvaged]) -> None:
        """Keeps what a damaged journal still held until the manager has told where it stands."""
        self._refuse_if_faulty()
        with self._transaction():
            self._connection.executemany(
                "INSERT INTO salvage VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", records
            )

    def salvage(self) -> list[Salvaged]:
        self._refuse_if_faulty()
        rows = self._rows(
            "SELECT journal_id, sequence, kind, body, monotonic_ms, wall_ms, digest, follows "
            "FROM salvage ORDER BY number"
        )
        return [Salvaged(*row) for row in rows]

    # ---- acknowledging and forgetting ----

    def acknowledge(self, sequence: int) -> None:
        """Notes that the manager has committed everything up to here.

        It is stored with the next record rather than at once: a lost acknowledgement costs a
        resend, which the manager recognises, while a sync here would make a press wait.
        """
        self._refuse_if_faulty()
        if sequence > self.last_sequence:
            raise JournalFault(
                f"Record {sequence} was acknowledged, but the last one is {self.last_sequence}."
            )
        self.acked_sequence = max(self.acked_sequence, sequence)
        self._memory.acknowledged(self.acked_sequence)
        if self.record_count > min(RETAINED_RECORDS_MAX, self.capacity_records_max // 2):
            self.trim(TRIM_RECORDS_MAX)

    def trim(self, records_max: int | None = None) -> int:
        """Forgets the oldest acknowledged records and says how many; the chain keeps its anchor.

        The last finished round and everything after it always stays: the table resumes from it.
        """
        self._refuse_if_faulty()
        last_end = self.last_sequence_of(events.ROUND_END)
        last_start = self.last_sequence_of(events.ROUND_START, before_sequence=last_end)
        until = min(last_start - 1, self.acked_sequence)
        if records_max is not None:
            until = min(until, self._anchor_sequence + records_max)
        if until <= self._anchor_sequence:
            return 0
        return self._trim_until(until)

    def _trim_until(self, sequence: int) -> int:
        baseline, digest = self._baseline_at(sequence)
        encoded = baseline.encode()
        with self._transaction():
            self._connection.execute(
                "UPDATE anchor SET sequence = ?, claim_number = ?, digest = ?, baseline = ?, "
                "baseline_digest = ?",
                (
                    sequence,
                    baseline.claim_number,
                    digest,
                    encoded,
                    journal_file.baseline_digest(digest, encoded),
                ),
            )
            self._connection.execute("DELETE FROM record WHERE sequence <= ?", (sequence,))
            self._store_acked()
        trimmed = sequence - self._anchor_sequence
        self._anchor_sequence, self.baseline = sequence, baseline
        return trimmed

    def _baseline_at(self, sequence: int) -> tuple[Baseline, bytes]:
        """Claim numbers and counters outlive the records they came from."""
        state = CriticalState(self.baseline)
        rows = self._rows(
            "SELECT kind, body, digest FROM record WHERE sequence <= ? ORDER BY sequence",
            (sequence,),
        )
        for kind, body, _ in rows:
            state.apply_encoded(kind, body)
        return state.baseline(), rows[-1][2]

    def _store_acked(self) -> None:
        if self._acked_stored != self.acked_sequence:
            self._connection.execute("UPDATE acked SET sequence = ?", (self.acked_sequence,))
            self._acked_stored = self.acked_sequence

    # ---- beside the records ----

    def _store_settings(self, settings: StoredSettings) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO settings VALUES (?, ?, ?)",
            [(copy, settings.body, settings.digest) for copy in (1, 2)],
        )

    def settings(self) -> StoredSettings | None:
        """What was adopted last, from either copy; None before the first time."""
        self._refuse_if_faulty()
        adopted = self._memory.state.config_digest
        if not adopted:
            return None
        for (body,) in self._rows("SELECT body FROM settings ORDER BY copy"):
            if settings_digest(body) == adopted:
                return StoredSettings(body, adopted)
        raise self._latched("The stored table settings were altered or damaged.")

    def moments(self) -> dict[int, list[Moment]]:
        """What was kept beside the records, by the record that it came after."""
        self._refuse_if_faulty()
        found: dict[int, list[Moment]] = {}
        for kind, after, body in self._rows("SELECT * FROM moment ORDER BY kind"):
            try:
                found.setdefault(after, []).append((kind, profile.decode(body)))
            except ProtocolError as error:
                raise self._latched("What was pressed last was altered or damaged.") from error
        return found

    def count_boot(self) -> int:
        """The number of this start of the unit, counted durably from 1."""
        self._refuse_if_faulty()
        with self._transaction():
            self._connection.execute("UPDATE boot SET number = number + 1")
        return int(self._value("SELECT number FROM boot"))

    def close(self) -> None:
        """Closes the file. A faulty journal is let go as it is."""
        if self._fault is not None:
            journal_file.abandon(self._connection)
            return
        try:
            self._store_acked()
            journal_file.disconnect(self._connection)
        except apsw.Error as error:
            journal_file.abandon(self._connection)
            raise self._latched(f"The journal cannot be closed: {error}.") from error

    # ---- the disk ----

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commits at the end; any failure of the file makes the journal faulty for good."""
        try:
            with self._connection:
                yield
        except apsw.Error as error:
            raise self._latched(f"The journal cannot be written: {error}.") from error

    def _rows(self, statement: str, bindings: tuple[int, ...] = ()) -> list[Any]:
        try:
            return self._connection.execute(statement, bindings).fetchall()
        except apsw.Error as error:
            raise self._latched(f"The journal cannot be read: {error}.") from error

    def _value(self, statement: str) -> Any:
        rows = self._rows(statement)
        if len(rows) != 1:
            raise self._latched("The journal's file lacks a row that it must have.")
        return rows[0][0]

    def _refuse_if_faulty(self) -> None:
        if self._fault is not None:
            raise JournalFault(self._fault)

    def _refuse_if_overfull(self, new_count: int) -> None:
        if self.backlog + new_count > self.capacity_records_max + RESERVE_RECORDS:
            raise JournalFault(
                f"The journal holds {self.record_count} records and is full; "
                f"{self.backlog} of them wait for the manager."
            )

    def _latched(self, sentence: str) -> JournalFault:
        self._fault = sentence
        return JournalFault(sentence)
