"""One table to be made ill: a physical felt, a clock of its own, certificates, a computer below it.

It alone knows how a floor's table is prepared for it. What goes wrong is `faults`', who plays and
who looks after it `evening`'s.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from controller.link.call_order import Connect
from controller.service.live.around import ServicePlace
from controller.unit import Unit
from hal.board.config import IcConfig
from hal.loop_watch import UNIT_BEAT_S, LoopWatch
from protocol.secrets import tls
from protocol.wire.stream import FrameStream
from sim.felt.physics.table import PhysicalTable
from sim.floor.floor import Floor, FloorTable
from sim.runs.diagnose.certificates import DAY, Authority, handshake_error
from sim.runs.diagnose.machine_files import MachineFiles
from sim.runs.storm.floor.clock import MachineClock
from sim.time.loop import VirtualLoop

TOUCH, KEYPAD = "four-card-touch", "four-card-keypad"
CARD_READER = '\n[board.card_reader]\npath = "/dev/ttyACM0"\n'


class IllTable:
    """A table of a floor, and everything that a fault may reach for."""

    def __init__(
        self, floor: Floor, table: FloorTable, chance: random.Random, folder: Path
    ) -> None:
        self.floor, self.table, self.chance = floor, table, chance
        self.world = table.world
        self.sensors = [sensor.id for sensor in table.config.board.sensors]
        self.physics = PhysicalTable(self.sensors, chance.getrandbits(32))
        self.world.lay_felt(self.physics)
        for pad in self.physics.pads.values():
            pad.lamp = None  # what a lamp does to its pad is no fault, and is tried elsewhere
        self.machine = MachineFiles(folder / "root")
        self.clock = MachineClock()
        self.watch: LoopWatch | None = None
        self._struck: set[str] = set()
        self.identity = folder / "data" / "identity"
        self.identity.mkdir(parents=True)
        self.authority = Authority("Floor CA")
        self.authority.write(self.identity / "ca.pem")
        self.authority.issue(
            table.config.board.serial, self.identity / "unit.pem", datetime.now(UTC) + 165 * DAY
        )
        self._manager_side = folder / "manager.pem"
        self.authority.issue(tls.MANAGER_NAME, self._manager_side, datetime.now(UTC) + 400 * DAY)
        self._manager_ca = folder / "manager-ca.pem"
        self.authority.write(self._manager_ca)
        unit = table.unit
        unit.wall_ms = self.clock
        unit.service = ServicePlace(folder / "data", root=self.machine.root)
        unit.companion = self._watch_loop
        self._connect: Connect = unit.connect

    def another_ic(self, chance: random.Random, ics: Sequence[IcConfig]) -> IcConfig:
        """One that nothing struck yet: of two faults in one part nobody could tell both."""
        ic = chance.choice([each for each in ics if each.name not in self._struck] or ics)
        self._struck.add(ic.name)
        return ic

    def other_sensors(self, chance: random.Random, count: int) -> list[str]:
        """So many neighbours that nothing struck yet, or fewer where there is no room for them.

        Of two faults in one pad nobody could tell both.
        """
        for length in range(count, 0, -1):
            runs = [self.sensors[at : at + length] for at in range(len(self.sensors) - length + 1)]
            free = [each for each in runs if self._struck.isdisjoint(each)]
            if free:
                run = chance.choice(free)
                self._struck.update(run)
                return run
        raise AssertionError("Every pad is struck already.")

    @property
    def unit(self) -> Unit | None:
        return self.table.unit.controller

    def chip_ff(self, sensor: str) -> float:
        """What a chip adds at this pad: the measure of anything else that is put there."""
        return self.physics.chip_ff * self.physics.pads[sensor].sensitivity

    def use_tls(self) -> None:
        """From the next call on, both ends show their certificates."""

        async def connect(address: str) -> FrameStream:
            own, ca = self.identity / "unit.pem", self.identity / "ca.pem"
            unit = tls.unit_context(own, own, ca)
            at_manager = self._manager_side
            manager = tls.manager_context(at_manager, at_manager, self._manager_ca)
            refused = handshake_error(unit, manager)
            if refused:
                raise tls.TlsRefused(refused)
            return await self._connect(address)

        self.table.unit.connect = connect

    async def restart(self, orderly: bool = True) -> None:
        """Stopped by a technician, or the plug was pulled; on again some seconds later."""
        await self.stop(orderly)
        await asyncio.sleep(self.chance.uniform(2, 6))
        await self.table.restore_power()

    async def stop(self, orderly: bool = True) -> None:
        if orderly:
            await self.table.unit.close()
            self.world.cut_power()
            self.table.disk.cut_power()
        else:
            await self.table.cut_power()

    async def _watch_loop(self, unit: Unit) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        self.watch = LoopWatch(
            unit.evidence.diary.loop_held, loop.time, sampling=False, beat_s=UNIT_BEAT_S
        )
        await self.watch.run()


def new_table(
    floor: Floor, faults: Collection[str], chance: random.Random, folder: Path
) -> IllTable:
    """A shipped table that has the parts which these faults need."""
    needs_keys, needs_cards = "stuck-key" in faults, "half-read-cards" in faults
    is_keypad = needs_keys or (not needs_cards and chance.random() < 0.5)
    more = CARD_READER if is_keypad and needs_cards else ""
    table = floor.new_table(KEYPAD if is_keypad else TOUCH, more)
    return IllTable(floor, table, chance, folder)
