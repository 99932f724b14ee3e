"""A table on simulated hardware in real time, with its service door open by TLS on loopback.

It alone knows how that unit is started anew after a calibration, as a service manager would do it.
A calibration asks for chips on the felt, and nobody can reach a simulated one: a hand that follows
the unit's steps lays them there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from controller.config import WebSection
from controller.data_folder import references_path
from controller.felt.references import references_in
from controller.service.announce import announce_page
from controller.service.live.around import ServicePlace
from controller.service.page.app import PageOptions
from controller.service.page.door import ServiceDoor, open_tls_door
from controller.service.page.serial_door import SerialDoor, page_for
from sim.floor.floor import Floor, FloorTable, Impossible
from sim.hardware.null_modem import NullModem
from sim.runs.tech.faults import strike
from sim.time.loop import run_virtual

HOST = "127.0.0.1"
READY_MAX_S = 30
LOOK_EVERY_S = 0.05


class PracticeUnit:
    def __init__(self, table: FloorTable, data: Path, line: NullModem) -> None:
        self._table = table
        self._data = data
        self._restart_wanted = asyncio.Event()
        self._serving: list[asyncio.Task[None]] = []
        table.unit.service = ServicePlace(data, self._restart_wanted.set)
        self._web = WebSection(port=0, service_port=8082)
        self.url = self.fingerprint = ""
        self._line = line

    async def open(self) -> None:
        """Starts the unit once more, with a place for its files and a door."""
        await self._table.unit.close()
        await self._power_on()

    async def _power_on(self) -> None:
        await self._table.unit.power_on()
        controller = self._table.unit.controller
        assert controller is not None
        door = self._door()
        self.url, self.fingerprint = door.url, door.fingerprint
        config, place = self._table.config, door.listener.getsockname()
        serving = [
            door.serve(controller.service, PageOptions()),
            announce_page(config.board.serial, config.table_id, *place),
            SerialDoor(page_for(controller.service), self._line.unit_end).serve(),
        ]
        self._serving = [asyncio.create_task(each, name="service door") for each in serving]

    def _door(self) -> ServiceDoor:
        """On any free port at first, and on the same one after each start."""
        door = open_tls_door(self._web, self._table.config.board.serial, self._data)
        self._web = WebSection(port=0, service_port=int(door.listener.getsockname()[1]))
        return door

    async def run(self) -> None:
        """Starts anew when a calibration asks for it, and lays the chips for one."""
        hand = asyncio.create_task(self._lay_chips(), name="hand")
        try:
            while True:
                await self._restart_wanted.wait()
                self._restart_wanted.clear()
                await self.close()
                sensors = [sensor.id for sensor in self._table.config.board.sensors]
                path, serial = references_path(self._data), self._table.config.board.serial
                self._table.unit.references = references_in(path, serial, sensors)
                await self._power_on()
        finally:
            hand.cancel()

    async def close(self) -> None:
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._table.unit.close()

    async def _lay_chips(self) -> None:
        world, sensors = self._table.world, self._table.config.board.sensors
        laid: set[str] = set()
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            controller = self._table.unit.controller
            step = controller.service.acts.view()["calibration"] if controller else None
            seat = step["seat"] if step else 0
            wanted = {sensor.id for sensor in sensors if seat and sensor.seat == seat}
            for sensor in laid - wanted:
                world.remove_chip(sensor)
            for sensor in wanted - laid:
                world.place_chip(sensor)
            laid = wanted


@asynccontextmanager
async def practice_unit(
    name: str, seed: int, data: Path, faults: str, line: NullModem
) -> AsyncIterator[PracticeUnit]:
    floor = Floor(seed)
    try:
        table = await floor.open_table(name)
        unit = PracticeUnit(table, data, line)
        await unit.open()
        running = asyncio.create_task(unit.run(), name="practice unit")
        try:
            await _ready(table)
            strike(table.world, faults)
            yield unit
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            await unit.close()
    finally:
        await floor.close()


async def _ready(table: FloorTable) -> None:
    for _ in range(int(READY_MAX_S / LOOK_EVERY_S)):
        if table.state() == "open":
            return
        await asyncio.sleep(LOOK_EVERY_S)
    raise Impossible(f"the simulated table did not open: it is {table.state()}")


def calibrate_beforehand(name: str, seed: int) -> None:
    """In virtual time, so that nobody waits for it; the table in real time finds it done."""

    async def open_and_close() -> None:
        floor = Floor(seed)
        try:
            await floor.open_table(name)
        finally:
            await floor.close()

    run_virtual(open_and_close())
