"""The store appends and proves; it does not edit."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

from manager.ledger.audit import audit
from manager.ledger.database import open_database
from manager.ledger.entries import Entry, Kind, Reference, postings
from manager.ledger.errors import LedgerError, StoreError
from manager.ledger.store import Store
from tests.unit.manager.desk import Clock, Desk


def new_store(path: str = ":memory:") -> Store:
    return Store(open_database(path), Clock())


def opening(amount: int = 500, sentence: str = "Opened.") -> Entry:
    moved = postings(("house/seed", -amount), ("meter/main/house", amount))
    return Entry(Kind.OPENING, Reference(), sentence, moved)


@pytest.mark.parametrize("table", ["transactions", "postings"])
def test_the_ledger_cannot_be_edited(table: str) -> None:
    store = new_store()
    store.append(opening())
    column = "sentence = 'x'" if table == "transactions" else "amount_microcents = 1"
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        store.execute(f"UPDATE {table} SET {column}")
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        store.execute(f"DELETE FROM {table}")


def test_no_row_can_be_slipped_in_or_replaced() -> None:
    store = new_store()
    store.append(opening())
    store.append(opening())
    with pytest.raises(apsw.ConstraintError, match="newest"):
        store.execute("INSERT INTO postings VALUES (1, 3, 'players', 5)")
    with pytest.raises(apsw.ConstraintError, match="in turn"):
        store.execute("INSERT OR REPLACE INTO postings VALUES (2, 1, 'players', 5)")
    with pytest.raises(apsw.ConstraintError):
        store.execute("INSERT OR REPLACE INTO transactions SELECT * FROM transactions")


def test_every_record_of_fact_is_append_only() -> None:
    desk = Desk()
    desk.open_table()
    desk.start("touch-1", 1, "1A", "2A", "9A")  # 9A leaves an alarm
    desk.win("touch-1", 1, 1, s1A="four-aces")
    for table in ("events", "alarms", "wins", "win_lines", "win_envy"):
        assert desk.store.rows(f"SELECT 1 FROM {table}"), table
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            desk.store.execute(f"DELETE FROM {table}")


def test_an_entry_out_of_balance_is_refused() -> None:
    store = new_store()
    moved = postings(("house/seed", -2), ("meter/main/house", 1))
    with pytest.raises(LedgerError, match="out of balance by -1"):
        store.append(Entry(Kind.OPENING, Reference(), "Wrong.", moved))
    assert store.tail()[0] == 0


def test_the_database_itself_refuses_to_go_on_after_an_entry_out_of_balance() -> None:
    store = new_store()
    store.append(opening())
    store.execute("INSERT INTO postings VALUES (1, 3, 'players', 5)")
    with pytest.raises(apsw.ConstraintError, match="does not balance"):
        store.append(opening())


def test_an_entry_needs_a_sentence() -> None:
    with pytest.raises(LedgerError, match="sentence"):
        new_store().append(opening(sentence=""))


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


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    store = new_store(path)
    store.append(opening(500))
    tail = store.tail()
    store.close()
    again = new_store(path)
    assert (again.tail(), again.balance("meter/main/house")) == (tail, 500)
    again.close()


def test_the_connection_is_durable_at_every_commit(tmp_path: Path) -> None:
    connection = open_database(str(tmp_path / "ledger.sqlite"))
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2  # FULL: NORMAL loses acknowledged money
    connection.close()


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
    with pytest.raises(StoreError, match="not an Underfelt ledger"):
        new_store(str(tmp_path / "foreign.sqlite"))


def test_a_ledger_of_another_version_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    connection = open_database(path)
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(StoreError, match="version 99"):
        open_database(path)


def forge(desk: Desk, statement: str) -> None:
    """What a person with the file and some SQL could do: take the triggers away first."""
    triggers = desk.store.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    for (name,) in triggers:
        desk.store.execute(f"DROP TRIGGER {name}")
    desk.store.execute(statement)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE transactions SET sentence = 'Nicer.' WHERE number = 3", "transaction 3 .* digest"),
        ("UPDATE transactions SET commit_ms = 1 WHERE number = 2", "transaction 2 .* digest"),
        ("UPDATE transactions SET kind = 'GIFT' WHERE number = 2", "transaction 2 .* no known"),
        ("UPDATE postings SET amount_microcents = 1 WHERE transaction_number = 2 AND position = 1",
         "transaction 2 .* out of balance"),
        ("DELETE FROM postings WHERE transaction_number = 4", "transaction 4 .* digest"),
        ("DELETE FROM transactions WHERE number = 3", "transaction 3 is missing"),
        ("UPDATE balances SET amount_microcents = 7 WHERE account = 'players'", "of players"),
        ("UPDATE events SET body = x'a0' WHERE sequence = 2", "Event 2 of unit UF-touch-1"),
        ("DELETE FROM events WHERE sequence = 1", "Event 1 of unit"),
        ("UPDATE units SET last_sequence = 1", "not as far"),
    ],
)  # fmt: skip
def test_an_audit_names_the_first_bad_entry(statement: str, sentence: str) -> None:
    desk = Desk()
    desk.open_table()
    desk.start("touch-1", 1, "1A", "2A", "3A")
    desk.win("touch-1", 1, 1, s1A="four-aces")
    assert audit(desk.store).sound
    desk.store.execute("PRAGMA foreign_keys = OFF")
    forge(desk, statement)
    finding = audit(desk.store)
    assert not finding.sound
    assert re.search(sentence, finding.sentence), finding.sentence


def test_a_forged_newest_entry_is_seen_when_the_ledger_is_opened(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "ledger.sqlite"))
    desk.open_table()
    forge(desk, "UPDATE transactions SET sentence = 'Nicer.' WHERE number = 1")
    with pytest.raises(StoreError, match="transaction 1"):
        desk.restart()
