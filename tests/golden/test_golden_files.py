"""The files of format 1: opened, proved, played on, and brought to a made-up version 2.

Each golden dump is what the product's own code left (`tests.golden.files`); it stays as it is when
that code changes, because files like it are out there.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import apsw
import pytest

from controller.journal import file as journal_file
from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from kit.migrations import Format, FormatRefused
from manager.audit.audit import audit
from manager.explain import explain
from manager.identity import store as identity_store
from manager.identity.errors import IdentityError
from manager.identity.registry import Registry
from manager.identity.store import IdentityStore
from manager.ledger.engines import sqlite_engine
from manager.ledger.errors import StoreError
from manager.ledger.store.store import Store
from protocol.wire import events
from sim.storage.disk import SimDisk
from tests.golden.files import JOURNALED, WRITERS, dump, load
from tests.kit.message_samples import JOURNAL_ID, SETTINGS_IN_FULL
from tests.kit.pretend_units import Clock, Desk, PretendUnit


def opened(path: str, vfs: str | None = None) -> sqlite_engine.SqliteEngine:
    engine = sqlite_engine.SqliteEngine(path, vfs)
    engine.acquire()
    return engine


MODULES: dict[str, ModuleType] = {
    "ledger": sqlite_engine,
    "journal": journal_file,
    "identities": identity_store,
}
OPENERS: dict[str, Callable[[str], Any]] = {
    "ledger": lambda path: opened(path),
    "journal": lambda path: Journal.open(path, unit_id="UF-0001"),
    "identities": lambda path: IdentityStore(path, Clock()),
}
REFUSALS = (StoreError, JournalFault, IdentityError, FormatRefused)
NEXT = "CREATE TABLE colours (name TEXT PRIMARY KEY) STRICT; INSERT INTO colours VALUES ('red');"


@pytest.fixture(params=sorted(MODULES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(name: str, tmp_path: Path) -> str:
    file = str(tmp_path / f"{name}.sqlite")
    load(name, file)
    return file


@pytest.fixture
def next_version(name: str, monkeypatch: pytest.MonkeyPatch) -> Format:
    """The software of a later day: its format has one more step."""
    today = MODULES[name].FORMAT
    later = dataclasses.replace(today, steps=(*today.steps, NEXT))
    monkeypatch.setattr(MODULES[name], "FORMAT", later)
    return later


def facts(path: str) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """Every table as it is made, and every row in it."""
    connection = apsw.Connection(path)
    tables = dict(
        connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    )
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    rows = {each: list(connection.execute(f"SELECT * FROM {each}")) for (each,) in names}
    connection.close()
    return tables, rows


# -- format 1 --------------------------------------------------------------------------------------


def test_a_new_file_has_the_tables_of_the_golden_one(name: str, path: str, tmp_path: Path) -> None:
    """Catches: a schema that was changed without a new version."""
    new = str(tmp_path / "new.sqlite")
    WRITERS[name](new)
    assert facts(new)[0] == facts(path)[0]


def test_the_golden_ledger_is_sound_and_its_wins_are_explained(tmp_path: Path) -> None:
    load("ledger", path := str(tmp_path / "ledger.sqlite"))
    store = Store(sqlite_engine.SqliteEngine(path), Clock())
    assert audit(store).sound
    for number in (1, 2, 3):
        explanation = explain(store, number)
        assert explanation is not None
        assert explanation.agrees
    assert explain(store, 4) is None
    store.close()


def test_play_goes_on_where_the_golden_ledger_ended(tmp_path: Path) -> None:
    load("ledger", path := str(tmp_path / "ledger.sqlite"))
    desk = Desk(path)
    for unit_id, table_id, journal_id, sequence, digest in desk.store.rows(
        "SELECT unit_id, table_id, journal_id, last_sequence, last_digest FROM units"
    ):
        desk.units[table_id] = PretendUnit(unit_id, journal_id, sequence)
        desk.units[table_id].digest = digest
    desk.say("keypad-1", events.Cancel(2, 2))  # the claim that was still open
    desk.end("keypad-1", 2)
    desk.start("touch-1", 2, "1A", "2A")
    desk.win("touch-1", 2, 2, _2A="four-aces")
    desk.restart()
    assert audit(desk.store).sound
    desk.store.close()


def test_the_golden_journal_is_whole(tmp_path: Path) -> None:
    load("journal", path := str(tmp_path / "journal.sqlite"))
    journal = Journal.open(path, unit_id="UF-0001", must_exist=True)
    assert journal.journal_id == JOURNAL_ID
    kinds = [record.kind for record in journal.records.after(0, 100)]
    assert kinds == [events.SETTINGS, *(body.KIND for body in JOURNALED)]
    kept = journal.beside.settings()
    assert kept is not None
    assert kept.body == SETTINGS_IN_FULL.encode()
    assert len(journal.beside.moments()) == 1
    journal.close()


def test_the_golden_identities_say_who_may_speak(tmp_path: Path) -> None:
    load("identities", path := str(tmp_path / "identities.sqlite"))
    registry = Registry(IdentityStore(path, Clock()))
    assert "stolen" in registry.why_refused("ab" * 32, "UF-0001")
    assert registry.seal_keys() == [("UF-0001", bytes(range(32)))]


# -- a made-up version 2 ---------------------------------------------------------------------------


def test_an_old_file_comes_to_the_next_version_with_all_it_held(
    path: str, name: str, next_version: Format
) -> None:
    """Catches: a step that is not taken, or a version that stays behind."""
    tables, rows = facts(path)
    OPENERS[name](path).close()
    OPENERS[name](path).close()  # a second time there is nothing to do
    later_tables, later_rows = facts(path)
    assert later_tables == tables | {"colours": later_tables["colours"]}
    state = ("state_a", "state_b")  # the journal's images of what the records say
    assert {each: later_rows[each] for each in rows if each not in state} == {
        each: rows[each] for each in rows if each not in state
    }
    assert later_rows["colours"] == [("red",)]
    connection = apsw.Connection(path)
    assert connection.pragma("user_version") == next_version.version == 2
    connection.close()


def test_a_file_of_the_next_version_is_refused_today(
    path: str, name: str, next_version: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: older software that writes into a file it does not understand."""
    OPENERS[name](path).close()
    before = dump(path)
    monkeypatch.undo()
    with pytest.raises(REFUSALS, match="has version 2; this software knows 1 to 1"):
        OPENERS[name](path)
    assert dump(path) == before


