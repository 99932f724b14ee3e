"""The records that the journal's file keeps: adding, reading, and forgetting the oldest.

It alone knows where the kept records begin, and what the forgotten ones left behind. What may be
forgotten is `controller.journal.outbox`'s business, what a record says
`controller.journal.journal`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from controller.journal import file
from controller.journal.connection import JournalDisk
from controller.journal.file import JournalFault
from controller.journal.records import JournalRecord, record_of
from controller.journal.state_image import Baseline, CriticalState
from protocol.wire.profile import INT64_MAX

_COLUMNS: Final = "sequence, kind, body, monotonic_ms, wall_ms, digest"


class RecordTable:
    def __init__(self, disk: JournalDisk, anchor_sequence: int, baseline: Baseline) -> None:
        self._disk = disk
        self._anchor_sequence = anchor_sequence
        self.baseline = baseline  # claim numbers and counters up to the anchor

    @property
    def first_sequence(self) -> int:
        """The oldest record still kept, or the next one to come."""
        return self._anchor_sequence + 1

    # ---- reading ----

    def after(self, sequence: int, limit: int) -> list[JournalRecord]:
        """The next records in order; refused when they were already trimmed, never skipped."""
        self._disk.refuse_if_faulty()
        if sequence < self._anchor_sequence:
            raise JournalFault(
                f"Journal records up to {self._anchor_sequence} are no longer kept; "
                f"those after {sequence} were asked for."
            )
        rows = self._disk.rows(
            f"SELECT {_COLUMNS} FROM record WHERE sequence > ? ORDER BY sequence LIMIT ?",
            (sequence, limit),
        )
        return [record_of(row) for row in rows]

    def last_sequence_of(self, kind: int, before_sequence: int = INT64_MAX) -> int:
        """The newest kept record of a kind, before a given one; 0 when there is none."""
        self._disk.refuse_if_faulty()
        rows = self._disk.rows(
            "SELECT sequence FROM record WHERE kind = ? AND sequence < ? "
            "ORDER BY sequence DESC LIMIT 1",
            (kind, before_sequence),
        )
        return rows[0][0] if rows else 0

    def newest_first(self, kind: int) -> Iterator[JournalRecord]:
        """The kept records of a kind, however many others came after the one sought."""
        sequence = self.last_sequence_of(kind)
        while sequence:
            yield self.after(sequence - 1, 1)[0]
            sequence = self.last_sequence_of(kind, before_sequence=sequence)

    # ---- within a transaction of the caller ----

    def add(self, encoded: Iterable[tuple[JournalRecord, bytes]]) -> None:
        """Records with their encoded bodies."""
        self._disk.connection.executemany(
            f"INSERT INTO record ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            (
                (r.sequence, r.kind, body, r.monotonic_ms, r.wall_ms, r.digest)
                for r, body in encoded
            ),
        )

    def forget_until(self, sequence: int) -> int:
        """Lets records go and says how many; the chain keeps its anchor."""
        baseline, digest = self._baseline_at(sequence)
        encoded = baseline.encode()
        connection = self._disk.connection
        connection.execute(
            "UPDATE anchor SET sequence = ?, claim_number = ?, digest = ?, baseline = ?, "
            "baseline_digest = ?",
            (
                sequence,
                baseline.claim_number,
                digest,
                encoded,
                file.baseline_digest(digest, encoded),
            ),
        )
        connection.execute("DELETE FROM record WHERE sequence <= ?", (sequence,))
        count = sequence - self._anchor_sequence
        self._anchor_sequence, self.baseline = sequence, baseline
        return count

    def _baseline_at(self, sequence: int) -> tuple[Baseline, bytes]:
        """Claim numbers and counters outlive the records they came from."""
        state = CriticalState(self.baseline)
        rows = self._disk.rows(
            "SELECT kind, body, digest FROM record WHERE sequence <= ? ORDER BY sequence",
            (sequence,),
        )
        for kind, body, _ in rows:
            state.apply_encoded(kind, body)
        return state.baseline(), rows[-1][2]
