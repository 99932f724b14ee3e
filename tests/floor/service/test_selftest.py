"""The self-test on the simulated board: everything in order, and every broken part named."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from controller.config import load_unit_config
from controller.felt.calibration import measure_empty
from controller.service.part_result import PartResult
from controller.service.selftest import run_selftest
from hal import aio
from hal.board.config import BoardConfig
from hal.board.open import Board
from hal.bus.recovery import OpenDrainLine, PinsNotAvailable
from hal.errors import SensorFault
from sim.floor.floor import simulated
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.bus_pins import SimBusPins
from sim.time.loop import run_virtual
from tests.kit.places import table_path

TOUCH, TOUCH_FDC, KEYPAD = "four-card-touch", "four-card-touch-fdc", "four-card-keypad"
on_each_sensing_board = pytest.mark.parametrize("table", [KEYPAD, TOUCH_FDC])
WELL: Callable[[World], None] = lambda _world: None  # noqa: E731


def verdicts(
    table: str = KEYPAD,
    break_it: Callable[[World], None] = WELL,
    wire: Callable[[BoardConfig], BoardConfig] = lambda board: board,
) -> list[PartResult]:
    async def test() -> list[PartResult]:
        wired = wire(simulated(load_unit_config(table_path(table))).board)
        world = World(wired)
        world.start()
        board = Board.from_config(wired, SimBackend(world))
        try:
            references = await measure_empty(board)
            break_it(world)
            await aio.sleep_ms(300)
            found = await run_selftest(board, references)
            await aio.sleep_ms(1500)
            assert {world.light(sensor.id) for sensor in board.sensors} == {"off"}
            return found
        finally:
            board.close()
            await world.close()

    return run_virtual(test())


def faults(found: list[PartResult]) -> list[str]:
    return [verdict.part for verdict in found if not verdict.passed]


def sentence_of(found: list[PartResult], part: str) -> str:
    return next(verdict.sentence for verdict in found if verdict.part == part)


@pytest.mark.parametrize("table", [TOUCH, TOUCH_FDC, KEYPAD])
def test_a_sound_board_passes_in_every_part(table: str) -> None:
    found = verdicts(table)
    assert faults(found) == []
    parts = {verdict.part for verdict in found}
    assert {"lamps", "light 1A", "sensor 7A", "tamper switch", "bus 1"} <= parts
    assert "recovery of bus 1" in parts
    assert ("card reader" in parts) == (table != KEYPAD)
    assert ({"keypad", "key switch"} <= parts) == (table == KEYPAD)


@on_each_sensing_board
def test_a_chip_on_the_felt_is_told_and_is_no_fault(table: str) -> None:
    found = verdicts(table, lambda world: world.place_chip("3A"))
    assert faults(found) == []
    assert "a chip" in sentence_of(found, "sensor 3A")


def test_a_dead_lamp_ic_fails_every_light() -> None:
    found = faults(verdicts(break_it=lambda world: world.faults.nack("lights-1")))
    assert {"lamps", "light 1A", "light 7A", "bus 1"} <= set(found)
    assert "sensor 1A" not in found


@pytest.mark.parametrize(("table", "seats"), [(KEYPAD, range(1, 8)), (TOUCH_FDC, range(1, 5))])
def test_a_dead_sensing_ic_fails_its_sensors_only(table: str, seats: range) -> None:
    found = faults(verdicts(table, lambda world: world.faults.nack("sense-1")))
    assert found == [*(f"sensor {seat}A" for seat in seats), "bus 1"]


@on_each_sensing_board
def test_a_broken_electrode_fails_one_sensor(table: str) -> None:
    found = faults(verdicts(table, lambda world: world.faults.break_electrode("4A")))
    assert found == ["sensor 4A"]


def test_a_stuck_key_and_a_key_between_two_positions_are_named() -> None:
    def break_it(world: World) -> None:
        world.controls.press("START", hold_ms=None)
        world.controls.turn_key("BETWEEN")

    found = verdicts(break_it=break_it)
    assert faults(found) == ["keypad", "key switch"]
    assert "START" in sentence_of(found, "keypad")


def test_a_supply_switch_that_switches_nothing_is_found_before_it_is_needed() -> None:
    def cut_the_switchs_wires(world: World) -> None:
        for gpio in (2, 3, 4):
            world.pins.listen(gpio, lambda level: None)

    found = verdicts(break_it=cut_the_switchs_wires)
    assert faults(found) == ["recovery of bus 1"]
    assert "still had it" in sentence_of(found, "recovery of bus 1")


def test_a_unit_that_may_not_take_its_bus_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: SimBusPins) -> tuple[OpenDrainLine, OpenDrainLine]:
        raise PinsNotAvailable("This user may not.")

    monkeypatch.setattr(SimBusPins, "take", refuse)
    found = verdicts()
    assert faults(found) == ["recovery of bus 1"]
    assert sentence_of(found, "recovery of bus 1") == "This user may not."


def test_a_held_bus_is_named_and_the_test_leaves_it_as_it_was() -> None:
    found = verdicts(break_it=lambda world: world.faults.ground_bus(1))
    assert "recovery of bus 1" in faults(found)


def test_a_board_without_a_switch_passes_and_says_what_it_cannot_do() -> None:
    def without_switch(board: BoardConfig) -> BoardConfig:
        buses = tuple(dataclasses.replace(bus, supply_gpio=None) for bus in board.buses)
        return dataclasses.replace(board, buses=buses)

    found = verdicts(wire=without_switch)
    assert faults(found) == []
    assert "nothing is wired to cut its supply" in sentence_of(found, "recovery of bus 1")


@pytest.mark.parametrize("table", [TOUCH, TOUCH_FDC])
def test_a_restless_felt_is_not_learnt(table: str) -> None:
    async def measure() -> None:
        config = simulated(load_unit_config(table_path(table)))
        world = World(config.board)
        world.start()
        board = Board.from_config(config.board, SimBackend(world))
        try:
            task = aio.create_task(measure_empty(board))
            await aio.sleep_ms(60)
            world.place_chip("2A")
            await task
        finally:
            board.close()
            await world.close()

    with pytest.raises(SensorFault, match="2A"):
        run_virtual(measure())
