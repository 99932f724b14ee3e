"""One table in a storm: its world, its unit, its disk, its cable, and the watch on them.

It alone knows how a table's power comes and goes. People and faults act through it; every act is a
disturbance, after which the table needs time to come to rest.
"""

from __future__ import annotations

import asyncio
import random
from functools import partial
from typing import Any

import apsw

from controller.journal.file import JournalFault
from controller.unit import Unit
from sim.floor.floor import stores_on
from sim.floor.world import World
from sim.network.network import Cable
from sim.runs.storm.checks.light_watch import WatchedLamps
from sim.runs.storm.checks.table_watch import TableWatch
from sim.runs.storm.draw.tables import TablePlan
from sim.runs.storm.floor.clock import MachineClock
from sim.runs.storm.floor.deep_felt import DeepFelt
from sim.runs.storm.floor.disk_slot import DiskSlot
from sim.runs.storm.floor.manager import StormManager
from sim.runs.storm.floor.panel import Panel
from sim.runs.storm.floor.patient_lamps import patient_player
from sim.runs.storm.floor.unit import StormUnit
from sim.runs.storm.floor.wide_felt import WideFelt, empty_references
from sim.runs.storm.options import WIDE
from sim.runs.storm.record import Record
from sim.storage.disk import SimDisk

PATIENCE_S = 1.0
HEARTBEAT_MS = 1500  # one each second, and some time on its way


