"""The unit's journal: every event, durable before anything acts on it.

It alone knows how an event becomes a record that follows the one before it, and what is made
durable together with it: one transaction, one sync. Its parts know the rest: `records`, `outbox`
and what is kept `beside`. All calls block on the disk; the caller runs them on the disk's worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import apsw

from controller.journal import file
from controller.journal.connection import JournalDisk
from controller.journal.file import JournalFault
from controller.journal.ledger_tail import RememberedTail
from controller.journal.outbox import CAPACITY_RECORDS_MAX, Outbox
from controller.journal.record_table import RecordTable
from controller.journal.records import Entry, JournalRecord, Moment, StoredSettings
from controller.journal.side_tables import BesideRecords
from controller.journal.state_check import Memory
from protocol.proof import chain
from protocol.wire import events
from protocol.wire.errors import ProtocolError
from protocol.wire.rows import Counters
from protocol.wire.settings import settings_digest


class Journal:
    """One journal file, opened by `Journal.open`."""

    def __init__(self, connection: apsw.Connection, capacity_records_max: int) -> None:
        self._disk = disk = JournalDisk(connection)
        self.journal_id: bytes = disk.value("SELECT journal_id FROM meta")
        acked_sequence: int = disk.value("SELECT sequence FROM acked")
        anchor_sequence: int = disk.value("SELECT sequence FROM anchor")
        self.records = RecordTable(disk, anchor_sequence, file.baseline_of(connection))
        self._memory = Memory(connection, self.journal_id)
        self._memory.acknowledged(acked_sequence)
        self._memory.check_at_start()
        self.outbox = Outbox(disk, self.records, self._memory, acked_sequence, capacity_records_max)
        self.beside = BesideRecords(disk, self._memory)
        self.tail = RememberedTail(disk)

    @classmethod
    def open(
        cls,
        path: str,
        vfs: str | None = None,
        new_journal_id: Callable[[int], bytes] = os.urandom,
        created_wall_ms: int = 0,
        capacity_records_max: int = CAPACITY_RECORDS_MAX,
        wal_bytes: int = file.WAL_BYTES,
        unit_id: str = "",
        must_exist: bool = False,
    ) -> Journal:
        """Opens and checks the whole journal, or makes a new one where there may be none."""
        try:
            connection = file.connect(path, vfs)
        except apsw.Error as error:
            raise JournalFault(f"The journal cannot be opened: {error}.") from error
        try:
            if file.is_new(connection):
                if must_exist:
                    raise JournalFault("The journal is empty, but this unit has had one.")
                journal_id = new_journal_id(chain.JOURNAL_ID_BYTES)
                file.create(connection, journal_id, unit_id, created_wall_ms, wal_bytes)
            file.check_file(connection, unit_id)
            file.FORMAT.upgrade(connection)
            journal = cls(connection, capacity_records_max)
            file.trust(connection)
            return journal
        except BaseException as error:
            file.abandon(connection)
            if isinstance(error, (apsw.Error, ProtocolError)):
                raise JournalFault(f"The journal cannot be opened: {error}.") from error
            raise

    def close(self) -> None:
        """Closes the file. A faulty journal is let go as it is."""
        self._disk.close(last_words=self._store_told)

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
        adopted = events.Settings(settings.digest).to_body()
        return self._record([Entry(events.SETTINGS, adopted, monotonic_ms, wall_ms)], settings)[0]

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
        self._disk.refuse_if_faulty()
        encoded = list(self._chained(entries))
        self.outbox.refuse_if_overfull(len(encoded))
        self._memory.take((r.sequence, r.kind, r.body, r.digest) for r, _ in encoded)
        with self._disk.transaction():
            self.records.add(encoded)
            if settings is not None:
                self.beside.store_settings(settings)
            if ends_salvage:
                self.beside.end_salvage()
            self.beside.store_moments(moments)
            self._memory.write_copies()
            self._store_told()
        return [record for record, _ in encoded]

    def _store_told(self) -> None:
        """What the manager said since the last record; it may wait for the next one."""
        self.outbox.store_acked()
        self.tail.store()

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

    # ---- the critical state ----

    @property
    def repair(self) -> str:
        """What had to be repaired when the journal was opened, "" when nothing."""
        return self._memory.repair

    def check_memory(self, round_image: bytes) -> str:
        """Compares file, copies and the round in use; "" when they agree, else what was repaired.

        What cannot be repaired from the verified chain is a fault for good.
        """
        self._disk.refuse_if_faulty()
        try:
            return self._memory.check(round_image)
        except JournalFault as fault:
            raise self._disk.latched(str(fault)) from fault
        except (apsw.Error, ProtocolError) as error:
            raise self._disk.latched(f"The journal cannot be checked: {error}.") from error

    def counters_at(self, sequence: int) -> Counters:
        """What was counted up to a record that is not older than the last acknowledged one."""
        self._disk.refuse_if_faulty()
        return self._memory.counters_at(sequence)