def test_a_power_cut_leaves_the_old_ledger_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: an upgrade that is not one transaction."""
    load("ledger", path := str(tmp_path / "ledger.sqlite"))
    later = dataclasses.replace(sqlite_engine.FORMAT, steps=(*sqlite_engine.FORMAT.steps, NEXT))
    monkeypatch.setattr(sqlite_engine, "FORMAT", later)
    content = Path(path).read_bytes()
    versions = set()
    for operations in range(1, 40):
        disk = SimDisk(operations)
        disk.write_file("ledger.sqlite", content)
        disk.cut_after(operations)
        with contextlib.suppress(StoreError, apsw.Error):
            opened("ledger.sqlite", disk.vfs_name).close()
        disk.cancel_cut()
        disk.cut_power()
        disk.restore()
        looked_at = apsw.Connection("ledger.sqlite", vfs=disk.vfs_name)
        looked_at.pragma("locking_mode", "exclusive")
        versions.add(looked_at.pragma("user_version"))
        looked_at.close()
        store = Store(sqlite_engine.SqliteEngine("ledger.sqlite", disk.vfs_name), Clock())
        assert store.rows("SELECT name FROM colours") == [("red",)]
        assert audit(store).sound, operations
        store.close()
        disk.close()
    assert versions == {1, 2}
