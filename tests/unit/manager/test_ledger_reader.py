"""A ledger is read beside the manager that books rounds into it, and as of one moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.audit.audit import audit
from manager.data_folder import LEDGER_NAME
from manager.ledger.errors import LedgerError
from manager.ledger_reader import ledger_to_read
from tests.kit.pretend_books import Books, document

NEWEST = "SELECT max(round_number) FROM transactions"


def test_a_reader_sees_what_is_booked_meanwhile_but_one_moment_stays_as_it_is(
    tmp_path: Path,
) -> None:
    books = Books(str(tmp_path / LEDGER_NAME))
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    with ledger_to_read(tmp_path) as ledger:
        with ledger.snapshot():
            assert ledger.row(NEWEST) == (1,)
            books.end("touch-1", 1)
            books.start("touch-1", 2, "1A")
            assert ledger.row(NEWEST) == (1,)
        assert ledger.row(NEWEST) == (2,)
        assert audit(ledger).sound
    books.store.close()


def test_where_there_is_no_ledger_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="There is no ledger in"), ledger_to_read(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
