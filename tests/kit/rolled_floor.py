"""A floor whose units run from the image: each has two slots, a spool and its own updater.

The updater is the shipped one, with the shipped script that chooses the slot; RAUC and the firmware
are played (`slotted_unit`). The table is the shipped one on simulated hardware. When a bundle lies
ready for it, the updater runs, and the table starts anew as the unit would.
"""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from controller.service.program_log import UpdatePlace
from deploy.update.__main__ import take_from
from deploy.update.bundle import Program
from deploy.update.spool import Spool
from hal import aio
from kit import program_spool
from manager.app import Manager
from manager.rollouts.progress import Progress, State
from manager.rollouts.rollouts import ROLL_OUT, Rollouts
from protocol.wire.program_steps import Step
from sim.floor.floor import Floor, FloorTable
from tests.kit.slotted_unit import FORMATS, OLD, Behaviour, SlotImage, SlottedUnit
from tests.kit.update_files import BOARD, update_file

NEW_VERSION = "0.2.0+20260601.000000"
TABLE = "four-card-touch"
HOLD_MINUTES = 5


@dataclass
class ImageUnit(SlottedUnit):
    """Its bundles come from the table's spool."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.here = self.folder / "program.json"
        self.spool = self.folder / "data/underfelt" / program_spool.FOLDER
        self._name_program()

    @property
    def place(self) -> UpdatePlace:
        return UpdatePlace(self.spool, self.notes, self.here)

    @property
    def is_asked(self) -> bool:
        return any((self.spool / program_spool.READY).glob("*.raucb"))

    def run(self, program: Program) -> None:
        self._name_program()
        updater = self.updater(program)
        updater.settle()
        take_from(Spool(self.spool, self.notes / program_spool.FOLDER), updater)

    def _name_program(self) -> None:
        self.here.write_text(json.dumps({"version": self.running().program.version}))


class RolledFloor:
    def __init__(self, floor: Floor, folder: Path) -> None:
        self.floor = floor
        self.folder = folder
        self.tables: list[FloorTable] = []
        self.units: list[ImageUnit | None] = []
        self.rollouts.keep_in(folder)

    @property
    def manager(self) -> Manager:
        return self.floor._manager.app

    @property
    def rollouts(self) -> Rollouts:
        return self.manager.rollouts

    @property
    def progress(self) -> Progress:
        assert self.rollouts.progress is not None
        return self.rollouts.progress

    async def add_table(self, behaviour: Behaviour | None, version: str = NEW_VERSION) -> None:
        """`behaviour` is how the new program runs there; None for a unit installed by hand."""
        table = await self.floor.open_table(TABLE)
        number = len(self.tables)
        unit = None
        if behaviour is not None:
            new = SlotImage(Program(version, BOARD, FORMATS), behaviour)
            unit = ImageUnit(self.folder / f"unit-{number}", new)
            unit.slots["A"] = SlotImage(Program(OLD.version, BOARD, FORMATS), Behaviour())
            table.unit.updates = unit.place
            await table.cut_power()
            await table.restore_power()
        self.tables.append(table)
        self.units.append(unit)

    def id_of(self, number: int) -> str:
        return self.tables[number].config.table_id

    def bring(self, content: bytes) -> str:
        assert self.rollouts.shelf is not None
        return self.rollouts.shelf.add(io.BytesIO(content), "Ann", 1).digest

    def begin(self, digest: str, first: int = 0, then: str = "1", hold: int = HOLD_MINUTES) -> str:
        words = {"bundle": digest, "first": self.id_of(first), "then": then, "hold": str(hold)}
        return self.correct(ROLL_OUT, **words)

    def correct(self, command: str, second: str = "Bob", **words: str) -> str:
        request = {"command": command, **words, "operator": "Ann", "second": second}
        return self.manager.correct(request)

    def steps(self) -> list[Step | None]:
        rows = [self.progress.tables.get(self.id_of(n)) for n in range(len(self.tables))]
        return [Step(row.step) if row else None for row in rows]

    def reason(self, number: int) -> str:
        return self.progress.tables[self.id_of(number)].reason

    def alarms(self, code: str) -> list[str]:
        return [each.sentence for each in self.manager.book.alarms.newest(200) if each.code == code]

    async def live(self, seconds: int, only: Iterable[int] | None = None) -> None:
        """Time passes; whoever has a bundle ready is updated, as systemd would."""
        chosen = range(len(self.tables)) if only is None else list(only)
        for _ in range(seconds):
            await aio.sleep_ms(1000)
            for number in chosen:
                unit = self.units[number]
                if unit is not None and unit.is_asked:
                    await self.update(number)

    async def update(self, number: int) -> None:
        unit, table = self.units[number], self.tables[number]
        assert unit is not None
        before = unit.booted
        unit.power_on()
        if unit.booted != before or unit.running().program.version != OLD.version:
            await table.cut_power()
            await aio.sleep_ms(2000)
            await table.restore_power()

    async def restart_manager(self) -> None:
        """Its process is killed, and another one starts on the same disk and folder."""
        manager = self.floor._manager
        self.floor._network.crash(silent=False)
        manager.kill()
        await aio.sleep_ms(2000)
        manager.restart()
        self.floor._network.listen(self.floor._serve)
        self.rollouts.keep_in(self.folder)

    async def until(self, state: State, seconds_max: int = 3600) -> None:
        for _ in range(seconds_max):
            if self.progress.state is state:
                return
            await self.live(1)
        raise AssertionError(f"it is {self.progress}")


@asynccontextmanager
async def rolled_floor(
    folder: Path, *behaviours: Behaviour | None, seed: int = 3
) -> AsyncIterator[RolledFloor]:
    floor = Floor(seed)
    try:
        rolled = RolledFloor(floor, folder)
        for each in behaviours:
            await rolled.add_table(each)
        await aio.sleep_ms(3000)
        yield rolled
        unsound = floor.unsound_books()
        assert unsound == "", unsound
        assert floor.product_errors() == []
    finally:
        await floor.close()


def new_update(payload_bytes: int = 700_000) -> bytes:
    return update_file(NEW_VERSION, payload_bytes)
