"""A ledger is copied whole: the same rows, the same chain, or nothing."""

from __future__ import annotations

import resource
import stat
from pathlib import Path
from typing import Any

import pytest

from manager.audit.audit import audit
from manager.ledger.engines import postgres_copy
from manager.ledger.engines.engine import Tail
from manager.ledger.engines.moving import copy_ledger, remove_copy
from manager.ledger.engines.places import database_of, engine_at
from manager.ledger.engines.relations import RELATIONS
from manager.ledger.engines.sqlite_copy import UNFINISHED
from manager.ledger.errors import StoreError
from manager.ledger.store.store import Store
from tests.kit.pretend_units import Clock, Desk, desk_with_a_win


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_with_a_win(str(tmp_path / "ledger.sqlite"))


def test_a_copy_has_every_row_and_the_same_tail(desk: Desk, tmp_path: Path) -> None:
    target = str(tmp_path / "copy.sqlite")
    tail = copy_ledger(desk.store.engine, target)
    assert tail == desk.store.tail()
    copied = Store(engine_at(target), Clock(), target)
    assert copied.tail() == tail
    assert copied.genesis() == desk.store.genesis()
    for relation in RELATIONS.values():
        assert copied.find(relation, {}) == desk.store.find(relation, {}), relation.name
    assert audit(copied).sound
    copied.close()


def test_no_ledger_is_written_over(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "copy.sqlite"
    target.write_bytes(b"somebody's")
    with pytest.raises(StoreError, match="already"):
        copy_ledger(desk.store.engine, str(target))
    assert target.read_bytes() == b"somebody's"


@pytest.mark.parametrize("bytes_max", range(0, 400_000, 20_000))
def test_a_copy_that_finds_no_room_leaves_nothing(
    desk: Desk, tmp_path: Path, bytes_max: int
) -> None:
    """Catches: half a copy, which the next try takes for a ledger and refuses to write over."""
    (tmp_path / "other").mkdir()
    target = tmp_path / "other" / "copy.sqlite"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, hard))
    try:
        copy_ledger(desk.store.engine, str(target))
    except StoreError:
        assert not any(target.parent.iterdir())
    else:
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    if not target.exists():
        assert copy_ledger(desk.store.engine, str(target)) == desk.store.tail()
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_what_a_power_cut_left_of_a_copy_is_not_taken_for_one(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "copy.sqlite"
    Path(f"{target}{UNFINISHED}").write_bytes(b"half")
    Path(f"{target}{UNFINISHED}-wal").write_bytes(b"of it")
    assert copy_ledger(desk.store.engine, str(target)) == desk.store.tail()
    assert not list(tmp_path.glob(f"*{UNFINISHED}*"))


def test_a_copy_that_is_given_up_leaves_nothing(desk: Desk, tmp_path: Path) -> None:
    target = str(tmp_path / "copy.sqlite")
    copy_ledger(desk.store.engine, target)
    Path(f"{target}-wal").touch()
    remove_copy(target)
    remove_copy(target)  # what is gone stays gone
    assert not any(Path(f"{target}{end}").exists() for end in ("", "-wal", "-shm"))


def test_a_copy_in_a_database_is_removed_there_and_not_as_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a half-made copy that stays in the way of the next move."""
    removed: list[tuple[str, ...]] = []
    monkeypatch.setattr(postgres_copy, "remove_whole", lambda *place: removed.append(place))
    target = "postgresql://manager@db.local/floor"
    remove_copy(target)
    assert removed == [database_of(target)]
    file = tmp_path / "copy.sqlite"
    for suffix in ("", "-wal", "-shm"):
        Path(f"{file}{suffix}").touch()
    remove_copy(str(file))
    assert list(tmp_path.iterdir()) == []
    assert len(removed) == 1


def test_a_ledger_is_copied_into_a_database_whole_and_its_file_is_let_go_of(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a move that tells of a tail, and that has written nothing."""
    written: list[tuple[Any, ...]] = []
    closed: list[str] = []

    def write(
        url: str, ledger_id: bytes, tail: Tail, rows: dict[str, Any], schema: str, writer: str
    ) -> None:
        counts = {name: len(list(each)) for name, each in rows.items()}
        numbers = counts["transactions"], counts["wins"]
        written.append((url, ledger_id, tail, *numbers, schema, writer))

    monkeypatch.setattr(postgres_copy, "write_whole", write)
    engine, reader = desk.store.engine, desk.store.engine.reader()
    close = reader.close
    monkeypatch.setattr(reader, "close", lambda: (closed.append("reader"), close()))
    monkeypatch.setattr(engine, "reader", lambda: reader)
    target = "postgresql://manager@db.local/floor"
    tail = desk.store.tail()
    assert copy_ledger(engine, target, "underfelt_manager") == tail
    url, schema = database_of(target)
    told = (url, engine.load().ledger_id, tail, tail.number, 1, schema, "underfelt_manager")
    assert written == [told]
    assert closed == ["reader"]
