"""What the manager has acknowledged, what still waits for it, and what may be forgotten.

It alone knows how many records a unit keeps, and when no new round may start because too many wait.
"""

from __future__ import annotations

from typing import Final

from controller.journal.connection import JournalDisk
from controller.journal.file import JournalFault
from controller.journal.record_table import RecordTable
from controller.journal.state_check import Memory
from protocol.wire import events

# What may wait for the manager, and what stays on the unit afterwards: a day of play, about 10 MB.
CAPACITY_RECORDS_MAX: Final = 50_000
RETAINED_RECORDS_MAX: Final = 20_000
# A round that was under way when the journal filled up can still be finished and recorded.
RESERVE_RECORDS: Final = 1_000
TRIM_RECORDS_MAX: Final = 500  # in one go, so that no press waits for a long clean-up
WARN_PERCENT: Final = 80


class Outbox:
    def __init__(
        self,
        disk: JournalDisk,
        records: RecordTable,
        memory: Memory,
        acked_sequence: int,
        capacity_records_max: int,
    ) -> None:
        self._disk = disk
        self._records = records
        self._memory = memory
        self.acked_sequence = acked_sequence
        self._acked_stored = acked_sequence
        self.capacity_records_max = capacity_records_max

    # ---- how full it is ----

    @property
    def backlog(self) -> int:
        """Records the manager has not acknowledged."""
        return self._memory.last_sequence - self.acked_sequence

    @property
    def record_count(self) -> int:
        """Records that are kept, acknowledged or not."""
        return self._memory.last_sequence + 1 - self._records.first_sequence

    @property
    def nearly_full(self) -> bool:
        return self.backlog * 100 >= self.capacity_records_max * WARN_PERCENT

    @property
    def full(self) -> bool:
        """No new round may start; the one under way can still be recorded."""
        return self.backlog >= self.capacity_records_max

    def refuse_if_overfull(self, new_count: int) -> None:
        if self.backlog + new_count > self.capacity_records_max + RESERVE_RECORDS:
            raise JournalFault(
                f"The journal holds {self.record_count} records and is full; "
                f"{self.backlog} of them wait for the manager."
            )

    # ---- acknowledging and forgetting ----

    def acknowledge(self, sequence: int) -> None:
        """Notes that the manager has committed everything up to here.

        It is stored with the next record rather than at once: a lost acknowledgement costs a
        resend, which the manager recognises, while a sync here would make a press wait.
        """
        self._disk.refuse_if_faulty()
        last_sequence = self._memory.last_sequence
        if sequence > last_sequence:
            raise JournalFault(
                f"Record {sequence} was acknowledged, but the last one is {last_sequence}."
            )
        self.acked_sequence = max(self.acked_sequence, sequence)
        self._memory.acknowledged(self.acked_sequence)
        if self.record_count > min(RETAINED_RECORDS_MAX, self.capacity_records_max // 2):
            self.trim(TRIM_RECORDS_MAX)

    def trim(self, records_max: int | None = None) -> int:
        """Forgets the oldest acknowledged records and says how many.

        The last finished round and everything after it always stays: the table resumes from it.
        """
        self._disk.refuse_if_faulty()
        last_end = self._records.last_sequence_of(events.ROUND_END)
        last_start = self._records.last_sequence_of(events.ROUND_START, before_sequence=last_end)
        until = min(last_start - 1, self.acked_sequence)
        if records_max is not None:
            until = min(until, self._records.first_sequence - 1 + records_max)
        if until < self._records.first_sequence:
            return 0
        with self._disk.transaction():
            trimmed = self._records.forget_until(until)
            self.store_acked()
        return trimmed

    def store_acked(self) -> None:
        """Together with whatever else is being written."""
        if self._acked_stored != self.acked_sequence:
            self._disk.connection.execute("UPDATE acked SET sequence = ?", (self.acked_sequence,))
            self._acked_stored = self.acked_sequence
