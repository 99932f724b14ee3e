"""A simulated table with a technician at it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from controller.service.live.table import LiveTable
from controller.unit import Unit
from hal import aio
from protocol import numbers
from protocol.wire.events import Service
from sim.floor.floor import TABLES_FOLDER, Floor, FloorTable

TABLES = sorted(path.stem for path in TABLES_FOLDER.glob("*.toml"))
TECH, PIN = "Tech 3", "246813"
SEED = 5
READY_MS = 3000


def unit_of(table: FloorTable) -> Unit:
    assert table.unit.controller is not None
    return table.unit.controller


def service_of(table: FloorTable) -> LiveTable:
    return unit_of(table).service


@asynccontextmanager
async def open_table(name: str = "four-card-touch") -> AsyncIterator[tuple[Floor, FloorTable]]:
    floor = Floor(SEED)
    try:
        table = await floor.open_table(name)
        await aio.sleep_ms(READY_MS)
        yield floor, table
        assert not floor.product_errors()
    finally:
        await floor.close()


async def stay(service: LiveTable, ms: int) -> None:
    """The technician's page takes views for so long."""
    for _ in range(ms // 500):
        service.mode.seen()
        await aio.sleep_ms(500)


async def until_done(service: LiveTable) -> None:
    while service.mode.is_working:
        await stay(service, 500)


def uses(table: FloorTable) -> list[tuple[str, str, str]]:
    """What the journal says of service: which function, by whom, with which result."""
    records = unit_of(table).hardware.stores.journal.records.after(0, 10_000)
    found = [Service.from_body(each.body) for each in records if each.kind == numbers.SERVICE]
    return [(use.function, use.tech, use.result) for use in found]
