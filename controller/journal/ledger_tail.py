"""What this unit remembers of the manager's ledger: the tail that it was told last.

Two copies, each with its own digest, written in the transaction of the next record: a power cut in
between forgets one tail for an older one, and no press waits for a sync of its own. A memory that
cannot be read is a fault, never "nothing was told".
"""

from __future__ import annotations

import hashlib

from controller.journal.connection import JournalDisk
from protocol.wire import profile
from protocol.wire.fields import Row
from protocol.wire.rows import LedgerTail

_FORM = Row(LedgerTail)


class RememberedTail:
    def __init__(self, disk: JournalDisk) -> None:
        self._disk = disk
        self.told: LedgerTail | None = self._read()
        self._stored = self.told

    def note(self, tail: LedgerTail) -> None:
        self.told = tail

    def store(self) -> None:
        """Together with whatever else is being written."""
        told = self.told  # the link may note another one meanwhile
        if told is None or told == self._stored:
            return
        body = profile.encode(_FORM.pack(told))
        self._disk.connection.executemany(
            "INSERT OR REPLACE INTO tail VALUES (?, ?, ?)",
            [(copy, body, hashlib.sha256(body).digest()) for copy in (1, 2)],
        )
        self._stored = told

    def _read(self) -> LedgerTail | None:
        rows = self._disk.rows("SELECT body, digest FROM tail ORDER BY copy")
        for body, digest in rows:
            if hashlib.sha256(body).digest() == digest:
                tail: LedgerTail = _FORM.check(profile.decode(body), "tail")
                return tail
        if rows:
            raise self._disk.latched("What this unit remembers of the ledger was damaged.")
        return None
