"""The process in the guest that is the hardware: a world of IC models behind two CP2112 bridges.

The first bridge brings the header's lines (/dev/gpiochip0), the second the board's bus
(/dev/i2c-1), as on a Raspberry Pi. It is a process of its own, because lgpio keeps Python's lock
while the kernel waits for us. What happens on the table it is told over a socket, in the world's
own words; it never talks to the code under test.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from sim.floor.world import World
from sim.hardware.i2c import Message
from sim.runs.kernel.cp2112 import LINE_COUNT, PORT, Cp2112
from sim.runs.kernel.guest_table import guest_config
from sim.runs.kernel.uhid import UhidPort

log = logging.getLogger("sim.runs.kernel.emulator")

SOCKET = Path("/run/world.socket")
LINES_DEVICE = Path("/dev/gpiochip0")
BUS_NUMBER = 1
BUS_DEVICE = Path(f"/dev/i2c-{BUS_NUMBER}")
DEVICE_MAX_S = 20
DEVICE_POLL_S = 0.005


class Emulator:
    """Holds the world that hangs on the bridges now; a new table brings a new world."""

    def __init__(self) -> None:
        self._world: World | None = None
        self._ports: list[UhidPort] = []

    async def run(self) -> None:
        await self._plug(Cp2112("lines", _no_ic_answers, self._wires, self._drive), LINES_DEVICE)
        await self._plug(Cp2112("bus", self._transfer, lambda: 0xFF), BUS_DEVICE)
        server = await asyncio.start_unix_server(self._converse, SOCKET)
        await server.serve_forever()

    async def _plug(self, bridge: Cp2112, device: Path) -> None:
        port = UhidPort(bridge)
        port.listen()
        self._ports.append(port)
        for _ in range(int(DEVICE_MAX_S / DEVICE_POLL_S)):
            if device.exists():  # noqa: ASYNC240 - in memory, it never waits
                return
            await asyncio.sleep(DEVICE_POLL_S)
        raise RuntimeError(f"The kernel did not make {device} of the bridge {bridge.name}.")

    # -- what the bridges ask ----------------------------------------------------------------

    def _transfer(self, messages: Sequence[Message]) -> list[bytes]:
        if self._world is None:
            return _no_ic_answers(messages)
        return self._world.buses[BUS_NUMBER].transfer(messages)

    def _wires(self) -> int:
        if self._world is None:
            return 0xFF
        wires = [self._world.pins.wire(gpio) for gpio in range(LINE_COUNT)]
        # What nobody drives is held high, as the unit asks of a Pi's own resistors.
        return sum(1 << gpio for gpio, level in enumerate(wires) if level != 0)

    def _drive(self, line: int, level: int | None) -> None:
        if self._world is not None:
            self._world.pins.header_drives(line, level)

    # -- what the tests ask ------------------------------------------------------------------

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(await self._answer(json.loads(line)))
            await writer.drain()
        writer.close()

    async def _answer(self, request: dict[str, Any]) -> bytes:
        try:
            answer = json.dumps({"value": await self._obey(request)})
        except (ValueError, AttributeError, TypeError) as refusal:  # also: no value for a line
            answer = json.dumps({"refused": f"{refusal}"})
        return answer.encode() + b"\n"

    async def _obey(self, request: dict[str, Any]) -> Any:
        if request["verb"] == "open_table":
            return await self._open_table(*request["arguments"], **request["options"])
        found: Any = self._world
        for name in request["verb"].split("."):
            if name.startswith("_"):
                raise ValueError(f"{name} is the world's own business.")
            found = getattr(found, name)
        if callable(found):
            found = found(*request["arguments"], **request["options"])
        return await found if inspect.isawaitable(found) else found

    async def _open_table(self, name: str, seed: int) -> None:
        if self._world is not None:
            await self._world.close()
        config = guest_config(name)
        self._world = World(config.board, seed, adapter=PORT)
        self._world.start()
        reader, machine = config.board.card_reader, self._world.controls.card_machine
        if reader is not None and machine is not None:
            _plug_in(Path(machine.path), Path(reader.path))


def _plug_in(machine: Path, port: Path) -> None:
    """The reader's terminal under the name that the table's file gives its port."""
    port.unlink(missing_ok=True)
    port.symlink_to(machine)


def _no_ic_answers(messages: Sequence[Message]) -> list[bytes]:
    raise OSError(PORT.nack, f"no answer from {messages[0].address:#04x}")


def main() -> NoReturn:
    """Runs until the machine goes off."""
    try:
        logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
        # Hardware does not wait for a processor: the driver gives up after 50 ms.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        asyncio.run(Emulator().run())
    except BaseException:
        log.exception("The emulator ended.")
    finally:
        os._exit(1)
