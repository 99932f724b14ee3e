"""The ledger for someone who only reads: an audit, an explanation, an export.

It is opened beside the manager that writes to it, or where none serves; nothing can be
changed through it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manager.ledger.engines.archives import FOLDER as ARCHIVE_FOLDER
from manager.ledger.engines.places import reader_at
from manager.ledger.store.ledger import Ledger
from manager.ledger_place import existing_ledger


@contextmanager
def ledger_to_read(data: Path) -> Iterator[Ledger]:
    ledger = Ledger(reader_at(existing_ledger(data), data / ARCHIVE_FOLDER))
    try:
        yield ledger
    finally:
        ledger.close()
