"""Live readings, bus scan and guided calibration on simulated hardware, sound and broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from controller.data_folder import references_path
from controller.evidence.health_store import DAY_MS, Stretch
from controller.felt.references import (
    FeltReferences,
    load_calibrations,
    load_references,
    save_references,
)
from controller.service.admission import ServiceRefused
from controller.service.live.around import ServicePlace
from controller.service.live.calibrating import previous_path, undo_calibration
from controller.service.live.readings import LIVE_EVERY_MS
from controller.service.live.table import LiveTable
from hal import aio
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual
from tests.kit.service_table import (
    READY_MS,
    SEED,
    TABLES,
    TECH,
    open_table,
    service_of,
    stay,
    unit_of,
    until_done,
)


async def scanned(table: FloorTable) -> list[dict[str, Any]]:
    service = service_of(table)
    service.acts.begin_scan()
    await until_done(service)
    found: list[dict[str, Any]] = service.view()["scan"]
    return found


async def scan_a_sound_and_a_broken_table(name: str) -> None:
    async with open_table(name) as (_floor, table):
        await service_of(table).acts.enter(TECH)
        sound = await scanned(table)
        assert {each["name"] for each in sound} == {ic.name for ic in table.config.board.ics}
        assert {each["state"] for each in sound} == {"answers"}, sound
        assert service_of(table).view()["counters"][0]["faults"] == 0
        silent = table.config.board.sensors[0].ic
        table.world.faults.nack(silent)
        states = {each["name"]: each["state"] for each in await scanned(table)}
        assert states.pop(silent) == "silent"
        assert set(states.values()) == {"answers"}


@pytest.mark.parametrize("name", TABLES)
def test_a_scan_names_the_ic_that_is_silent(name: str) -> None:
    run_virtual(scan_a_sound_and_a_broken_table(name))


async def scan_a_held_bus() -> None:
    async with open_table() as (_floor, table):
        await service_of(table).acts.enter(TECH)
        table.world.faults.ground_bus(table.config.board.buses[0].number)
        rows = await scanned(table)
        assert rows
        assert all("not asked" in each["state"] for each in rows)
        assert service_of(table).view()["counters"][0]["faults"] > 0
        table.world.faults.clear_bus(table.config.board.buses[0].number)
        assert {each["state"] for each in await scanned(table)} == {"answers"}


def test_a_held_bus_is_not_taken_for_a_full_one() -> None:
    run_virtual(scan_a_held_bus())


async def watch_the_sensors(name: str) -> None:
    async with open_table(name) as (_floor, table):
        service = service_of(table)
        watches = unit_of(table).felt.ic_watches
        sensors = [each["id"] for each in service.view()["sensors"]]
        chip = sensors[2]

        async def look(ms: int) -> list[Any]:
            for _ in range(ms // LIVE_EVERY_MS):
                service.frame()
                await aio.sleep_ms(LIVE_EVERY_MS)
            rows: list[Any] = service.frame()["s"]
            return rows

        rows = await look(1500)
        assert [row[3] for row in rows] == ["absent"] * len(sensors)
        assert {row[5] for row in rows} == {"empty felt"}
        table.place(chip)
        rows = await look(2000)
        raw, reference, level, presence, kind, thinks, light = rows[sensors.index(chip)]
        assert (presence, kind, thinks, light) == ("present", "chip", "a chip, proven", "detected")
        assert raw < reference
        assert 0.7 < level < 1.3
        scale = service.view()["sensors"][sensors.index(chip)]
        assert scale["empty_max"] < scale["chip_min"] < scale["chip_max"]
        table.world.faults.nack(table.config.board.sensors[0].ic)
        rows = await look(3000)
        first = rows[0]
        assert first[0] is None
        assert first[2] is None
        assert first[3] == "fault"
        assert first[5], "it says why"
        assert watches


@pytest.mark.parametrize("name", ["four-card-touch", "four-card-touch-fdc", "face-up-pai-gow-dual"])
def test_a_frame_tells_what_is_read_and_what_is_made_of_it(name: str) -> None:
    run_virtual(watch_the_sensors(name))


async def press(service: LiveTable, button: str) -> dict[str, Any]:
    service.acts.press_calibration(button)
    await stay(service, 500)
    while (service.view()["calibration"] or {}).get("measuring"):
        await stay(service, 500)
    found: dict[str, Any] = service.view()["calibration"]
    return found


async def calibrated_table(floor: Floor, data: Path, restarts: list[int]) -> FloorTable:
    table = await floor.open_table("four-card-touch")
    unit = table.unit
    await unit.close()
    unit.service = ServicePlace(data, lambda: restarts.append(1))
    sensors = [each.id for each in table.config.board.sensors]
    raw = dict(unit.references.raw_by_sensor)
    save_references(references_path(data), table.config.board.serial, {s: raw[s] for s in sensors})
    await unit.power_on()
    await aio.sleep_ms(READY_MS)
    return table


async def calibrate_seat_by_seat(data: Path) -> None:
    floor, restarts = Floor(SEED), list[int]()
    try:
        table = await calibrated_table(floor, data, restarts)
        service, serial = service_of(table), table.config.board.serial
        path, before = references_path(data), references_path(data).read_text()
        await service.acts.enter(TECH)
        service.acts.begin_calibration()
        await stay(service, 500)
        assert service.view()["calibration"]["step"] == "empty"
        with pytest.raises(ServiceRefused):
            service.acts.press_calibration("save")
        now = await press(service, "measure")
        assert (now["step"], now["seat"]) == ("seat", 1)
        for seat in range(1, 8):
            if seat != 4:
                table.place(f"{seat}A")
            await stay(service, 1000)
            now = await press(service, "skip" if seat == 6 else "measure")
        assert now["step"] == "review"
        assert now["results"]["4A"]["verdict"] == "bad"
        assert (await press(service, "save"))["step"] == "review", "a bad seat was saved"
        assert path.read_text() == before
        for _ in range(4):
            now = await press(service, "back")
        assert now["seat"] == 4
        assert "4A" not in now["results"], "undo forgets what was measured"
        table.place("4A")
        await stay(service, 1000)
        for seat in (4, 5, 6, 7):
            now = await press(service, "skip" if seat == 6 else "measure")
        assert {each["verdict"] for each in now["results"].values()} == {"good"}, now
        now = await press(service, "save")
        assert (now["step"], restarts) == ("done", []), "nobody could see that it was saved"
        await stay(service, 1500)
        assert restarts == [1]
        known = load_calibrations(path, serial)
        assert sorted(known) == ["1A", "2A", "3A", "4A", "5A", "7A"], "seat 6 was left out"
        sensors = [each.id for each in table.config.board.sensors]
        assert len(load_references(path, serial, sensors)) == 7
        assert previous_path(data).read_text() == before
        saved = path.read_text()
        await service.acts.undo_calibration()
        assert (path.read_text(), restarts) == (before, [1, 1])
        undo_calibration(data)
        assert path.read_text() == saved, "an undo can be undone"
    finally:
        await floor.close()


def test_a_calibration_goes_seat_by_seat_and_can_be_taken_back(tmp_path: Path) -> None:
    run_virtual(calibrate_seat_by_seat(tmp_path))


async def give_a_calibration_up(data: Path) -> None:
    floor, restarts = Floor(SEED), list[int]()
    try:
        table = await calibrated_table(floor, data, restarts)
        service, before = service_of(table), references_path(data).read_text()
        await service.acts.enter(TECH)
        service.acts.begin_calibration()
        await stay(service, 500)
        await press(service, "measure")
        await service.mode.leave()
        await aio.sleep_ms(3000)
        assert service.view()["calibration"] is None
        assert references_path(data).read_text() == before
        assert not restarts
        assert unit_of(table).pages.view()["state"] == "open"
        with pytest.raises(ServiceRefused, match="no earlier calibration"):
            undo_calibration(data)
    finally:
        await floor.close()


def test_a_calibration_that_is_given_up_changes_nothing(tmp_path: Path) -> None:
    run_virtual(give_a_calibration_up(tmp_path))


async def calibrate_for_the_first_time(data: Path) -> None:
    floor, restarts = Floor(SEED), list[int]()
    try:
        table = await calibrated_table(floor, data, restarts)
        await table.unit.close()
        references_path(data).unlink()
        table.unit.references = FeltReferences(fault="The table is closed: never calibrated.")
        await table.unit.power_on()
        await aio.sleep_ms(READY_MS)
        service = service_of(table)
        await service.acts.enter(TECH)
        assert {row[1] for row in service.frame()["s"]} == {None}, "there is no reference yet"
        with pytest.raises(ServiceRefused, match="never calibrated"):
            service.acts.begin_selftest()
        service.acts.begin_calibration()
        await stay(service, 500)
        await press(service, "measure")
        for seat in range(1, 8):
            table.place(f"{seat}A")
            await stay(service, 1000)
            await press(service, "measure")
        assert (await press(service, "save"))["step"] == "done"
        assert len(load_calibrations(references_path(data), table.config.board.serial)) == 7
        await stay(service, 1500)
        assert restarts == [1]
        assert not service.view()["can_undo"]
    finally:
        await floor.close()


def test_a_unit_that_was_never_calibrated_is_calibrated_from_the_page(tmp_path: Path) -> None:
    run_virtual(calibrate_for_the_first_time(tmp_path))


async def tell_health() -> None:
    async with open_table() as (_floor, table):
        store = unit_of(table).hardware.stores.health
        worn = [Stretch("3A", day * DAY_MS, 0.01, 0.0, 0.6, 20, 0.01, 900, 0) for day in range(9)]
        store.keep([*worn, Stretch("1A", 8 * DAY_MS, 0.01, 0.0, 1.0, 20, 0.01, 900, 0)])
        rows = {row["id"]: row for row in await service_of(table).health()}
        assert rows["1A"]["advice"] == ""
        assert rows["3A"]["advice"].startswith("replace")
        assert [day["chip"] for day in rows["3A"]["days"]] == [0.6] * 9


def test_health_is_told_with_its_history() -> None:
    run_virtual(tell_health())


async def selftest_with(name: str, fault: str) -> None:
    """A broken part is told in time, the watchdog is content, and a mended table plays again."""
    async with open_table(name) as (_floor, table):
        service, unit = service_of(table), unit_of(table)
        faults, board = table.world.faults, table.config.board
        bus = board.buses[0].number
        lamp_ics = sorted({sensor.lamp_ic for sensor in board.sensors})
        await service.acts.enter(TECH)
        if fault == "bus on ground":
            faults.ground_bus(bus)
        elif fault == "bus held":
            faults.stick_bus(bus)
        else:
            for ic in lamp_ics:
                faults.nack(ic)
        began_ms = aio.ticks_ms()
        service.acts.begin_selftest()
        while service.mode.is_working:
            await stay(service, 500)
            assert unit.is_healthy(), "the watchdog would bite"
        assert aio.ticks_diff(aio.ticks_ms(), began_ms) < 30_000
        failed = [each for each in service.view()["selftest"] if not each["passed"]]
        assert failed
        assert all(each["sentence"] for each in failed)
        faults.clear_bus(bus)
        await stay(service, 6000)
        await service.mode.leave()
        await aio.sleep_ms(6000)
        assert unit.pages.view()["state"] == "open"
        assert {table.light(sensor.id) for sensor in board.sensors} == {"off"}


@pytest.mark.parametrize("fault", ["bus on ground", "bus held", "lamps silent"])
@pytest.mark.parametrize("name", ["four-card-touch-fdc", "face-up-pai-gow-keypad"])
def test_a_selftest_of_a_broken_table_ends_and_a_mended_one_opens(name: str, fault: str) -> None:
    run_virtual(selftest_with(name, fault))
