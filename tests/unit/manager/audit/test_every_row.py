"""An audit names whatever was changed, taken away or slipped in, in any column of any relation.

Every value of a ledger with a little of everything is changed by itself, with the triggers dropped.
Mutations that were tried by hand, each caught here: a relation left out of the comparison; events
compared by their digests alone; postings without their places; the moment of a commit not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import cbor2
import pytest

from manager.audit.audit import Finding, audit, image_after
from manager.audit.closing import note_closed, request_for
from manager.intake.seals import SealBook
from manager.ledger.alarm_causes import AlarmCauses
from manager.ledger.book import Book
from manager.ledger.corrections.reasons import Signed
from manager.ledger.corrections.restore import accept_restore
from manager.ledger.engines.relations import EVENTS, NUMBERS, RELATIONS, Relation
from manager.ledger.engines.sqlite_engine import SqliteEngine, open_reader
from manager.ledger.errors import StoreError
from manager.ledger.stamps import Stamp, put_stamp
from manager.ledger.store.changes import NEW
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store
from manager.ledger.swipes import Swipes
from manager.people.people import People
from manager.people.two_people import TwoPeople
from protocol.wire import events
from tests.kit.people import add_people, quick_passwords
from tests.kit.pretend_units import Clock
from tests.kit.small_ledger import write_ledger
from tests.kit.tampering import take_guards_away

LINES_NEW = [NUMBERS["win_lines"], NEW]
CELLS = [(name, column) for name, each in RELATIONS.items() for column in each.columns]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A ledger's file with rows in every relation and nobody to guard them."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    write_ledger(str(path))
    store = Store(SqliteEngine(str(path)), Clock(1_800_000_000_000))
    SealBook(store).register("UF-touch-1", bytes(32))
    Swipes(store).note_wrong("touch-1")
    book = Book(store)
    accept_restore(book, Signed("Pat", "Kim", "The disk broke."))
    people = People(store, quick_passwords())
    operator = add_people(people, Pat="operator")["Pat"]
    asked = {"command": "resume", "jackpot": "main"}
    TwoPeople(store, people, lambda request: "Done.", lambda request: None).ask(operator, asked)
    put_stamp(store, 1, Stamp.NOT_TO_BE_PAID, "Kim", "reversed")
    book.alarms.record("FORK", "Two of them.", "touch-1")
    causes = AlarmCauses(store, book.alarms)
    newest = causes.all()[0]
    causes.acknowledge(newest.key, newest.last.number, "Kim")
    note_closed(store, request_for("2027-01-15", image_after(store, store.tail().number)))
    take_guards_away(store)
    store.close()
    return path.read_bytes()


@pytest.fixture
def file(whole: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(whole)
    return path


def audited(file: Path) -> Finding:
    ledger = Ledger(open_reader(str(file)))
    try:
        return audit(ledger)
    finally:
        ledger.close()


def change(file: Path, statement: str, values: tuple[Any, ...] = ()) -> int:
    connection = apsw.Connection(str(file))
    connection.execute(statement, values)
    changed = connection.changes()
    connection.close()
    return changed


def rows_of(file: Path, relation: Relation) -> Iterator[tuple[Any, ...]]:
    connection = apsw.Connection(str(file))
    yield from connection.execute(f"SELECT * FROM {relation.name}")
    connection.close()


def other(value: Any) -> Any:
    """Another value of the same kind that no row has."""
    if isinstance(value, int):
        return value + 1_000_003
    if isinstance(value, str):
        return value + "x"
    return bytes([value[0] ^ 1]) + value[1:] if value else b"x"


def where(relation: Relation) -> str:
    return " AND ".join(f"{column} = ?" for column in relation.columns[: relation.key_count])


def test_the_ledger_has_rows_in_every_relation_and_is_sound(file: Path) -> None:
    empty = [name for name, each in RELATIONS.items() if not list(rows_of(file, each))]
    assert empty == []
    assert audited(file).sound, audited(file).sentence


@pytest.mark.parametrize(("name", "column"), CELLS)
def test_any_other_value_is_named(file: Path, whole: bytes, name: str, column: str) -> None:
    relation = RELATIONS[name]
    place = relation.place(column)
    rows = list(rows_of(file, relation))
    for row in {rows[0], rows[-1]}:
        file.write_bytes(whole)
        statement = f"UPDATE {name} SET {column} = ? WHERE {where(relation)}"
        assert change(file, statement, (other(row[place]), *relation.key_of(row))) == 1
        finding = audited(file)
        assert not finding.sound, (row, column)
        assert finding.sentence


@pytest.mark.parametrize("name", RELATIONS)
def test_any_row_that_is_taken_away_is_named(file: Path, whole: bytes, name: str) -> None:
    relation = RELATIONS[name]
    for row in list(rows_of(file, relation)):
        file.write_bytes(whole)
        statement = f"DELETE FROM {name} WHERE {where(relation)}"
        assert change(file, statement, relation.key_of(row)) == 1
        assert not audited(file).sound, row


@pytest.mark.parametrize("name", RELATIONS)
def test_a_row_that_is_slipped_in_is_named(file: Path, name: str) -> None:
    relation = RELATIONS[name]
    row = next(rows_of(file, relation))
    marks = ",".join("?" * len(row))
    slipped = tuple(other(value) for value in row)
    assert change(file, f"INSERT INTO {name} VALUES ({marks})", slipped) == 1
    assert not audited(file).sound


def test_any_end_that_is_cut_off_is_named(file: Path, whole: bytes) -> None:
    """With its postings; a cut that also takes back every row beside it is for a signed tail."""
    count = len(list(rows_of(file, RELATIONS["transactions"])))
    for last in range(count):
        file.write_bytes(whole)
        change(file, "DELETE FROM postings WHERE transaction_number > ?", (last,))
        change(file, "DELETE FROM transactions WHERE number > ?", (last,))
        assert not audited(file).sound, last


def test_a_row_changed_together_with_what_the_chain_tells_of_it_is_named(
    file: Path,
) -> None:
    """Catches: changes that are carried along but not hashed."""
    for row in rows_of(file, RELATIONS["transactions"]):
        changes = row[RELATIONS["transactions"].place("changes")]
        told = cbor2.loads(changes) if changes else []
        at = next((at for at, each in enumerate(told) if told[at : at + 2] == LINES_NEW), None)
        if at is not None:
            break
    assert at is not None
    key = tuple(told[at + 2 : at + 4])
    told[at + 2 + RELATIONS["win_lines"].place("amount_cents")] += 1
    forged = cbor2.dumps(told)
    change(file, "UPDATE transactions SET changes = ? WHERE number = ?", (forged, row[0]))
    change(
        file,
        "UPDATE win_lines SET amount_cents = amount_cents + 1"
        " WHERE win_number = ? AND position = ?",
        key,
    )
    assert (
        audited(file).sentence
        == f"Ledger transaction {row[0]} ({row[1]}) does not match its digest."
    )


def test_another_identity_is_named(file: Path) -> None:
    change(file, "UPDATE meta SET value = zeroblob(16)")
    assert "transaction 1 " in audited(file).sentence


def test_a_torn_file_is_refused(file: Path, whole: bytes) -> None:
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match="damaged"):
        audited(file)


def test_the_sentence_says_where_and_what(file: Path) -> None:
    change(file, "UPDATE win_lines SET amount_cents = amount_cents + 1 WHERE win_number = 1")
    assert audited(file).sentence.startswith("Row 1, 1 of win_lines keeps amount_cents as 100")


def test_a_round_start_is_an_event_of_the_ledger(file: Path) -> None:
    """The ledger above is one in which rounds were played, or nothing above proves much."""
    kinds = [row[EVENTS.place("kind")] for row in rows_of(file, EVENTS)]
    assert {events.ROUND_START, events.COMMIT} <= set(kinds)
