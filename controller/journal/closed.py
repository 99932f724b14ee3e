"""What stands where a journal should be, on a unit that has no good one.

It has the journal's parts, empty and faulty from the start, so that nobody else has to ask whether
there is a journal: every call is refused with the sentence for the panel.
"""

from __future__ import annotations

from controller.journal.connection import JournalDisk
from controller.journal.journal import Journal
from controller.journal.outbox import Outbox
from controller.journal.record_table import RecordTable
from controller.journal.side_tables import BesideRecords
from controller.journal.state_check import Memory
from controller.journal.state_image import Baseline
from protocol.proof import chain


class ClosedJournal(Journal):
    """Stands where a journal should be: records nothing, and says why to everyone who asks."""

    def __init__(self, sentence: str) -> None:
        self._disk = disk = _NoDisk(sentence)
        self._memory = memory = _NoMemory()
        self.journal_id = bytes(chain.JOURNAL_ID_BYTES)
        self.records = RecordTable(disk, 0, Baseline())
        self.outbox = Outbox(disk, self.records, memory, 0, capacity_records_max=1)
        self.beside = BesideRecords(disk, memory)

    def close(self) -> None:
        return None


class _NoDisk(JournalDisk):
    def __init__(self, sentence: str) -> None:
        self._fault = sentence


class _NoMemory(Memory):
    def __init__(self) -> None:
        self.repair = ""
        self.last_sequence = 0
