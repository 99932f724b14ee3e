"""A row that is kept otherwise than the chain tells it is named, also one that is gone."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from manager.audit.audit import audit
from manager.ledger.engines.sqlite_engine import open_reader
from manager.ledger.store.ledger import Ledger
from tests.kit.pretend_units import desk_with_a_win
from tests.kit.tampering import take_guards_away


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    desk = desk_with_a_win(str(path))
    take_guards_away(desk.store)
    desk.store.close()
    return path.read_bytes()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("DELETE FROM wins", "Row 1 of wins is told in the chain, but it is gone."),
        ("DELETE FROM units", "Row UF-touch-1 of units is told in the chain, but it is gone."),
        ("UPDATE wins SET number = 9", "Row 9 of wins is kept, but the chain tells of none."),
        ("UPDATE wins SET role = 7", "Row 1 of wins keeps role as 7, but the chain says 2."),
        ("INSERT INTO meta VALUES ('more', x'01')", "The ledger says more about itself than its"),
    ],
)
def test_the_first_row_that_differs_is_named(
    whole: bytes, tmp_path: Path, statement: str, sentence: str
) -> None:
    file = tmp_path / "ledger.sqlite"
    file.write_bytes(whole)
    connection = apsw.Connection(str(file))
    connection.execute(statement)
    connection.close()
    ledger = Ledger(open_reader(str(file)))
    finding = audit(ledger)
    ledger.close()
    assert not finding.sound
    assert sentence in finding.sentence
