"""The unit's critical memory: the state that the records tell, and its two copies in the file.

The chain of records is the authority. It is walked at the start and whenever something does not
agree; copies are repaired from it, never the other way round. A chain that does not verify, or that
intact copies contradict, is a fault: the table must not open.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import apsw

from controller.journal import file, state_image
from controller.journal.file import JournalFault
from controller.journal.state_copies import StateCopies, are_of_this_software, contradiction
from controller.journal.state_image import CriticalState, ImageHead
from protocol.wire.rows import Counters

REPAIRED_AT_START: Final = "A copy of the unit's memory was damaged; it was repaired at the start."
REPAIRED: Final = "The unit's memory was damaged; it was repaired from the journal."


class Memory:
    def __init__(self, connection: apsw.Connection, journal_id: bytes) -> None:
        self._connection = connection
        self._journal_id = journal_id
        self._copies = StateCopies(connection)
        self._acked_sequence = 0
        self.repair = ""  # what had to be repaired at the start
        self.last_sequence, self.last_digest = self._walk()

    def _walk(self) -> tuple[int, bytes]:
        """Rebuilds everything from the chain; returns its end."""
        connection = self._connection
        self.state = CriticalState(file.baseline_of(connection))
        anchor: Any = connection.execute("SELECT sequence, digest FROM anchor").fetchone()
        sequence, digest = anchor
        # After which record the counters had which values, from the last acknowledged one on.
        self._steps: list[tuple[int, Counters]] = [(sequence, self.state.counters)]
        for link in file.walk(connection):
            self.state.apply_encoded(link.kind, link.body)
            sequence, digest = link.sequence, link.digest
            self._note_step(sequence)
        return sequence, digest

    # ---- following the records ----

    def take(self, records: Iterable[tuple[int, int, dict[int, Any], bytes]]) -> None:
        """Records (sequence, kind, body, digest) that are about to be made durable."""
        for sequence, kind, body, digest in records:
            if kind in state_image.STATE_CHANGING_KINDS:
                self.state.apply(kind, body)
            self.last_sequence, self.last_digest = sequence, digest
            self._note_step(sequence)

    def _note_step(self, sequence: int) -> None:
        if self._steps[-1][1] != self.state.counters:
            self._steps.append((sequence, self.state.counters))

    def acknowledged(self, sequence: int) -> None:
        """Nobody will ask for the counters before this record again."""
        while len(self._steps) > 1 and self._steps[1][0] <= sequence:
            del self._steps[0]

    def counters_at(self, sequence: int) -> Counters:
        """What was counted up to this record, which is not older than the last acknowledged."""
        return [counters for after, counters in self._steps if after <= sequence][-1]

    def write_copies(self) -> None:
        """Both, in the transaction of the records they belong to."""
        # Written by themselves they could be ahead of their records after a power cut, which is how
        # records that somebody cut off look.
        self._copies.write(self.image())

    def image(self) -> bytes:
        return self.state.image(self._journal_id, self.last_sequence, self.last_digest)

    # ---- checking ----

    def check_at_start(self) -> None:
        copies = self._copies.read()
        self._refuse_contradiction(copies)
        image = self.image()
        if copies == [image, image]:
            return
        with self._connection:
            self._copies.write(image)
        # Another software may image the same state in other bytes; only a damaged copy is news.
        if are_of_this_software(copies):
            self.repair = REPAIRED_AT_START

    def check(self, round_image: bytes) -> str:
        """Before use: "" when file, copies and the given round agree, else what was repaired."""
        # Pages that are still in memory would only prove that memory agrees with itself.
        self._connection.pragma("shrink_memory")
        copies, image = self._copies.read(), self.image()
        if copies == [image, image] and round_image == state_image.round_image(self.state.round):
            return ""
        # Memory or the copies are damaged. The file is believed against both only if its own chain
        # verifies and ends where memory says it does.
        believed = self.last_sequence, self.last_digest
        file.check_file(self._connection, "")
        self.last_sequence, self.last_digest = self._walk()
        if (self.last_sequence, self.last_digest) != believed:
            raise JournalFault(
                f"The journal's file ends at record {self.last_sequence}, "
                f"but {believed[0]} were recorded."
            )
        self._refuse_contradiction(copies)
        with self._connection:
            self.write_copies()
        return REPAIRED

    def _refuse_contradiction(self, copies: list[bytes | None]) -> None:
        truth = ImageHead("", self._journal_id, self.last_sequence, self.last_digest)
        problem = contradiction(copies, truth)
        if problem:
            raise JournalFault(problem)
