"""Where uses of service functions are written down: in the journal, or in a file beside it.

The file is for the one function that must work without a journal, `restore`; what it says goes into
the new journal. What a use means is decided by `controller.service.admission`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from controller.journal.journal import Journal
from hal import aio
from kit.files import write_durably
from protocol.wire import events
from protocol.wire.fields import clipped

LOOK_BACK_MAX = 64
LABEL_BYTES_MAX = 40


class Use(NamedTuple):
    """A service function was asked for: when, which, by whom, and how it ended."""

    wall_ms: int
    function: str
    tech: str
    result: str


class ServiceBook(Protocol):
    def write(self, use: Use) -> None:
        """Durable when it returns."""

    def newest_first(self) -> Iterator[Use]:
        """At most the last LOOK_BACK_MAX."""


class JournalBook:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def write(self, use: Use) -> None:
        label = clipped(use.tech, LABEL_BYTES_MAX)
        body = events.Service(use.function, label, clipped(use.result)).to_body()
        self._journal.append(events.SERVICE, body, aio.ticks_ms(), use.wall_ms)

    def newest_first(self) -> Iterator[Use]:
        records = self._journal.records
        sequence = records.last_sequence_of(events.SERVICE)
        for _ in range(LOOK_BACK_MAX):
            if not sequence:
                return
            record = records.after(sequence - 1, 1)[0]
            service = events.Service.from_body(record.body)
            yield Use(record.wall_ms, service.function, service.tech, service.result)
            sequence = records.last_sequence_of(events.SERVICE, before_sequence=sequence)


class FileBook:
    """One file, rewritten whole; it never holds more than can be looked back on."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, use: Use) -> None:
        kept = [*self.uses(), use][-LOOK_BACK_MAX:]
        write_durably(self._path, "".join(f"{json.dumps(each)}\n" for each in kept))

    def newest_first(self) -> Iterator[Use]:
        return reversed(self.uses())

    def uses(self) -> list[Use]:
        """Oldest first. A file that the card has lost counts nothing.

        Without it a tech could never mend a failing disk, and who may write here needs no PIN.
        """
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
            return [Use(*json.loads(line)) for line in lines]
        except (OSError, ValueError, TypeError):
            return []

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)
