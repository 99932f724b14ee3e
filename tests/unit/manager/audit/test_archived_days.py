"""Closed days go into files; audits, explanations and exports read on as if nothing had moved.

Mutations that were tried by hand, each caught here: rows removed before the file is compared;
readers that see rows twice after a power cut; guards that stay away.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest

from manager.__main__ import main
from manager.audit import archiving
from manager.audit.archiving import archive_days
from manager.audit.audit import audit
from manager.audit.closing import make_image, newest_image, note_closed, request_for
from manager.explain.statement import explain
from manager.export.accounting import entries_between
from manager.export.backup import back_up, restore
from manager.ledger.engines.archives import (
    FOLDER,
    archives_in,
    joined_files,
    remove_archived,
)
from manager.ledger.engines.places import reader_at
from manager.ledger.engines.relations import EVENTS
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.errors import LedgerError, StoreError
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store
from manager.ledger_reader import ledger_to_read
from sim.storage.disk import SimDisk
from tests.kit.pretend_units import Clock, Desk, settled
from tests.kit.small_ledger import write_ledger
from tests.kit.tampering import take_guards_away

OWN = "SELECT count(*) FROM main.transactions"


class House:
    """A folder with a ledger whose manager is stopped for each archive."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.path = str(data / "ledger.sqlite")
        self.desk = Desk(self.path)
        self.desk.open_table("touch-1")
        self.rounds = 0

    def play(self, rounds: int = 2) -> None:
        for _ in range(rounds):
            self.rounds += 1
            self.desk.start("touch-1", self.rounds, "1A", "2A")
            won = self.desk.win("touch-1", self.rounds, self.rounds, _1A="four-aces")
            self.desk.say("touch-1", settled(won))
            self.desk.end("touch-1", self.rounds)

    def close_day(self, day: str) -> None:
        store = self.desk.store
        image = make_image(self.data, store, day, store.tail().number)
        note_closed(store, request_for(day, image))

    def archive(self, until: str) -> str:
        self.desk.store.close()
        try:
            return archive_days(self.data, self.path, until)
        finally:
            self.desk.restart()


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path)
    house.play()
    house.close_day("2026-11-16")
    house.play()
    return house


def reading(house: House) -> Ledger:
    return Ledger(reader_at(house.path))


def own_count(house: House) -> int:
    ((count,),) = reading(house).rows(OWN)
    return int(count)


def test_an_audit_and_an_explanation_read_archived_days(house: House) -> None:
    whole = audit(house.desk.store)
    told = explain(house.desk.store, 3)
    first = house.archive("2026-11-16")
    assert "Transactions up to" in first
    (archived,) = archives_in(house.data / FOLDER)
    assert own_count(house) == house.desk.store.tail().number - archived.last + 1
    ledger = reading(house)
    assert audit(ledger) == whole == audit(house.desk.store)
    assert explain(ledger, 3) == told == explain(house.desk.store, 3)
    assert explain(ledger, 1) is not None
    assert audit(ledger, (), newest_image(house.data, ledger)).sound


def test_accountants_and_a_backup_get_archived_days_too(
    house: House, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Catches: an export or a backup of what the ledger's own file still has, and no more."""
    house.archive("2026-11-16")
    sums: Counter[str] = Counter()
    for entry in entries_between(reading(house), 0, 1 << 62):
        sums.update(dict(entry.postings))
    assert {name: sum_ for name, sum_ in sums.items() if sum_} == {
        name: amount for name, amount in house.desk.store.balances().items() if amount
    }
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    taken = back_up(house.data, elsewhere / "backup", 0)
    assert restore(elsewhere / "backup", elsewhere / "data") == taken
    with ledger_to_read(elsewhere / "data") as ledger:
        assert audit(ledger) == audit(house.desk.store)


def test_play_and_the_chain_go_on(house: House) -> None:
    house.archive("2026-11-16")
    house.play()
    house.close_day("2026-11-17")
    house.play()
    assert "Transactions" in house.archive("2026-11-17")
    assert len(archives_in(house.data / FOLDER)) == 2
    assert audit(house.desk.store).sound
    assert house.archive("2026-11-17") == "The days up to 2026-11-17 are archived already."
    assert [each.number for each, _ in house.desk.store.recorded()] == list(
        range(1, house.desk.store.tail().number + 1)
    )


def test_an_event_of_an_archived_day_is_still_known(house: House) -> None:
    """A unit that repeats it is acknowledged, not locked for a copy of itself."""
    unit = house.desk.units["touch-1"]
    event = house.desk.store.rows("SELECT * FROM events WHERE sequence = 1")
    house.archive("2026-11-16")
    assert house.desk.store.rows("SELECT * FROM events WHERE sequence = 1") == event
    found = house.desk.store.find(EVENTS, {"unit_id": unit.unit_id, "sequence": 1})
    assert found == event


def test_a_changed_or_missing_archive_is_named(house: House) -> None:
    house.archive("2026-11-16")
    (archived,) = archives_in(house.data / FOLDER)
    archived.path.chmod(0o600)
    connection = apsw.Connection(str(archived.path))
    connection.execute("UPDATE postings SET amount_microcents = 7 WHERE position = 2")
    connection.close()
    assert "is out of balance" in audit(reading(house)).sentence
    away = archived.path.rename(archived.path.with_suffix(".away"))
    assert "Ledger transaction 1 is missing" in audit(reading(house)).sentence
    away.rename(house.data / FOLDER / "000000000009-000000000010.sqlite")
    with pytest.raises(StoreError, match="archive with transaction 1 is missing"):
        reading(house)


@pytest.fixture
def few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archiving, "FILES_MAX", 4)
    monkeypatch.setattr(archiving, "JOINED", 3)


