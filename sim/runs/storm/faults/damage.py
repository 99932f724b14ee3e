"""A unit's journal is damaged while it has no power, and people restore it as the document says.

The tech's hands are here: what lies on the disk is salvaged into a new journal, which the manager
lets go on once an operator permits it. A restored unit is not let down: they try until it goes on.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import apsw

from controller.journal.file import JournalFault
from controller.journal.recovery.salvage import salvage
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.errors import LedgerError
from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.journal_watch import Row
from sim.runs.storm.faults.power import stay_dark
from sim.runs.storm.floor.disk_slot import JOURNAL_FILE
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.table import StormTable

LOG_FILE = f"{JOURNAL_FILE}-wal"
FILES = (JOURNAL_FILE, LOG_FILE)
PAGE_BYTES, HEADER_BYTES, LOG_HEADER_BYTES = 4096, 100, 32
PATIENCE_S = 90.0
# So that something is recorded which the manager does not have yet.
TELLING = (
    kinds.ROUND_START,
    kinds.HAND,
    kinds.CLAIM,
    kinds.CLAIM,
    kinds.AWARDED,
    kinds.COMMIT,
    kinds.COMMIT,
    kinds.SETTLED,
    kinds.PAID,
    kinds.ROUND_END,
)
PERMIT_EVERY_S = 8.0
LOOK_S = 0.5
REASON = "The disk was damaged."

Damage = Callable[[bytearray, bytearray, random.Random], None]


def _first_page_gone(database: bytearray, log: bytearray, chance: random.Random) -> None:
    database[:PAGE_BYTES] = bytes(PAGE_BYTES)
    log[:LOG_HEADER_BYTES] = bytes(len(log[:LOG_HEADER_BYTES]))


def _headers_overwritten(database: bytearray, log: bytearray, chance: random.Random) -> None:
    database[:HEADER_BYTES] = chance.randbytes(HEADER_BYTES)
    log[:LOG_HEADER_BYTES] = chance.randbytes(len(log[:LOG_HEADER_BYTES]))


DAMAGES: tuple[Damage, ...] = (_first_page_gone, _headers_overwritten)


async def journal_damaged(floor: StormFloor, table: StormTable, chance: random.Random) -> None:
    """Right after a record of a drawn kind; and a tech is there sooner or later."""
    kind, turns, how = chance.choice(TELLING), chance.choice((0, 0, 2, 30)), chance.choice(DAMAGES)
    struck = asyncio.Event()

    def strike() -> None:
        struck.set()
        if may_be_damaged(floor, table):
            damage_and_restore(table, how, chance)

    def ambush(row: Row) -> None:
        if row.kind == kind:
            table.watch.listeners.remove(ambush)
            floor.loop.strike_after(turns, strike)

    table.watch.listeners.append(ambush)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await struck.wait()
    except TimeoutError:
        pass
    finally:
        if ambush in table.watch.listeners:
            table.watch.listeners.remove(ambush)
    if table.journal.awaits_state:
        await stay_dark(table, chance)
        await asyncio.sleep(chance.choice((0.0, 1.0, 10.0)) * chance.random())
        await let_go_on(table)


def may_be_damaged(floor: StormFloor, table: StormTable) -> bool:
    """Not while something else is being done about its disk, which would be another story."""
    disk, known = table.disk, table.manager.ledger.units.get(table.unit_id)
    is_well = not (disk.failing or disk.read_only or disk.size_max_bytes is not None)
    is_copied = any(clone.original is table and not clone.resolved for clone in floor.clones)
    is_locked = known is None or known.locked
    return is_well and not (is_copied or is_locked or table.retired or table.journal.awaits_state)


def damage_and_restore(table: StormTable, how: Damage, chance: random.Random) -> None:
    """At once: the power goes, the medium is damaged, and what is left of it is carried over."""
    table.cut_power()
    disk = table.disk
    disk.restore()
    names = disk.names()
    database, log = (bytearray(disk.read_file(n) if n in names else b"") for n in FILES)
    how(database, log, chance)
    for name, content in zip(FILES, (database, log), strict=True):
        disk.write_file(name, bytes(content))
    try:
        table.slot.open_journal().close()
    except (JournalFault, apsw.Error):
        pass  # as it must: a unit makes no new journal by itself where one has been
    else:
        table.record.violate("a damaged journal closes the table", table.name, how.__name__)
    saved = salvage(disk.read_file(JOURNAL_FILE), disk.read_file(LOG_FILE))
    for name in FILES:
        disk.delete(name, sync_directory=True)
    journal = table.slot.open_journal()
    journal.beside.keep_salvage(saved.lines())
    journal.close()
    table.journal.set_aside()


async def let_go_on(table: StormTable, tries_max: int = 1_000) -> None:
    """An operator permits the new journal, and again when nothing came of it."""
    for _ in range(tries_max):
        _permit(table)
        waited_s = 0.0
        while table.journal.awaits_state and waited_s < PERMIT_EVERY_S:
            await asyncio.sleep(LOOK_S)
            waited_s += LOOK_S
        if table.retired or not table.journal.awaits_state:
            return


def _permit(table: StormTable) -> None:
    manager = table.manager
    if not manager.running or manager.halted:
        return
    manager.ledger.people_permit(table.unit_id)
    place = {"unit": table.unit_id, "table": table.table_id, "reason": REASON}
    try:
        manager.process.app.correct({"command": "adopt-journal", "operator": "Pat"} | place)
    except (LedgerError, StorageFailed):
        return
