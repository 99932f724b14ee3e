"""A small world with one IC of each kind, spoken to by its registers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import gpiozero
from smbus2 import i2c_msg

from hal.board.config import BoardConfig, parse_board
from hal.bus.i2c import SMBusLike
from hal.worker import Worker
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.ics.mpr121 import IrqRule
from sim.time.loop import run_virtual

MS = 1_000_000
SENSE, KEYS, LAMPS = 0x5A, 0x20, 0x40
SENSE_IRQ, KEYS_IRQ, RUN, JPH, LID = 17, 27, 22, 23, 24


def board() -> BoardConfig:
    return parse_board(
        {
            "backend": "simulated",
            "serial": "UF-TEST",
            "buses": [{"number": 1, "frequency_hz": 400_000}],
            "ics": [
                _ic("sense-1", "mpr121", SENSE, SENSE_IRQ),
                {"name": "lights-1", "kind": "pca9685", "bus": 1, "address": LAMPS},
                _ic("keys-1", "tca9555", KEYS, KEYS_IRQ),
            ],
            "sensors": [_sensor(seat) for seat in range(1, 8)],
            "keypad": {"ic": "keys-1", "keys": {"START": 0, "END": 1, "JPOT": 9}},
            "keyswitch": {"run_gpio": RUN, "jph_gpio": JPH},
            "tamper": {"gpio": LID},
            "card_reader": {"path": "/dev/ttyACM0"},
        }
    )


def _ic(name: str, kind: str, address: int, gpio: int) -> dict[str, object]:
    return {"name": name, "kind": kind, "bus": 1, "address": address, "interrupt_gpio": gpio}


def _sensor(seat: int) -> dict[str, object]:
    return {
        "id": f"{seat}A",
        "ic": "sense-1",
        "electrode": seat - 1,
        "lamp_ic": "lights-1",
        "white_channel": 2 * seat - 2,
        "amber_channel": 2 * seat - 1,
    }


class Bench:
    """Raw hands on the board: registers and wires, nothing of the product's drivers."""

    def __init__(self, world: World) -> None:
        self.world = world
        backend = SimBackend(world)
        self.smbus: SMBusLike
        self.worker: Worker
        self.smbus, self.worker = backend.open_i2c(1, 400_000)
        self.edges: list[tuple[int, int, bool]] = []
        self.lines = {
            gpio: gpiozero.DigitalInputDevice(gpio, pull_up=True, pin_factory=backend.pin_factory())
            for gpio in (SENSE_IRQ, KEYS_IRQ, RUN, JPH, LID)
        }
        for gpio, line in self.lines.items():
            line.when_activated = self._noter(gpio, low=True)
            line.when_deactivated = self._noter(gpio, low=False)

    def low(self, gpio: int) -> bool:
        return bool(self.lines[gpio].is_active)

    async def put(self, address: int, register: int, *values: int) -> None:
        message = i2c_msg.write(address, [register, *values])
        await self.worker.run(lambda: self.smbus.i2c_rdwr(message))

    async def get(self, address: int, register: int, count: int) -> bytes:
        read = i2c_msg.read(address, count)
        write = i2c_msg.write(address, [register])
        await self.worker.run(lambda: self.smbus.i2c_rdwr(write, read))
        return bytes(read)

    async def start_sensing(self) -> None:
        await self.put(SENSE, 0x80, 0x63)
        await self.put(SENSE, 0x41, *[12, 6] * 7)
        await self.put(SENSE, 0x5B, 0x11, 0x10, 0x20)
        empty = [self.world.felt.pad(f"{seat}A").empty_counts >> 2 for seat in range(1, 8)]
        await self.put(SENSE, 0x1E, *empty)
        await self.put(SENSE, 0x5E, 0x47)
        await asyncio.sleep(0.02)

    async def start_lamps(self) -> None:
        await self.put(LAMPS, 0x00, 0x30)
        await self.put(LAMPS, 0xFE, 3)
        await self.put(LAMPS, 0x00, 0x20)
        await asyncio.sleep(0.001)

    def close(self) -> None:
        for line in self.lines.values():
            line.close()

    def _noter(self, gpio: int, low: bool) -> Callable[[], None]:
        return lambda: self.edges.append((self.world.now_ns(), gpio, low))


def play(
    scene: Callable[[World, Bench], Awaitable[None]],
    seed: int = 1,
    irq_rule: IrqRule = IrqRule.STATUS_READ,
) -> None:
    async def whole() -> None:
        world = World(board(), seed, irq_rule)
        world.start()
        bench = Bench(world)
        try:
            await scene(world, bench)
        finally:
            bench.close()
            await world.close()

    run_virtual(whole())
