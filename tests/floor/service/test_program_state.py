"""A unit that is to get another program: when that may be, and what the new one has to show."""

from __future__ import annotations

import json
from pathlib import Path

from controller.__main__ import _program_state
from controller.service.program_check import ProgramCheck
from controller.service.update_news import LOOK_EVERY_MS, sentence_of
from hal import aio
from kit.own_socket import SELF_TEST
from kit.program_news import NOT_TRUSTED, ROLLED_BACK, ProgramNews, write_news
from kit.release_files import MANIFEST, Files, manifest_of
from sim.floor.floor import FloorTable
from sim.time.loop import run_virtual
from tests.kit.service_table import READY_MS, open_table, service_of, unit_of, uses

QUIET_MS = 30_000  # until the manager has taken everything, and no trace is being taken


async def state_of(table: FloorTable, asked: bytes = b"") -> dict[str, str]:
    said: dict[str, str] = json.loads(await _program_state(unit_of(table)).answer(asked))
    return said


async def place_and_start(table: FloorTable) -> None:
    table.place(table.config.board.sensors[0].id)
    await aio.sleep_ms(2000)
    await table.press("START")
    await aio.sleep_ms(1000)


def test_the_program_is_changed_only_in_a_pause() -> None:
    """Catches a gate that looks at less than the round, its evidence and what waits to be sent."""

    async def play() -> None:
        async with open_table() as (_, table):
            await aio.sleep_ms(QUIET_MS)
            assert await state_of(table) == {"busy": "", "unproven": ""}
            await place_and_start(table)
            assert (await state_of(table))["busy"] == "A game is being played."
            await table.press("END")
            await table.press("END")
            assert "evidence" in (await state_of(table))["busy"]
            await aio.sleep_ms(QUIET_MS)
            assert (await state_of(table))["busy"] == ""
            await service_of(table).acts.enter("Tech 3")
            assert "in service" in (await state_of(table))["busy"]

    run_virtual(play())


def test_events_that_wait_for_the_manager_hold_it_up() -> None:
    async def play() -> None:
        async with open_table() as (_, table):
            await aio.sleep_ms(QUIET_MS)
            table.cable.pull()
            await table.cut_power()
            await table.restore_power()
            await aio.sleep_ms(QUIET_MS)
            said = await state_of(table)
            assert said["busy"] == "Events wait for the Game Manager."
            assert said["unproven"] == "The Game Manager has not welcomed it yet."

    run_virtual(play())


def test_the_self_test_closes_the_table_and_gives_it_back() -> None:
    async def play() -> None:
        async with open_table() as (_, table):
            await aio.sleep_ms(QUIET_MS)
            assert (await state_of(table, SELF_TEST))["failed"] == ""
            assert not service_of(table).mode.is_on
            told = [(function, by) for function, by, _ in uses(table)]
            assert ("self-test", "update") in told
            await place_and_start(table)
            assert table.wager_count() == 1
            # In a game there is no self-test, and no pass either.
            assert (await state_of(table, SELF_TEST))["failed"]

    run_virtual(play())


def test_what_became_of_an_update_is_on_the_panel_and_at_the_manager(tmp_path: Path) -> None:
    release, file = tmp_path / "release", tmp_path / "news.json"
    release.mkdir()
    (release / "round.py").write_text("BETS = 7\n")
    (release / MANIFEST).write_bytes(manifest_of(Files(), release))
    refused = sentence_of(ProgramNews(NOT_TRUSTED, ""))

    async def play() -> None:
        async with open_table() as (_, table):
            table.unit.program = ProgramCheck(release, tmp_path / "no-key", "r1", file)
            await table.cut_power()
            await table.restore_power()
            await aio.sleep_ms(READY_MS)
            write_news(file, ProgramNews(NOT_TRUSTED, ""))
            await aio.sleep_ms(2 * LOOK_EVERY_MS)
            view = unit_of(table).pages.view()
            assert refused in [fault["text"] for fault in view["faults"]]
            assert view["state"] == "open", "it does not stop play"
            alarms = [alarm.sentence for alarm in table.manager.app.book.alarms.newest(20)]
            assert any(refused in sentence for sentence in alarms)
            file.write_text("{")
            await aio.sleep_ms(2 * LOOK_EVERY_MS)
            assert not unit_of(table).table.faults.all()

    run_virtual(play())


def test_a_roll_back_names_the_version() -> None:
    assert "0.2.0+20260601.000000" in sentence_of(ProgramNews(ROLLED_BACK, "0.2.0+20260601.000000"))
    assert sentence_of(ProgramNews("nobody knows this", "1")) == ""
