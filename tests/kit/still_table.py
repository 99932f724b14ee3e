"""Moments of a technician's evening at one table, kept whole and shown by the shipped service page.

The table is played in virtual time, so a moment is the same on a slow machine; the page that shows
it is the unit's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from controller.data_folder import references_path
from controller.felt.references import save_references
from controller.service.live.around import ServicePlace
from controller.service.live.event_log import LogTail
from controller.service.live.table import LiveTable
from hal import aio
from sim.floor.floor import Floor, FloorTable
from tests.kit.service_table import READY_MS, SEED, TECH, service_of, stay, unit_of, until_done

FRAMES, FRAME_MS = 60, 50
Kept = dict[str, Any]


async def kept(service: LiveTable) -> Kept:
    """Everything that the page asks for, as it stands now."""
    frames = []
    for _ in range(FRAMES):
        service.mode.seen()
        frames.append(service.frame())
        await aio.sleep_ms(FRAME_MS)
    rounds = await service.rounds()
    return {
        "name": service.name,
        "serial": service.serial,
        "view": service.view(),
        "frames": frames,
        "unit": await service.unit_view(),
        "health": await service.health(),
        "events": await service.events(0),
        "rounds": rounds,
        "traces": {number: await service.trace(number) for number in rounds},
    }


async def evening(name: str, data: Path) -> dict[str, Kept]:
    """Bets, a game, a service with every test, a calibration, and two broken parts."""
    floor, found = Floor(SEED), dict[str, Kept]()
    try:
        table = await _table_with_references(floor, name, data)
        service = service_of(table)
        seats = [each.id for each in table.config.board.sensors]
        for sensor in (seats[0], seats[len(seats) // 2], seats[-1]):
            table.place(sensor)
            await aio.sleep_ms(1500)
        found["bets"] = await kept(service)
        await unit_of(table).inputs.presses.press("START")
        await aio.sleep_ms(7000)
        found["game"] = await kept(service)
        await unit_of(table).inputs.presses.press("END")
        for sensor in (seats[0], seats[len(seats) // 2], seats[-1]):
            table.remove(sensor)
        await aio.sleep_ms(6000)
        await service.acts.enter(TECH)
        await _try_everything(table, service)
        found["tested"] = await kept(service)
        found["calibrating"], found["calibrated"] = await _calibrated(table, service, seats)
        await service.mode.stop_work()
        await until_done(service)
        _break(table)
        await stay(service, 3000)
        service.acts.begin_scan()
        await until_done(service)
        service.acts.begin_selftest()
        await until_done(service)
        found["broken"] = await kept(service)
    finally:
        await floor.close()
    return found


async def _table_with_references(floor: Floor, name: str, data: Path) -> FloorTable:
    table = await floor.open_table(name)
    unit = table.unit
    await unit.close()
    unit.service = ServicePlace(data, lambda: None)
    references = dict(unit.references.raw_by_sensor)
    mine = {each.id: references[each.id] for each in table.config.board.sensors}
    save_references(references_path(data), table.config.board.serial, mine)
    await unit.power_on()
    await aio.sleep_ms(READY_MS)
    return table


async def _try_everything(table: FloorTable, service: LiveTable) -> None:
    board = table.config.board
    for key in board.keypad.keys if board.keypad else ():
        table.world.controls.press(key, hold_ms=200)
        await stay(service, 500)
    if board.keyswitch:
        table.turn_key("JPH")
        await stay(service, 1000)
        table.turn_key("RUN")
    if board.card_reader:
        table.swipe("SUPERVISOR")
        await stay(service, 1500)
    service.acts.begin_scan()
    await until_done(service)
    service.acts.begin_selftest()
    await until_done(service)


async def _calibrated(
    table: FloorTable, service: LiveTable, sensors: Sequence[str]
) -> tuple[Kept, Kept]:
    """The step at the second seat, and the review after the last."""
    service.acts.begin_calibration()
    await stay(service, 500)
    await _press(service, "measure")
    steps: list[Kept] = []
    seats = sorted({int(sensor[:-1]) for sensor in sensors})
    for seat in seats:
        for sensor in sensors:
            if int(sensor[:-1]) == seat:
                table.place(sensor)
        await stay(service, 1000)
        if seat == seats[1]:
            steps.append(await kept(service))
        await _press(service, "measure")
    steps.append(await kept(service))
    for sensor in sensors:
        table.remove(sensor)
    return steps[0], steps[1]


async def _press(service: LiveTable, button: str) -> None:
    service.acts.press_calibration(button)
    await stay(service, 500)
    while (service.view()["calibration"] or {}).get("measuring"):
        await stay(service, 500)


def _break(table: FloorTable) -> None:
    """A lamp IC is silent, and a pad came off."""
    sensors = table.config.board.sensors
    table.world.faults.nack(sensors[0].lamp_ic)
    table.world.faults.break_electrode(sensors[-1].id, shorted=False)


class StillTable:
    """A `LiveTable` for which no time passes; `show` chooses the moment."""

    def __init__(self, moment: Kept) -> None:
        self._kept = moment
        self._frame = count()
        self.log = LogTail()
        self.mode = SimpleNamespace(seen=lambda: None, tech=TECH)
        self.sign_in = SimpleNamespace(admit=_nothing)
        self.acts = SimpleNamespace(press_calibration=lambda button: None)

    def show(self, moment: Kept) -> None:
        self._kept = moment

    @property
    def name(self) -> str:
        return str(self._kept["name"])

    def view(self) -> Any:
        return self._kept["view"]

    def frame(self) -> Any:
        return self._kept["frames"][next(self._frame) % FRAMES]

    async def unit_view(self) -> Any:
        return self._kept["unit"]

    async def health(self) -> Any:
        return self._kept["health"]

    async def events(self, after: int) -> Any:
        return [each for each in self._kept["events"] if each["sequence"] > after]

    async def rounds(self) -> Any:
        return self._kept["rounds"]

    async def trace(self, number: int) -> Any:
        return self._kept["traces"][number]


async def _nothing(*_: Any) -> None:
    return
