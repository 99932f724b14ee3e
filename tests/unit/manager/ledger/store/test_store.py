"""The store appends and proves; it does not edit."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

from manager.audit.audit import audit
from manager.ledger.engines.places import reader_at
from manager.ledger.engines.relations import ALARMS
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.errors import LedgerError, StoreError
from manager.ledger.store.entries import Entry, Kind, Reference, postings
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store
from tests.kit.pretend_units import Clock, Desk
from tests.kit.tampering import forge, tamper


def new_store(path: str = ":memory:") -> Store:
    return Store(SqliteEngine(path), Clock(), path)


def opening(amount: int = 500, sentence: str = "Opened.") -> Entry:
    moved = postings(("house/seed", -amount), ("meter/main/house", amount))
    return Entry(Kind.OPENING, Reference(), sentence, moved)


@pytest.mark.parametrize("table", ["transactions", "postings"])
def test_the_ledger_cannot_be_edited(table: str) -> None:
    store = new_store()
    store.append(opening())
    column = "sentence = 'x'" if table == "transactions" else "amount_microcents = 1"
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        tamper(store, f"UPDATE {table} SET {column}")
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        tamper(store, f"DELETE FROM {table}")


def test_every_record_of_fact_is_append_only() -> None:
    desk = Desk()
    desk.open_table()
    desk.start("touch-1", 1, "1A", "2A", "9A")  # 9A leaves an alarm
    desk.win("touch-1", 1, 1, s1A="four-aces")
    for table in ("transactions", "alarms", "wins", "win_lines", "win_envy"):
        assert desk.store.rows(f"SELECT 1 FROM {table}"), table
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            tamper(desk.store, f"DELETE FROM {table}")


def test_an_entry_out_of_balance_is_refused() -> None:
    store = new_store()
    moved = postings(("house/seed", -2), ("meter/main/house", 1))
    with pytest.raises(LedgerError, match="out of balance by -1"):
        store.append(Entry(Kind.OPENING, Reference(), "Wrong.", moved))
    assert store.tail()[0] == 0


def test_an_entry_needs_a_sentence() -> None:
    with pytest.raises(LedgerError, match="sentence"):
        new_store().append(opening(sentence=""))


def test_a_text_that_one_of_the_engines_cannot_keep_is_refused_by_both() -> None:
    """PostgreSQL refuses a NUL only at the commit, when the manager could but halt."""
    store = new_store()
    with pytest.raises(LedgerError, match="NUL"):
        store.append(opening(sentence="Opened\0."))
    with pytest.raises(LedgerError, match="NUL"):
        store.put(ALARMS, (1, 0, "", "", 0, "AUDIT", "a\0b"))
    assert store.tail()[0] == 0
    store.append(opening())  # and it goes on


def test_money_held_for_players_is_never_overdrawn_and_nothing_is_left_behind() -> None:
    store = new_store()
    store.append(opening(500))
    moved = postings(("meter/main/house", -501), ("players", 501))
    with pytest.raises(LedgerError, match="overdrawn"):
        store.append(Entry(Kind.AWARD, Reference(), "Too much.", moved))
    assert (store.tail()[0], store.balance("meter/main/house")) == (1, 500)
    assert store.balance("players") == 0


def test_two_ledgers_never_share_a_digest() -> None:
    assert new_store().genesis() != new_store().genesis()


def test_a_ledger_that_lost_its_identity_has_no_beginning(tmp_path: Path) -> None:
    """Catches: an audit or a copy that begins a damaged ledger's chain somewhere."""
    path = str(tmp_path / "ledger.sqlite")
    new_store(path).close()
    connection = apsw.Connection(path)
    for (trigger,) in list(
        connection.execute("SELECT name FROM sqlite_schema WHERE type='trigger'")
    ):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("DELETE FROM meta")
    connection.close()
    with pytest.raises(StoreError, match="lost its own identity"):
        Ledger(reader_at(path)).genesis()


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    store = new_store(path)
    store.append(opening(500))
    tail = store.tail()
    store.close()
    again = new_store(path)
    assert (again.tail(), again.balance("meter/main/house")) == (tail, 500)
    again.close()


def test_a_second_process_is_kept_out(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    store = new_store(path)
    with pytest.raises(StoreError, match="in use"):
        new_store(path)
    store.close()


def test_a_damaged_or_foreign_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"this is no database, whatever its name says" * 50)
    with pytest.raises(StoreError, match="damaged"):
        new_store(str(damaged))
    foreign = apsw.Connection(str(tmp_path / "foreign.sqlite"))
    foreign.execute("CREATE TABLE something (a)")
    foreign.close()
    with pytest.raises(StoreError, match="not made by Underfelt"):
        new_store(str(tmp_path / "foreign.sqlite"))


def test_a_ledger_of_another_version_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    new_store(path).close()
    connection = apsw.Connection(path)
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(StoreError, match="version 99"):
        new_store(path)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE transactions SET sentence = 'Nicer.' WHERE number = 3", "transaction 3 .* digest"),
        ("UPDATE transactions SET commit_ms = 1 WHERE number = 2", "transaction 2 .* digest"),
        ("UPDATE transactions SET kind = 'GIFT' WHERE number = 2", "transaction 2 .* no known"),
        ("UPDATE postings SET amount_microcents = 1 WHERE transaction_number = 3 AND position = 1",
         "transaction 3 .* out of balance"),
        ("DELETE FROM postings WHERE transaction_number = 3", "transaction 3 .* digest"),
        ("DELETE FROM transactions WHERE number = 3", "transaction 3 is missing"),
        ("UPDATE balances SET amount_microcents = 7 WHERE account = 'players'", "Row players"),
        ("UPDATE transactions SET event_body = x'a0' WHERE event_sequence = 2",
         "keeps event 2 otherwise than unit UF-touch-1 said it"),
        ("UPDATE transactions SET event_kind = 9 WHERE event_sequence = 2", "keeps event 2 other"),
        ("UPDATE transactions SET journal_id = x'' WHERE event_sequence = 1", "event that it does"),
        ("UPDATE transactions SET journal_id = x'', event_kind = 0, event_body = x''"
         " WHERE event_sequence = 1", "follows event 1 of unit UF-touch-1, which is gone"),
        ("UPDATE units SET last_sequence = 1", "of units keeps last_sequence as 1"),
    ],
)  # fmt: skip
def test_an_audit_names_the_first_bad_entry(statement: str, sentence: str) -> None:
    desk = Desk()
    desk.open_table()
    desk.start("touch-1", 1, "1A", "2A", "3A")
    desk.win("touch-1", 1, 1, s1A="four-aces")
    assert audit(desk.store).sound
    forge(desk.store, statement)
    finding = audit(desk.store)
    assert not finding.sound
    assert re.search(sentence, finding.sentence), finding.sentence


def test_a_forged_newest_entry_is_seen_when_the_ledger_is_opened(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "ledger.sqlite"))
    desk.open_table()
    forge(desk.store, "UPDATE transactions SET sentence = 'Nicer.' WHERE number = 2")
    with pytest.raises(StoreError, match="transaction 2"):
        desk.restart()
