"""The ledger for someone who only reads: an audit, an explanation, an export.

It is opened beside the manager that writes to it, or where none serves; nothing can be
changed through it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manager.ledger.engines.archives import FOLDER as ARCHIVE_FOLDER
from manager.ledger.engines.archives import refuse_gap
from manager.ledger.engines.places import reader_at
from manager.ledger.store.ledger import Ledger
from manager.ledger_place import existing_ledger


@contextmanager
def ledger_to_read(data: Path, names_gaps: bool = True) -> Iterator[Ledger]:
    """Refuses a ledger whose archives are missing, unless that is what the reader looks for."""
    archives = data / ARCHIVE_FOLDER
    reader = reader_at(existing_ledger(data), archives)
    ledger = Ledger(reader)
    try:
        if names_gaps:
            refuse_gap(reader.parts()[-1], archives)
        yield ledger
    finally:
        ledger.close()
