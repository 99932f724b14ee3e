"""The long way: a trial through the IC's registers, the bus, the interrupt line and the lamps.

The physics drive the register model; the shipped driver, IC watch, spots, lock and lamp player do
the rest, in virtual time. After START the lamps are looked at from outside: what was accepted, what
was refused and what is empty has to show.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from controller.core import lights
from controller.core.felt import spot as sensing
from controller.core.felt.surface import Surface
from controller.core.round import commands
from controller.core.round.decide import RoundState, apply, decide
from controller.core.round.rules import Rules
from controller.felt.ic_watch import IcWatch, WatchedIc
from controller.lights.lamp_player import LampPlayer
from hal import aio
from hal.board.open import Board
from sim.felt.physics.table import PhysicalTable
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.runs.sense.board import BUS, trial_board
from sim.runs.sense.calibrate import Stored
from sim.runs.sense.cases import TARGET, Scene
from sim.runs.sense.sensing_ic import SensingIc
from sim.runs.sense.trial import Runner
from sim.time.loop import run_virtual

LOOK_AFTER_MS = 1300
# What must not be seen a second after the lock; what moves on may show that it does.
CONTRADICTS = {
    sensing.ACCEPT: (lights.OFF, lights.DETECTED, lights.REFUSED),
    sensing.REFUSE: (lights.OFF, lights.DETECTED, lights.ACCEPTED),
    sensing.EMPTY: (lights.ACCEPTED, lights.REFUSED),
    sensing.LEFT: (lights.ACCEPTED,),
}


class RegisterRunner(Runner):
    """One table, from physics to lamps; `wrong_lights` names the spots that showed otherwise."""

    through_registers = True

    def __init__(self, table: PhysicalTable, stored: Mapping[str, Stored], ic: SensingIc) -> None:
        super().__init__()
        self._table = table
        self._stored = stored
        self._ic = ic
        self._surface = Surface()
        self._state = RoundState()
        self._round_open = False
        self._lit = False
        self._at_rest = False

    def play(self, scene: Scene) -> dict[str, int]:
        return run_virtual(self._play(scene))

    async def _play(self, scene: Scene) -> dict[str, int]:
        world = World(trial_board(list(self._table.pads), self._ic.name))
        world.lay_felt(self._table)
        world.start()
        try:
            if scene.outage is not None:
                off_s, on_s = scene.outage
                async with self._powered(world):
                    await _sleep_until(world, off_s)
                world.cut_power()
                await _sleep_until(world, on_s)
                world.restore_power()
            async with self._powered(world) as (watches, lamps):
                return await self._until_verdict(world, scene, watches, lamps)
        finally:
            await world.close()

    @asynccontextmanager
    async def _powered(self, world: World) -> AsyncIterator[tuple[list[IcWatch], LampPlayer]]:
        """The shipped code from power-up on, with what it kept from the last time."""
        memory = self._surface.memory()
        self._surface = Surface()
        self.spots = {
            sensor: sensing.Spot(sensor, stored.calibration)
            for sensor, stored in self._stored.items()
        }
        board = Board.from_config(world.board, SimBackend(world))
        lamps = LampPlayer(board.lamps, lambda: None, lambda _: None)
        watches = self._new_watches(world, board, lamps)
        if memory is not None:
            self._surface.remember(*memory)
        await board.start_lamps()
        tasks = [
            *(asyncio.create_task(watch.run(), name=watch.name) for watch in watches),
            asyncio.create_task(lamps.run(), name="lamps"),
        ]
        try:
            yield watches, lamps
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            board.close()

    async def _until_verdict(
        self, world: World, scene: Scene, watches: list[IcWatch], lamps: LampPlayer
    ) -> dict[str, int]:
        if scene.early_start_s is not None:
            await _sleep_until(world, scene.early_start_s)
            await asyncio.gather(*(watch.look_now() for watch in watches))
            self._lock()
            self._show(lamps)
        await self._until_start(world, scene)
        await asyncio.gather(*(watch.look_now() for watch in watches))
        verdicts = self._lock()
        self._show(lamps)
        await aio.sleep_ms(LOOK_AFTER_MS)
        if scene.bus_fault != "stuck":  # else the lamps cannot be reached either
            self._look(world, verdicts)
        return dict(verdicts)

    def _new_watches(self, world: World, board: Board, lamps: LampPlayer) -> list[IcWatch]:
        return [
            IcWatch(
                WatchedIc(
                    name,
                    ic,
                    {each.electrode: self.spots[each.id] for each in world.board.sensors_on(name)},
                    [self._stored[each.id].reference for each in world.board.sensors_on(name)],
                ),
                lambda: self._show(lamps),
                lambda: None,
                self._surface,
                lambda: not self._round_open,
            )
            for name, ic in board.ics.items()
        ]

    async def _until_start(self, world: World, scene: Scene) -> None:
        moments: list[tuple[float, Callable[[], None]]] = []
        for begin_s, end_s in scene.rounds:
            moments += [(begin_s, partial(self._open, True)), (end_s, partial(self._open, False))]
        moments.append((scene.rest_s, self._come_to_rest))
        if scene.bus_fault == "nack":
            moments.append((scene.bus_fault_s, partial(_silence, world)))
        elif scene.bus_fault == "stuck":
            moments.append((scene.bus_fault_s, partial(world.faults.stick_bus, BUS)))
        for at_s, act in sorted(moments, key=lambda moment: moment[0]):
            await _sleep_until(world, at_s)
            act()
        await _sleep_until(world, scene.start_s)

    def _open(self, is_open: bool) -> None:
        self._round_open = is_open

    def _come_to_rest(self) -> None:
        self._at_rest = True
        self._lit = self.spots[TARGET].presence == sensing.PRESENT

    def _lock(self) -> list[tuple[str, int]]:
        now_ms = aio.ticks_ms()
        verdicts = [(sensor, spot.verdict_at_lock(now_ms)) for sensor, spot in self.spots.items()]
        rules = Rules("touch", list(self.spots), [], 0, 0)
        rules.link_up = rules.meters_fresh = True
        events, _refusal = decide(self._state, rules, commands.start(verdicts))
        for event in events:
            apply(self._state, event)
        self._round_open = self._state.round_open
        return verdicts

    def _show(self, lamps: LampPlayer) -> None:
        lit = self.spots[TARGET].presence == sensing.PRESENT
        if self._at_rest and lit != self._lit:
            self._lit = lit
            self.lit_changes += 1
        lamps.show(
            {
                sensor: lights.light_of(sensor, spot.presence, self._state, 0)
                for sensor, spot in self.spots.items()
            }
        )

    def _look(self, world: World, verdicts: list[tuple[str, int]]) -> None:
        for sensor, verdict in verdicts:
            if world.light(sensor) in CONTRADICTS[verdict]:
                self.wrong_lights.append(f"{sensor} {world.light(sensor)}")


def _silence(world: World) -> None:
    for ic in {sensor.ic for sensor in world.board.sensors}:
        world.faults.nack(ic)


async def _sleep_until(world: World, at_s: float) -> None:
    left_ms = int(at_s * 1000) - world.now_ns() // 1_000_000
    if left_ms > 0:
        await aio.sleep_ms(left_ms)
