"""Somebody at the manager asks for a bundle: it comes between two games, whatever happens to it.

Mutations this catches: a bundle made in a round, a request that a lost link forgets, parts of two
bundles put together, an ask that reaches another table's unit.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hal import aio
from manager.app import Manager
from manager.bundles.opened import open_kept
from manager.bundles.shelf import BundleShelf
from manager.intake.seals import SealBook
from manager.ledger.errors import LedgerError
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual
from tests.kit.service_table import open_table

WHO = "Operator"


def _manager(floor: Floor, folder: Path) -> Manager:
    manager = floor._manager.app
    manager.bundles.shelf = BundleShelf(folder)
    return manager


def _ask(manager: Manager, table: FloorTable) -> None:
    manager.ask_for_bundle(table.config.table_id, WHO)


async def _play(table: FloorTable) -> None:
    for _ in range(2):
        table.place("3A")
        await aio.sleep_ms(2000)
        await table.press("START")
        await aio.sleep_ms(4000)
        table.remove("3A")
        await aio.sleep_ms(1500)
        await table.press("END")
        await aio.sleep_ms(1500)


async def _until_it_came(manager: Manager, seconds: int = 60) -> None:
    for _ in range(seconds):
        if not manager.bundles.waiting():
            return
        await aio.sleep_ms(1000)
    raise AssertionError("no bundle came")


def test_it_comes_between_two_games_and_names_what_is_wrong(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_table() as (floor, table):
            manager = _manager(floor, tmp_path)
            table.place("3A")
            await aio.sleep_ms(2000)
            await table.press("START")
            table.world.faults.nack(table.config.board.ics[0].name)
            await aio.sleep_ms(2000)
            _ask(manager, table)
            await aio.sleep_ms(8000)
            (asked,) = manager.bundles.waiting()
            assert asked.total == 0  # nothing of it was made in the round
            await table.press("END")
            await _until_it_came(manager)
            (kept,) = manager.bundles.shelf.all()  # type: ignore[union-attr]
            content = manager.bundles.shelf.content(kept.number)  # type: ignore[union-attr]
            keys = SealBook(manager.store).keys_of(kept.unit_id)
            opened = open_kept(kept, content, keys)
            assert opened.bundle is not None
            assert opened.bundle.is_proven, opened.bundle.doubts
            assert opened.bundle.head["asked_by"] == f"{WHO}, at the manager"
            assert "traces/1.trace" in opened.bundle.files
            assert opened.causes[0].name == "silent-ic"

    run_virtual(main())


@pytest.mark.parametrize("how", ["cable", "power"])
def test_a_lost_link_or_a_power_cut_delays_it(tmp_path: Path, how: str) -> None:
    async def main() -> None:
        async with open_table() as (floor, table):
            manager = _manager(floor, tmp_path)
            await _play(table)  # traces make it too large for one heartbeat
            _ask(manager, table)
            while not manager.bundles.waiting()[0].content:
                await aio.sleep_ms(100)
            if how == "cable":
                table.cable.pull()
                await aio.sleep_ms(7000)
                table.cable.plug()
            else:
                await table.cut_power()
                await aio.sleep_ms(3000)
                await table.restore_power()
            await _until_it_came(manager)
            (kept,) = manager.bundles.shelf.all()  # type: ignore[union-attr]
            content = manager.bundles.shelf.content(kept.number)  # type: ignore[union-attr]
            keys = SealBook(manager.store).keys_of(kept.unit_id)
            opened = open_kept(kept, content, keys)
            assert opened.bundle is not None
            assert opened.bundle.is_proven, opened.bundle.doubts

    run_virtual(main())


def test_a_table_without_a_link_is_not_asked(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_table() as (floor, table):
            manager = _manager(floor, tmp_path)
            table.cable.pull()
            await aio.sleep_ms(7000)
            with pytest.raises(LedgerError, match="no link"):
                _ask(manager, table)
            table.cable.plug()
            await aio.sleep_ms(3000)

    run_virtual(main())
