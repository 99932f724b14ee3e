"""Whole rounds in the guest: the shipped scenarios, word for word, on the shipped Pi board.

The controller, the manager and every library are the real ones; only the felt, the ICs and the
people are modelled, in the emulator's process behind the kernel's devices.
"""

from __future__ import annotations

import asyncio
import random

from hal.backend import Backend
from sim.floor.floor import FloorTable
from sim.floor.world import World
from sim.runs.kernel.far_world import FarLine
from sim.runs.kernel.guest_floor import GuestFloor
from sim.runs.scenario.language import parse_scenario
from sim.runs.scenario.player import Player
from tests.kit import places

HAUNTED = "touch-four-aces"
SCENARIOS = (
    "touch-four-aces",
    "keypad-four-aces",
    "fault-sensing-ic-silent-in-a-game",
    "fault-bus-held-in-mid-byte",
    "fault-stuck-bus-in-a-game",
    "fault-keypad-stuck-bus",
    "fault-short-read",
    "fault-over-current",
    "fault-lamp-ic-reset",
    "fault-keypad-ic-silent",
    "keypad-power-cut-jpot-pressed",
    "fdc-one-converter-silent",
)
BUS = 1
# Each of these is survived by the driver's own repetition: three attempts, and at most two fail.
FAILURES_MAX = 2
HAUNT_EVERY_S = 0.05
HAUNTINGS_MIN = 10


async def play(name: str, line: FarLine, backend: Backend, seed: int) -> None:
    await Player(lambda: GuestFloor(line, backend, seed)).play(parse_scenario(_text(name)))


async def play_haunted(line: FarLine, backend: Backend, seed: int) -> None:
    """A whole round in which hardly a moment passes without a failing transfer."""
    floors: list[HauntedFloor] = []

    def new_floor() -> HauntedFloor:
        floors.append(HauntedFloor(line, backend, seed))
        return floors[-1]

    await Player(new_floor).play(parse_scenario(_text(HAUNTED)))
    struck = floors[0].struck
    assert sum(struck.values()) >= HAUNTINGS_MIN, struck
    assert all(struck.values()), f"some kind of failure never happened: {struck}"


def _text(name: str) -> str:
    """As it is written, with a second before each START.

    A reading here takes 40 ms, so a chip needs longer to prove that it rests.
    """
    text = (places.SCENARIOS / f"{name}.txt").read_text(encoding="utf-8")
    return text.replace("\npress START\n", "\nwait 1s\npress START\n")


class HauntedFloor(GuestFloor):
    """A floor on whose table the bus keeps failing, a little at a time."""

    def __init__(self, line: FarLine, backend: Backend, seed: int) -> None:
        super().__init__(line, backend, seed)
        self._chance = random.Random(seed)
        self._ghost: asyncio.Task[None] | None = None
        self.struck: dict[str, int] = {}

    async def open_table(self, name: str) -> FloorTable:
        table = await super().open_table(name)
        self._ghost = asyncio.create_task(self._haunt(table.world), name="ghost")
        return table

    async def close(self) -> None:
        if self._ghost is not None:
            self._ghost.cancel()
            await asyncio.gather(self._ghost, return_exceptions=True)
        await super().close()

    async def _haunt(self, world: World) -> None:
        while True:
            count = self._chance.randint(1, FAILURES_MAX)
            ic = self._chance.choice(["sense-1", "lights-1"])
            act = self._chance.randrange(3)
            world.faults.clear_bus(BUS)
            if act == 0:
                world.faults.nack(ic, count)
            elif act == 1:
                world.faults.lose_arbitration(BUS, count)
            else:
                world.faults.short_read(ic, count)
            await asyncio.sleep(HAUNT_EVERY_S)
            kinds = ("nack", "arbitration", "short read")
            self.struck = {kind: world.faults.struck[kind] for kind in kinds}
