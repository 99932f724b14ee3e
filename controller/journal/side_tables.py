"""What the journal's file keeps beside the records.

The table's settings, what the dealer has pressed so far, the number of the unit's starts, and what
a damaged journal left. What belongs to a record is written in that record's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from controller.journal.connection import JournalDisk
from controller.journal.records import Moment, Salvaged, StoredSettings
from controller.journal.state_check import Memory
from protocol.proof import chain
from protocol.wire import profile
from protocol.wire.errors import ProtocolError
from protocol.wire.settings import settings_digest


class BesideRecords:
    def __init__(self, disk: JournalDisk, memory: Memory) -> None:
        self._disk = disk
        self._memory = memory

    # ---- settings ----

    def store_settings(self, settings: StoredSettings) -> None:
        """Within the transaction of the record that adopts them."""
        self._disk.connection.executemany(
            "INSERT OR REPLACE INTO settings VALUES (?, ?, ?)",
            [(copy, settings.body, settings.digest) for copy in (1, 2)],
        )

    def settings(self) -> StoredSettings | None:
        """What was adopted last, from either copy; None before the first time."""
        self._disk.refuse_if_faulty()
        adopted = self._memory.state.settings_digest
        if not adopted:
            return None
        for (body,) in self._disk.rows("SELECT body FROM settings ORDER BY copy"):
            if settings_digest(body) == adopted:
                return StoredSettings(body, adopted)
        raise self._disk.latched("The stored table settings were altered or damaged.")

    # ---- moments ----

    def store_moments(self, moments: Sequence[Moment]) -> None:
        """Within the transaction of the records they come with."""
        if not moments:
            return  # as for nearly every record
        self._disk.connection.executemany(
            "INSERT OR REPLACE INTO moment VALUES (?, ?, ?)",
            ((kind, self._memory.last_sequence, chain.encode_body(body)) for kind, body in moments),
        )

    def moments(self) -> dict[int, list[Moment]]:
        """What was kept beside the records, by the record that it came after."""
        self._disk.refuse_if_faulty()
        found: dict[int, list[Moment]] = {}
        for kind, after, body in self._disk.rows("SELECT * FROM moment ORDER BY kind"):
            try:
                found.setdefault(after, []).append((kind, profile.decode(body)))
            except ProtocolError as error:
                sentence = "What was pressed last was altered or damaged."
                raise self._disk.latched(sentence) from error
        return found

    # ---- starts ----

    def count_boot(self) -> int:
        """The number of this start of the unit, counted durably from 1."""
        self._disk.refuse_if_faulty()
        with self._disk.transaction():
            self._disk.connection.execute("UPDATE boot SET number = number + 1")
        return int(self._disk.value("SELECT number FROM boot"))

    # ---- what a damaged journal left ----

    def keep_salvage(self, records: Iterable[Salvaged]) -> None:
        """Keeps what a damaged journal still held until the manager has told where it stands."""
        self._disk.refuse_if_faulty()
        with self._disk.transaction():
            self._disk.connection.executemany(
                "INSERT INTO salvage VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", records
            )

    def salvage(self) -> list[Salvaged]:
        self._disk.refuse_if_faulty()
        rows = self._disk.rows(
            "SELECT journal_id, sequence, kind, body, monotonic_ms, wall_ms, digest, follows "
            "FROM salvage ORDER BY number"
        )
        return [Salvaged(*row) for row in rows]

    def end_salvage(self) -> None:
        """Within the transaction of the records that take its place."""
        self._disk.connection.execute("DELETE FROM salvage")
