"""A ledger of version 1 of the schema is opened, proved, explained, corrected and played on.

The file is what that version's own code left (`tests/golden/ledger_v1.sql`): two linked tables, a
win by card, one logged under the key, a fixed pay, and a claim still open.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import apsw
import pytest

from manager.explain import explain
from manager.ledger.audit import audit
from manager.ledger.database import SCHEMA_VERSION, open_database
from manager.ledger.errors import StoreError
from manager.ledger.reasons import ReversalReason, Signed
from manager.ledger.replacement import record_instead
from manager.ledger.reversal import reverse_win
from manager.ledger.store import Store
from protocol import events
from sim.disk import SimDisk
from tests.unit.manager.desk import Clock, Desk, PretendUnit

GOLDEN = (Path(__file__).parents[2] / "golden" / "ledger_v1.sql").read_text("utf-8")
LEDGER = "ledger.sqlite"
TWO = Signed("Ann", "Bob")


def write_version_1(path: str) -> None:
    connection = apsw.Connection(path)
    connection.execute(GOLDEN)
    connection.close()


def facts(connection: apsw.Connection) -> dict[str, list[object]]:
    """Every row of version 1's own tables."""
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").get
    tables = [row for row in names if f"CREATE TABLE {row} (" in GOLDEN]
    return {name: list(connection.execute(f"SELECT * FROM {name}")) for name in sorted(tables)}


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = str(tmp_path / LEDGER)
    write_version_1(file)
    return file


def goes_on(path: str) -> Desk:
    """The manager of today on that file, with the units where they were."""
    desk = Desk(path)
    for unit_id, table_id, journal_id, sequence, digest in desk.store.rows(
        "SELECT unit_id, table_id, journal_id, last_sequence, last_digest FROM units"
    ):
        unit = PretendUnit(unit_id, journal_id, sequence)
        unit.digest = digest
        desk.units[table_id] = unit
    return desk


def test_the_upgraded_ledger_is_sound_and_has_lost_nothing(path: str) -> None:
    """Catches: terms not carried over (drop the INSERT of `_upgrade`), or a version left at 1."""
    before_upgrade = apsw.Connection(path)
    before = facts(before_upgrade)
    before_upgrade.close()
    connection = open_database(path)
    assert connection.pragma("user_version") == SCHEMA_VERSION
    assert facts(connection) == before
    assert audit(Store(connection, Clock())).sound
    triggers = list(connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'"))
    assert ("win_policies_refuse_update",) in triggers
    connection.close()


def test_a_new_ledger_has_the_same_schema_as_an_upgraded_one(path: str) -> None:
    def schema(connection: apsw.Connection) -> set[tuple[str, str]]:
        rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        return {(name, " ".join(sql.split())) for name, sql in rows}

    # What else is in the old file, its manager made beside the ledger.
    assert schema(open_database(":memory:")) <= schema(open_database(path))


def test_terms_are_those_the_jackpot_opened_with(path: str) -> None:
    desk = goes_on(path)
    standing = desk.manager.book.jackpots.standing("main")
    assert standing.terms == desk.manager.book.jackpots.opened_with("main")
    assert (standing.terms.contribution_ppm, standing.terms.award_policy) == (250_001, "sequential")
    assert (standing.pending, standing.stopped) == (None, "")


def test_its_wins_are_explained_to_the_micro_cent(path: str) -> None:
    desk = goes_on(path)
    for number, paid in ((1, 1_000_075), (2, 1_000_065), (3, 30_000)):
        explanation = explain(desk.store, number)
        assert explanation is not None
        assert explanation.agrees
        assert sum(line.amount_cents for line in explanation.win.lines) == paid


def test_play_and_corrections_go_on_where_it_ended(path: str) -> None:
    desk = goes_on(path)
    desk.say("keypad-1", events.Cancel(2, 2))  # the claim that was still open
    desk.end("keypad-1", 2)
    desk.end("touch-1", 2)
    desk.start("touch-1", 3, "1A", "2A")
    desk.win("touch-1", 3, 3, _2A="four-aces")
    reverse_win(desk.manager.book, 1, ReversalReason.WRONG_HAND, TWO)
    record_instead(desk.manager.book, 1, TWO, None)
    assert audit(desk.store).sound
    desk.restart()
    assert audit(desk.store).sound


def test_another_version_is_refused_with_its_number(path: str) -> None:
    connection = apsw.Connection(path)
    connection.pragma("user_version", 3)
    connection.close()
    with pytest.raises(StoreError, match="has version 3, not 2"):
        open_database(path)


def test_a_power_cut_in_the_upgrade_leaves_the_old_ledger_or_the_new_one(path: str) -> None:
    """Catches: an upgrade that is not one transaction."""
    content = Path(path).read_bytes()
    versions = set()
    for operations in range(1, 60):
        disk = SimDisk(operations)
        disk.write_file(LEDGER, content)
        disk.cut_after(operations)
        with contextlib.suppress(StoreError, apsw.Error):
            open_database(LEDGER, disk.vfs_name).close()
        disk.cancel_cut()
        disk.cut_power()
        disk.restore()
        looked_at = apsw.Connection(LEDGER, vfs=disk.vfs_name)
        looked_at.pragma("locking_mode", "exclusive")
        versions.add(looked_at.pragma("user_version"))
        looked_at.close()
        connection = open_database(LEDGER, disk.vfs_name)
        assert audit(Store(connection, Clock())).sound, operations
        connection.close()
        disk.close()
    assert versions == {1, SCHEMA_VERSION}
