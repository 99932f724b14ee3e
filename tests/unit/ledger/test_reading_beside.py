"""Auditors read beside a serving manager: from a copy, whole, and gone afterwards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from manager.__main__ import main
from manager.ledger.audit import audit
from manager.ledger.errors import LedgerError
from manager.places import LEDGER_NAME
from manager.reading import COPIES_NAME, CopyDesk, ledger_to_read
from sim.loop import run_virtual
from tests.unit.ledger.books_desk import Books, document
from tests.unit.ledger.serving import serving


@pytest.fixture
def data(tmp_path: Path) -> Path:
    books = Books(str(tmp_path / LEDGER_NAME))
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.store.close()
    return tmp_path


def test_audit_explain_and_export_work_while_the_manager_serves(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "ledger.export")
    commands = (["audit"], ["explain", "1"], ["export", "--out", out])
    with serving(data):
        codes = [main([*words, "--data", str(data)]) for words in commands]
        left = list((data / COPIES_NAME).iterdir())
    said = capsys.readouterr().out
    assert codes == [0, 0, 0]
    assert "ledger transactions" in said
    assert "Win 1" in said
    assert left == [], "a copy stayed behind"
    assert main(["audit-export", out]) == 0


# Catches: a copy by file, or one that does not follow what is committed while it is made.
def test_a_copy_made_while_rounds_are_booked_is_whole_and_has_the_last_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manager.ledger.database.COPIED_PAGES", 2)
    books = Books(str(tmp_path / LEDGER_NAME))
    books.open(document())
    played = 0

    def play_one() -> None:
        nonlocal played
        played += 1
        books.start("touch-1", played, "1A", "2A", "5A")
        books.end("touch-1", played)

    async def play() -> None:
        while True:
            play_one()
            await asyncio.sleep(0)

    async def scene() -> tuple[int, str]:
        for _ in range(20):
            play_one()
        before = played
        playing = asyncio.create_task(play(), name="play")
        name = await CopyDesk(books.store, tmp_path).copy()
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        return before, name

    before, name = run_virtual(scene())
    assert played > before + 5, "nothing was booked while the copy was made"
    with ledger_to_read(tmp_path / COPIES_NAME / name) as store:
        assert audit(store).sound
        newest = store.row("SELECT max(round_number) FROM transactions")
    assert newest is not None
    assert newest[0] >= played - 1
    books.store.close()


def test_copies_of_readers_that_died_are_removed_at_the_next_start(data: Path) -> None:
    stale = data / COPIES_NAME / "abc"
    stale.mkdir(parents=True)
    (stale / LEDGER_NAME).write_bytes(b"old")
    with serving(data):
        assert not stale.exists()


def test_where_there_is_no_ledger_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="There is no ledger in"), ledger_to_read(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