@pytest.mark.usefixtures("few_files")
def test_many_archives_become_few_and_nothing_is_lost(house: House) -> None:
    """Catches: a night's archive too many, after which SQLite opens the ledger no more."""
    assert house.archive("2026-11-16")
    for day in range(17, 30):
        house.play(1)
        house.close_day(f"2026-11-{day}")
        house.archive(f"2026-11-{day}")
        assert len(archives_in(house.data / FOLDER)) < archiving.FILES_MAX
        assert not joined_files(house.data / FOLDER)
    ledger = reading(house)
    assert audit(ledger).sound
    assert audit(ledger).sentence == audit(house.desk.store).sentence
    assert explain(ledger, 1) is not None


@pytest.mark.usefixtures("few_files")
def test_a_power_cut_while_archives_are_joined_leaves_each_entry_seen_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.archive("2026-11-16")
    monkeypatch.setattr(archiving, "joined_files", lambda folder: [])  # the power goes before that
    for day in range(17, 20):
        house.play(1)
        house.close_day(f"2026-11-{day}")
        house.archive(f"2026-11-{day}")
    assert joined_files(house.data / FOLDER)
    assert audit(reading(house)).sound
    monkeypatch.undo()
    house.archive("2026-11-19")
    assert not joined_files(house.data / FOLDER)
    assert audit(reading(house)).sound


@pytest.mark.usefixtures("few_files")
def test_a_joined_file_that_differs_takes_nothing_away(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: files removed for one that was never compared."""
    house.archive("2026-11-16")
    for day in (17, 18):
        house.play(1)
        house.close_day(f"2026-11-{day}")
        house.archive(f"2026-11-{day}")
    house.play(1)
    house.close_day("2026-11-19")
    written = archiving.write_archive

    def without_postings(path: Path, transactions: Any, postings: Any) -> None:
        is_joined = path.parent.name != FOLDER
        written(path, transactions, [] if is_joined else postings)

    monkeypatch.setattr(archiving, "write_archive", without_postings)
    with pytest.raises(LedgerError, match="they stay"):
        house.archive("2026-11-19")
    assert len(archives_in(house.data / FOLDER)) == 4
    assert audit(reading(house)).sound


def test_nobody_serves_or_explains_without_an_archive(house: House) -> None:
    """Catches: sums that lack the archived days without a word, and a traceback for a reason."""
    house.archive("2026-11-16")
    house.desk.store.close()
    (archived,) = archives_in(house.data / FOLDER)
    archived.path.rename(archived.path.with_suffix(".away"))
    with pytest.raises(StoreError, match="archive with transaction 1 is missing"):
        SqliteEngine(house.path).acquire()
    assert main(["explain", "1", "--data", str(house.data)]) == 2
    assert main(["audit", "--data", str(house.data)]) == 1, "it names the entry as a finding"
    assert main(["audit", "--resume", "--data", str(house.data)]) == 2


def test_a_power_cut_before_the_rows_go_leaves_them_seen_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, whole = own_count(house), audit(house.desk.store)

    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(archiving, "_remove", cut)
        with pytest.raises(KeyboardInterrupt):
            house.archive("2026-11-16")
    assert own_count(house) == count
    assert audit(reading(house)) == whole
    assert "Transactions" in house.archive("2026-11-16")
    assert own_count(house) < count
    assert audit(reading(house)) == whole


def test_a_file_that_is_not_the_ledger_removes_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = own_count(house)
    monkeypatch.setattr(archiving, "write_archive", _without_the_last)
    with pytest.raises(LedgerError, match="nothing was removed"):
        house.archive("2026-11-16")
    assert own_count(house) == count


_write = archiving.write_archive


def _without_the_last(path: Path, transactions: object, postings: object) -> None:
    _write(path, list(transactions)[:-1], list(postings))  # type: ignore[call-overload]


def test_it_is_refused_beside_a_manager_and_without_a_closed_day(tmp_path: Path) -> None:
    house = House(tmp_path)
    with pytest.raises(LedgerError, match="stop it first"):
        archive_days(tmp_path, house.path, "2026-11-16")
    with pytest.raises(LedgerError, match="No day up to 2026-11-16 is closed"):
        house.archive("2026-11-16")


def test_a_power_cut_while_rows_go_leaves_all_of_them_or_none(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    write_ledger(str(path))
    content, counts = path.read_bytes(), set()
    guards = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"
    wanted = apsw.Connection(str(path)).execute(guards).get
    for operations in range(1, 60):
        disk = SimDisk(operations)
        disk.write_file("ledger.sqlite", content)
        engine = SqliteEngine("ledger.sqlite", disk.vfs_name)
        assert engine.acquire() == 1
        disk.cut_after(operations)
        with contextlib.suppress(apsw.Error):
            remove_archived(engine.connection, 10)
        disk.cancel_cut()
        disk.cut_power()
        engine.close()
        disk.restore()
        store = Store(SqliteEngine("ledger.sqlite", disk.vfs_name), Clock())
        counts.add(len(store.rows("SELECT 1 FROM transactions WHERE number <= 10")))
        assert store.rows(guards) == [(wanted,)]
        store.close()
        disk.close()
    assert counts == {1, 10}


def test_a_chain_that_does_not_hold_is_not_archived(house: House) -> None:
    """Catches: a forged entry that is moved into a sealed file, and whose own row is removed."""
    count = own_count(house)
    take_guards_away(house.desk.store)
    house.desk.store.close()
    connection = apsw.Connection(house.path)
    connection.execute("UPDATE transactions SET sentence = 'Nothing.' WHERE number = 3")
    connection.close()
    with pytest.raises(LedgerError, match="Transaction 3 does not match its digest"):
        archive_days(house.data, house.path, "2026-11-16")
    assert own_count(house) == count
