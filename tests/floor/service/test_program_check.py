"""A unit whose program was changed keeps its table closed, and says so to everybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.service.program_check import (
    EVERY_MS,
    ProgramCheck,
    closing_sentence,
    installed_program,
    result_of,
    show_program,
)
from hal import aio
from kit import version
from kit.release_files import MANIFEST, Files, manifest_of
from kit.signed_release import Finding, seeded_digest
from sim.floor.floor import FloorTable
from sim.time.loop import run_virtual
from tests.kit.service_table import READY_MS, open_table, unit_of, uses

RELEASE = "0.2.0-3f2a9c1b77de-py313"
WHOLE = result_of(RELEASE, Finding(""))
CHANGED = result_of(RELEASE, Finding("round.py is damaged"))
CLOSED = closing_sentence(Finding("round.py is damaged"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    release = tmp_path / "release"
    release.mkdir()
    (release / "round.py").write_text("BETS = 7\n")
    (release / MANIFEST).write_bytes(manifest_of(Files(), release))
    return release


def change(folder: Path) -> None:
    (folder / "round.py").write_text("BETS = 8\n")


async def start_again(table: FloorTable) -> None:
    await table.cut_power()
    await table.restore_power()
    await aio.sleep_ms(READY_MS)


async def bets_taken(table: FloorTable) -> int:
    sensor = table.config.board.sensors[0].id
    table.place(sensor)
    await aio.sleep_ms(2000)
    await table.press("START")
    await aio.sleep_ms(1000)
    return table.wager_count()


def test_a_changed_file_keeps_the_table_closed_until_it_is_as_it_was(folder: Path) -> None:
    """Catches a finding that is only logged: START must take no bet."""

    async def play() -> None:
        async with open_table() as (_, table):
            table.unit.program = ProgramCheck(folder, folder / "no-key", RELEASE)
            change(folder)
            await start_again(table)
            assert await bets_taken(table) == 0
            view = unit_of(table).pages.view()
            assert CLOSED in [fault["text"] for fault in view["faults"]]
            assert view["state"] != "open"
            (folder / "round.py").write_text("BETS = 7\n")
            await start_again(table)
            assert await bets_taken(table) == 1

    run_virtual(play())


def test_journal_and_manager_hear_each_answer_once(folder: Path) -> None:
    async def play() -> None:
        async with open_table() as (_, table):
            table.unit.program = ProgramCheck(folder, folder / "no-key", RELEASE)
            await start_again(table)
            await start_again(table)
            assert [result for function, _, result in uses(table) if function == "verify"] == [
                WHOLE
            ]
            change(folder)
            await start_again(table)
            await start_again(table)
            assert [result for function, _, result in uses(table) if function == "verify"] == [
                WHOLE,
                CHANGED,
            ]
            await aio.sleep_ms(READY_MS)
            told = [alarm.sentence for alarm in table.manager.app.book.alarms.newest(20)]
            assert any(CHANGED in sentence for sentence in told)

    run_virtual(play())


def test_a_file_that_is_changed_in_service_closes_the_table_within_the_hour(folder: Path) -> None:
    async def play() -> None:
        async with open_table() as (_, table):
            table.unit.program = ProgramCheck(folder, folder / "no-key", RELEASE)
            await start_again(table)
            change(folder)
            await aio.sleep_ms(EVERY_MS + 5000)
            assert CLOSED in unit_of(table).table.faults.stopping()

    run_virtual(play())


def test_a_checkout_is_not_asked_but_for_where_a_key_is_laid_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a release that gets rid of the check by losing its own name and manifest."""
    assert not version.RELEASE_FILE.exists(), "this is a checkout"
    assert installed_program(tmp_path / "none.pem") is None
    (tmp_path / "key.pem").touch()
    assert installed_program(tmp_path / "key.pem") is not None


def test_the_command_says_what_it_found_and_prints_the_seeded_digest(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = folder.parent / "none.pem"
    assert show_program(folder, key, "12345678", folder / "round.py") == 0
    said = capsys.readouterr().out
    assert "is whole" in said
    assert seeded_digest(folder, b"12345678") in said
    change(folder)
    assert show_program(folder, key, "", None) == 1
    assert "round.py is damaged" in capsys.readouterr().out