class StormTable:
    def __init__(
        self,
        plan: TablePlan,
        manager: StormManager,
        record: Record,
        seed: str,
        cable: Cable,
        depth: str,
        original: StormTable | None = None,
    ) -> None:
        self.plan = plan
        self.manager = manager
        self.record = record
        self.cable = cable
        self.depth = depth
        self.original = original  # set for a unit that starts from a copied disk
        self.unit_id = plan.config.board.serial
        self.table_id = plan.table_id
        self.name = f"{plan.table_id} (copy)" if original else plan.table_id
        self.retired = False  # a forked unit waits for a person: it plays no more
        self.chance = random.Random(f"{seed}/table")
        self.clock = MachineClock()
        self.sensors = [sensor.id for sensor in plan.config.board.sensors]
        self.watch = TableWatch(
            self.name, self.sensors, record, lambda: not (cable.plugged and manager.running)
        )
        self.journal = self.watch.journal
        cable.on_arrival = self.watch.heard
        self.world = World(plan.config.board, self.chance.randrange(1 << 30))
        self.world.lamps = WatchedLamps(self.sensors, self._bright)
        self._dark = asyncio.Event()
        self.slot = DiskSlot(seed, self.clock, self._disk_lost_power, self._disk_changed)
        self.unit = StormUnit(
            plan.config,
            self.world,
            stores=stores_on(lambda: self.disk.vfs_name, self.slot.open_journal),
            connect=lambda _: manager.network.connect(cable),
            wall_ms=self.clock,
            seed=self.chance.randrange(1 << 30),
            at_power_cut=self._power_goes,
            disk_chance=random.Random(f"{seed}/disk-time"),
        )
        felt = WideFelt if depth == WIDE else DeepFelt
        self.unit.open_felt = partial(felt, self.world)
        self.unit.play_lamps = patient_player(self.watch.look_in_ms)
        if original is not None:  # the key that signs lies on the disk, and is copied with it
            self.unit.sealer = original.unit.sealer
        self.panel = Panel(self.unit)
        manager.process.enrol(self.unit.sealer)

    @property
    def disk(self) -> SimDisk:
        return self.slot.disk

    @property
    def controller(self) -> Unit | None:
        return self.panel.controller

    def is_in_touch(self) -> bool:
        """Nothing that went wrong keeps the manager's word from being heard and recorded here."""
        manager, disk = self.manager, self.disk
        is_well = not (disk.failing or disk.read_only or disk.size_max_bytes is not None)
        both_run = self.unit.alive and manager.running and not manager.halted
        may_hear = both_run and is_well and not self.journal.awaits_state
        # On a slow line old words still come while the newest are seconds away, or were lost with
        # the connection before.
        is_prompt = not self.cable.weather.slow_ms
        # A locked unit calls and is told that it is locked, and nothing else.
        may_hear = may_hear and is_prompt and not self.is_locked()
        return may_hear and self.watch.is_heard_of(HEARTBEAT_MS)

    def is_locked(self) -> bool:
        unit = self.manager.ledger.units.get(self.unit_id)
        return unit is not None and unit.locked

    # -- power -------------------------------------------------------------------------------

    async def install(self) -> None:
        """What a tech does first: calibrate on an empty felt, then with chips."""
        self.world.start()
        if self.depth == WIDE:
            self.unit.references = empty_references(self.world)
        else:
            await self.unit.calibrate()

    async def power_on(self) -> None:
        """Ends with the program running, or without power again, or with a violation."""
        if self.unit.alive:
            return
        await self.unit.bury()
        self.watch.disturb()
        if all(self.world.has_chip(sensor) for sensor in self.sensors):
            self.watch.felt_in_doubt = True
        self._dark.clear()
        try:
            await self.unit.boot(self._opened)
        except (JournalFault, apsw.Error) as fault:
            if self.disk.powered:
                self.record.violate("the disk can be read", self.name, str(fault))
        if not self.disk.powered:
            # It went between the opening's last use of the disk and the program's start.
            self.unit.die()
            self._dark.set()

    def _opened(self, journal: apsw.Connection) -> None:
        if self.disk.powered:
            self.watch.booted(journal, self.world.controls.key_position)

    def cut_power(self) -> None:
        """Now, whatever is going on."""
        self.watch.disturb()
        self.disk.cut_power()  # which tells the unit, unless it was dark already

    async def goes_dark(self, patience_s: float) -> bool:
        """Waits for a cut that is on its way."""
        try:
            async with asyncio.timeout(patience_s):
                await self._dark.wait()
        except TimeoutError:
            return False
        return True

    def _power_goes(self) -> None:
        self.disk.cut_power()
        self.manager.network.sever(self.cable, in_flight_arrives=self.chance.random() < 0.5)

    def _disk_lost_power(self) -> None:
        self.watch.power_goes(self.unit)
        self.unit.die()
        self._dark.set()

    async def close(self) -> None:
        await self.unit.bury()
        await self.unit.close()
        await self.world.close()
        self.disk.close()

    # -- watching ----------------------------------------------------------------------------

    def look(self) -> None:
        self.watch.look(self.unit)

    def check_lights(self) -> None:
        # A locked unit says so on every spot, whatever lies there.
        if self.unit.alive and not self.is_locked():
            self.watch.check_lights(self.world)

    def _disk_changed(self) -> None:
        self.watch.dirty = True
        self.manager.inspector.dirty(self)

    def _bright(self, sensor: str) -> None:
        self.look()
        self.watch.bright(sensor)

    # -- people ------------------------------------------------------------------------------

    def place(self, sensor: str) -> None:
        self._act("place", sensor)
        self.world.place_chip(sensor)

    def remove(self, sensor: str) -> None:
        self._act("remove", sensor)
        self.world.remove_chip(sensor)

    async def press(self, button: str) -> None:
        self._act("press", button)
        if self.plan.config.board.keypad is not None:
            self.world.controls.press(button)
        elif (controller := self.controller) is not None:
            await self.unit.serve(lambda: controller.pages.press(button), PATIENCE_S)

    def turn_key(self, position: str) -> None:
        if position != self.world.controls.key_position:
            self._act("key", position)
            self.world.controls.turn_key(position)

    def swipe(self, card: str) -> None:
        self._act("swipe", card)
        self.world.controls.swipe(card)

    def _act(self, *words: Any) -> None:
        self.watch.disturb()
        self.record.note("act", self.name, *words)
