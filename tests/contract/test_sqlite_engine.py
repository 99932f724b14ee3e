"""The SQLite engine keeps the contract, on a real file and on a disk that loses its power."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from manager.ledger.engines.engine import Engine, StorageFailed, Tail
from manager.ledger.engines.relations import BALANCES, RELATIONS
from manager.ledger.engines.sqlite_engine import SqliteEngine
from sim.storage.disk import SimDisk
from tests.contract.engine_contract import (
    EMPTY,
    EngineContract,
    commits_beside_lookups,
    digest_of,
    step,
)

FILE = "ledger.sqlite"
COMMITS = 12


class RealFile:
    def __init__(self, folder: Path) -> None:
        self.path = str(folder / FILE)

    def engine(self) -> Engine:
        return SqliteEngine(self.path)

    def kill(self, engine: Engine) -> None:
        engine.close()  # what is left of a lock when its process is gone: nothing


class CutDisk:
    def __init__(self, disk: SimDisk) -> None:
        self.disk = disk

    def engine(self) -> Engine:
        return SqliteEngine(FILE, self.disk.vfs_name)

    def kill(self, engine: Engine) -> None:
        self.disk.cut_power()
        engine.close()
        self.disk.restore()


class TestOnARealFile(EngineContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> RealFile:
        return RealFile(tmp_path)


class TestOnADiskThatIsCut(EngineContract):
    @pytest.fixture
    def rig(self) -> Iterator[CutDisk]:
        disk = SimDisk(1)
        yield CutDisk(disk)
        disk.close()


def test_rows_are_looked_up_beside_a_commit(tmp_path: Path) -> None:
    engine = SqliteEngine(str(tmp_path / FILE))
    assert engine.acquire() == 1
    commits_beside_lookups(engine)
    engine.close()


def test_the_schema_has_the_relations_columns(tmp_path: Path) -> None:
    engine = SqliteEngine(str(tmp_path / FILE))
    assert engine.acquire() == 1
    for relation in RELATIONS.values():
        rows = engine.connection.execute(f"PRAGMA table_info({relation.name})")
        found = [(name, kind.lower(), key) for _, name, kind, _, _, key in rows]
        places = [*range(1, relation.key_count + 1), *[0] * len(relation.columns)]
        wanted = [
            (*pair, place) for pair, place in zip(relation.types.items(), places, strict=False)
        ]
        assert found == wanted, relation.name
    engine.close()


def test_what_is_append_only_says_so_to_everybody(tmp_path: Path) -> None:
    engine = SqliteEngine(str(tmp_path / FILE))
    assert engine.acquire() == 1
    triggers = {
        name for (name,) in engine.connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
        )
    }  # fmt: skip
    for relation in RELATIONS.values():
        names = {f"{relation.name}_refuse_update", f"{relation.name}_refuse_delete"}
        assert names <= triggers if relation.append_only else not names & triggers, relation.name
    engine.close()


def test_commits_are_synced_in_full(tmp_path: Path) -> None:
    engine = SqliteEngine(str(tmp_path / FILE))
    assert engine.acquire() == 1
    assert engine.connection.pragma("journal_mode") == "wal"
    assert engine.connection.pragma("synchronous") == 2  # FULL: NORMAL loses acknowledged money
    engine.close()


def test_a_reader_can_change_nothing(tmp_path: Path) -> None:
    engine = SqliteEngine(str(tmp_path / FILE))
    assert engine.acquire() == 1
    reader = engine.reader()
    with pytest.raises(StorageFailed, match="readonly"):
        list(reader.rows("DELETE FROM meta"))
    reader.close()
    engine.close()


def test_a_full_disk_is_a_failure_and_leaves_the_batch_out() -> None:
    disk = SimDisk(2)
    engine = SqliteEngine(FILE, disk.vfs_name)
    assert engine.acquire() == 1
    engine.load()
    engine.commit(step(EMPTY))
    disk.size_max_bytes = 0
    with pytest.raises(StorageFailed):
        engine.commit(step(Tail(1, digest_of(1)), (BALANCES, ("players", 1))))
    disk.size_max_bytes = None
    assert engine.find(BALANCES, {}) == []
    engine.close()
    disk.close()


@pytest.mark.parametrize("seed", range(40))
def test_no_power_cut_loses_or_halves_a_batch(seed: int) -> None:
    chance = random.Random(seed)
    disk = SimDisk(chance.getrandbits(32))
    acked = 0
    for _ in range(4):
        disk.cut_after(chance.randint(1, 120))
        acked = max(acked, _commit_until_cut(disk))
        disk.cut_power()
        disk.restore()
        acked = max(acked, _check(disk, acked))
    disk.close()


def _commit_until_cut(disk: SimDisk) -> int:
    engine, done = SqliteEngine(FILE, disk.vfs_name), 0
    try:
        engine.acquire()
        tail = engine.load().tail or EMPTY
        done = tail.number
        for number in range(done + 1, done + COMMITS):
            engine.commit(step(tail, (BALANCES, ("players", number))))
            tail, done = Tail(number, digest_of(number)), number
    except Exception:
        if disk.powered:
            raise
    finally:
        engine.close()
    return done


def _check(disk: SimDisk, acked: int) -> int:
    engine = SqliteEngine(FILE, disk.vfs_name)
    assert engine.acquire() == 1
    loaded = engine.load()
    number = loaded.tail.number if loaded.tail else 0
    assert number >= acked
    assert list(loaded.rows[BALANCES.name]) == ([("players", number)] if number else [])
    assert engine.connection.pragma("integrity_check") == "ok"
    engine.close()
    return number


def test_a_damaged_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_bytes(b"this is no database, whatever its name says" * 50)
    with pytest.raises(Exception, match="damaged"):
        SqliteEngine(str(path)).acquire()
    foreign = apsw.Connection(str(tmp_path / "foreign.sqlite"))
    foreign.execute("CREATE TABLE something (a)")
    foreign.close()
    with pytest.raises(Exception, match="not made by Underfelt"):
        SqliteEngine(str(tmp_path / "foreign.sqlite")).acquire()
