"""Our unit on simulated hardware in real time, for the conformance kit: its dealer reads ACT lines.

`python -m tests.kit.conforming_unit FOLDER SERIAL HOST PORT FINGERPRINT CODE`, as the second unit.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from controller import stores
from controller.config import load_unit_config
from controller.felt.references import references_in
from controller.link.enrol import ManagerPlace, enrol
from controller.link.identity import UnitIdentity
from kit.clock import wall_ms
from protocol.secrets.tls import open_stream
from protocol.wire.stream import FrameStream
from sim.floor.floor import simulated
from sim.floor.unit import SimUnit
from sim.floor.world import World
from tests.kit.places import table_path

SEED = 1
LOOK_S = 0.1
PRESS_AGAIN_S = 1.0
LOOKS_MAX = 300


class Dealer:
    def __init__(self, unit: SimUnit, world: World) -> None:
        self._unit = unit
        self._world = world

    async def act(self, what: str) -> None:
        await {"start": self._start, "win": self._win, "end": self._end, "restart": self._restart}[
            what
        ]()

    async def _start(self) -> None:
        for sensor in ("1A", "2A"):
            self._world.place_chip(sensor)
        await self._until(lambda: self._accepted() == 2)
        await self._until_pressed("START")

    async def _win(self) -> None:
        for button in ("SEAT 1", "HAND three-of-a-kind", "CONFIRM"):
            await self._until_pressed(button)

    async def _end(self) -> None:
        """Twice, as long as a seat is owed, and not so fast that it counts as one touch."""
        controller = self._unit.controller
        assert controller is not None
        while controller.pages.view()["round_open"]:
            await controller.pages.press("END")
            await asyncio.sleep(PRESS_AGAIN_S)

    async def _restart(self) -> None:
        await self._unit.power_cut()
        await self._unit.power_on()

    def _accepted(self) -> int:
        controller = self._unit.controller
        assert controller is not None
        seats = controller.pages.view()["seats"]
        return sum(sensor["accepted"] for seat in seats for sensor in seat["sensors"])

    async def _until_pressed(self, button: str) -> None:
        controller = self._unit.controller
        assert controller is not None
        for _ in range(LOOKS_MAX):
            answer = await controller.pages.press(button)
            if answer.accepted:
                return
            print(f"{button}: {answer.sentence}", file=sys.stderr, flush=True)
            await asyncio.sleep(LOOK_S)

    async def _until(self, is_so: Callable[[], bool]) -> None:
        for _ in range(LOOKS_MAX):
            if is_so():
                return
            await asyncio.sleep(LOOK_S)


async def main(
    folder: Path, serial: str, host: str, port: int, fingerprint: str, code: str
) -> None:
    config = simulated(load_unit_config(table_path("four-card-touch")))
    assert config.board.serial == serial
    await enrol(folder, serial, ManagerPlace(host, port + 1, fingerprint), code, print)
    identity = UnitIdentity(folder)

    async def connect(_: str) -> FrameStream:
        return await open_stream(host, port, identity.context())

    world = World(config.board, SEED)
    unit = SimUnit(
        config,
        world,
        stores=stores.in_folder(folder, serial, wall_ms),
        connect=connect,
        wall_ms=wall_ms,
        seed=SEED,
    )
    unit.sealer = identity.sealer(serial)
    world.start()
    sensors = [sensor.id for sensor in config.board.sensors]
    unit.references = references_in(folder / "none", serial, sensors)
    await unit.calibrate(empty_only=True)
    await unit.power_on()
    dealer = Dealer(unit, world)
    async for line in _lines():
        await dealer.act(line.removeprefix("ACT "))


async def _lines():  # type: ignore[no-untyped-def]
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield line.decode().strip()


if __name__ == "__main__":
    words = sys.argv[1:]
    asyncio.run(main(Path(words[0]), words[1], words[2], int(words[3]), words[4], words[5]))
