"""A table whose journal gets damaged, and what a tech does about it, in virtual time.

The shipped controller and manager run in it; only the files are handled by the test, as a tech's
hands would.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from controller.journal.recovery.salvage import Salvage, salvage
from hal import aio
from sim.floor.floor import Floor, FloorTable
from sim.floor.journal_file import JOURNAL_FILE
from sim.time.loop import run_virtual

TICK_GAP_MS = 200  # two buttons within an instant are a palm on the panel

TABLE = "four-card-touch"
LOG_FILE = f"{JOURNAL_FILE}-wal"
OPERATOR, REASON = "Pat", "The disk was damaged."


@asynccontextmanager
async def opened_floor(seed: int = 1) -> AsyncIterator[tuple[Floor, FloorTable]]:
    floor = Floor(seed)
    try:
        table = await floor.open_table(TABLE)
        await aio.sleep_ms(3000)
        yield floor, table
        unsound = floor.unsound_books()
        assert unsound == "", unsound
        errors = floor.product_errors()
        assert errors == [], errors
    finally:
        await floor.close()


def on_a_floor(play: Callable[[Floor, FloorTable], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        async with opened_floor() as (floor, table):
            await play(floor, table)

    run_virtual(run())


async def start_round(table: FloorTable, *sensors: str) -> None:
    for sensor in sensors:
        table.place(sensor)
    await aio.sleep_ms(1000)
    await table.press("START")
    assert table.state() == "locked", table.picture()


async def claim(table: FloorTable, seat: int, hand: str) -> None:
    """Up to the price: the next step is the card."""
    for button in (f"SEAT {seat}", f"HAND {hand}", "CONFIRM"):
        await table.press(button)
        await aio.sleep_ms(1000)
    assert table.unit.controller is not None
    assert table.unit.controller.keeper.state.stage() == "authorise", table.picture()


def cut_at_the_commit(table: FloorTable) -> None:
    """The cable goes once the card was judged and the commit is durable, before it is sent."""
    controller = table.unit.controller
    assert controller is not None

    def look() -> None:
        claim = controller.keeper.state.claim
        if claim is not None and claim.authorised:
            table.cable.pull()

    controller.news.listen(look)
    table.swipe("EXECUTIVE")


# ---- damage ----


def smash_header(database: bytearray, log: bytearray, chance: random.Random) -> None:
    database[:4096] = bytes(4096)
    log[200] ^= 1  # which SQLite then does not believe either


def smash_tree(database: bytearray, log: bytearray, chance: random.Random) -> None:
    """The schema and the root pages: SQLite finds no table any more."""
    for page in range(1, min(12, len(database) // 4096)):
        database[page * 4096 : page * 4096 + 8] = chance.randbytes(8)
    log[200] ^= 1  # and the log from its first page on is not believed


def smash_log_header(database: bytearray, log: bytearray, chance: random.Random) -> None:
    database[:100] = chance.randbytes(100)
    log[:32] = chance.randbytes(32)


DAMAGES = (smash_header, smash_tree, smash_log_header)
Damage = Callable[[bytearray, bytearray, random.Random], None]


def damage(table: FloorTable, how: Damage) -> None:
    """What the medium does while the unit has no power."""
    table.disk.restore()
    database = bytearray(table.disk.read_file(JOURNAL_FILE))
    log = bytearray(table.disk.read_file(LOG_FILE))
    how(database, log, random.Random(1))
    table.disk.write_file(JOURNAL_FILE, bytes(database))
    table.disk.write_file(LOG_FILE, bytes(log))


# ---- repair ----


def restore_card(table: FloorTable) -> Salvage:
    """What `python -m controller restore` does, on the simulated disk."""
    table.disk.restore()
    files = [table.disk.read_file(name) for name in (JOURNAL_FILE, LOG_FILE)]
    saved = salvage(*files)
    for name, content in zip((JOURNAL_FILE, LOG_FILE), files, strict=True):
        table.disk.write_file(f"damaged-{name}", content)
        table.disk.delete(name, sync_directory=True)
    table.journal_file.set_aside()
    journal = table.journal_file.open()
    journal.beside.keep_salvage(saved.lines())
    journal.close()
    return saved


def permit(table: FloorTable, unit_id: str = "") -> None:
    serial = unit_id or table.config.board.serial
    successions = table.manager.app.units.successions
    successions.permit(serial, table.config.table_id, OPERATOR, REASON)


def with_serial(table: FloorTable, serial: str) -> Any:
    return dataclasses.replace(
        table.config, board=dataclasses.replace(table.config.board, serial=serial)
    )


def events_of(table: FloorTable, kind: int) -> list[tuple[bytes, int]]:
    """(journal, sequence) of every event of a kind that the manager keeps."""
    return table.manager.app.store.rows(  # type: ignore[return-value]
        "SELECT journal_id, sequence FROM events WHERE kind = ? ORDER BY commit_ms, sequence",
        (kind,),
    )


def faults(table: FloorTable) -> dict[str, str]:
    assert table.unit.controller is not None
    shown = table.unit.controller.pages.view()["faults"]
    return {fault["code"]: fault["text"] for fault in shown if fault["part"] != "link"} | {
        fault["code"]: fault["text"] for fault in shown if fault["code"] != "journal"
    }


def spare_unit(floor: Floor, table: FloorTable) -> FloorTable:
    """Another unit with a number and a disk of its own, on the same cable run to the manager."""
    board = dataclasses.replace(table.config.board, serial="UF-0009")
    config = dataclasses.replace(table.config, board=board)
    spare = FloorTable(config, table.manager, floor._network, seed=99)
    floor._tables.append(spare)
    table.manager.enrol(spare.unit.sealer)
    return spare


async def end_game(table: FloorTable) -> None:
    """Ticks off everybody on the pay list, as a dealer does, and ends the game."""
    controller = table.unit.controller
    pay = controller.pages.view()["pay"] if controller else None
    for row in pay["rows"] if pay else ():
        await table.press(f"TICK {row['seat']}")
        await aio.sleep_ms(TICK_GAP_MS)
    await table.press("END")
