"""The unchanged drivers over the register-accurate simulator, on the boards that ship.

The simulator was written from the chips' data sheets without looking at the drivers, so each of
these tests compares two independent readings of the same hardware.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from hal.aio import sleep_ms, wait_for_ms
from hal.board import Board
from hal.board_config import BoardConfig, parse_board
from hal.capacitive import CapacitiveSensor, ElectrodeReading
from hal.card_reader import BadSwipe, Swipe
from hal.errors import BusFault, ChipFault, HardwareFault, SensorFault
from hal.keypad import KeyChord, KeyPress
from sim.backend import SimBackend
from sim.card_machine import account_of
from sim.chips.mpr121 import IrqRule
from sim.i2c import CP2112, PI_0_TO_4, PI_5, Adapter
from sim.loop import run_virtual
from sim.world import World

T = TypeVar("T")
TABLES = Path(__file__).parents[2] / "deploy" / "tables"


def board_config(table: str) -> BoardConfig:
    text = (TABLES / f"{table}.toml").read_text(encoding="utf-8")
    return parse_board(tomllib.loads(text)["board"])


@asynccontextmanager
async def opened(
    table: str = "four-card-touch",
    irq_rule: IrqRule = IrqRule.STATUS_READ,
    adapter: Adapter = PI_0_TO_4,
) -> AsyncIterator[tuple[World, Board]]:
    world = World(board_config(table), irq_rule=irq_rule, adapter=adapter)
    world.start()
    board = Board.from_config(world.board, SimBackend(world))
    try:
        yield world, board
    finally:
        board.close()
        await world.close()


def on_table(test: Callable[[World, Board], Awaitable[T]], **options: object) -> T:
    async def main() -> T:
        async with opened(**options) as (world, board):  # type: ignore[arg-type]
            return await test(world, board)

    return run_virtual(main())


async def started(board: Board) -> tuple[CapacitiveSensor, list[int]]:
    """The sensing chip, running on references measured with an empty felt."""
    chip = board.chips["sense-1"]
    references = await chip.measure()
    await chip.start(references)
    return chip, references


def faults_of(readings: list[ElectrodeReading]) -> set[str | None]:
    return {reading.fault for reading in readings}


# -- sensing ---------------------------------------------------------------------------------


def test_an_empty_felt_measures_what_the_felt_is() -> None:
    async def test(world: World, board: Board) -> None:
        _, references = await started(board)
        assert references == [world.felt.counts(place.id) for place in board.sensors]

    on_table(test)


@pytest.mark.parametrize("irq_rule", list(IrqRule))
def test_a_chip_on_the_felt_wakes_and_shows_on_its_electrode_only(irq_rule: IrqRule) -> None:
    async def test(world: World, board: Board) -> None:
        chip, _ = await started(board)
        assert await chip.read_touched() == 0
        assert chip.interrupt is not None
        edges_before = chip.interrupt.edge_count
        world.place_chip("3A")
        await sleep_ms(14)
        assert chip.interrupt.edge_count > edges_before
        assert chip.interrupt.active
        assert await chip.read_touched() == 1 << 2
        await sleep_ms(1)
        assert not chip.interrupt.active
        readings = await chip.snapshot()
        assert faults_of(readings) == {None}
        assert [reading.touched for reading in readings] == [n == 2 for n in range(7)]
        assert [reading.delta > 40 for reading in readings] == [n == 2 for n in range(7)]

    on_table(test, irq_rule=irq_rule)


def test_a_chip_that_lies_still_for_an_hour_is_not_forgotten() -> None:
    async def test(world: World, board: Board) -> None:
        chip, _ = await started(board)
        world.place_chip("5A")
        await sleep_ms(3_600_000)
        readings = await chip.snapshot()
        assert readings[4].touched
        assert readings[4].delta > 40
        world.remove_chip("5A")
        await sleep_ms(20)
        assert await chip.read_touched() == 0

    on_table(test)


def test_a_unit_that_boots_with_a_chip_on_the_felt_sees_it() -> None:
    async def test(world: World, board: Board) -> None:
        _, references = await started(board)
        world.place_chip("1A")
        world.cut_power()
        await sleep_ms(500)
        world.restore_power()
        chip = board.chips["sense-1"]
        await chip.start(references)
        readings = await chip.snapshot()
        assert readings[0].delta > 40
        assert await chip.read_touched() == 1

    on_table(test)


def test_a_chip_that_reset_itself_is_a_fault_until_recovered_with_the_old_references() -> None:
    async def test(world: World, board: Board) -> None:
        chip, references = await started(board)
        world.place_chip("2A")
        await sleep_ms(20)
        world.faults.reset_chip("sense-1")
        assert faults_of(await chip.snapshot()) == {"chip reset itself"}
        await chip.recover()
        readings = await chip.snapshot()
        assert faults_of(readings) == {None}
        assert [reading.reference for reading in readings] == references
        assert readings[1].delta > 40
        assert world.faults.struck["chip reset"] == 1

    on_table(test)


def test_over_current_is_a_fault_until_recovered_with_chips_in_place() -> None:
    async def test(world: World, board: Board) -> None:
        chip, _ = await started(board)
        world.place_chip("2A")
        await sleep_ms(20)
        world.faults.over_current("sense-1")
        with pytest.raises(SensorFault, match="over-current"):
            await chip.read_touched()
        assert faults_of(await chip.snapshot()) == {"over-current"}
        await chip.recover()
        assert await chip.read_touched() == 1 << 1

    on_table(test)


@pytest.mark.parametrize("shorted", [True, False])
def test_a_dead_electrode_faults_alone_and_mends(shorted: bool) -> None:
    async def test(world: World, board: Board) -> None:
        chip, _ = await started(board)
        world.faults.break_electrode("4A", shorted=shorted)
        await sleep_ms(20)
        readings = await chip.snapshot()
        assert [reading.fault is not None for reading in readings] == [n == 3 for n in range(7)]
        world.faults.mend_electrode("4A")
        await sleep_ms(20)
        assert faults_of(await chip.snapshot()) == {None}

    on_table(test)


def test_an_electrode_cannot_be_calibrated_while_it_is_dead() -> None:
    async def test(world: World, board: Board) -> None:
        world.faults.break_electrode("4A", shorted=True)
        with pytest.raises(SensorFault, match="electrode 3 is out of range"):
            await board.chips["sense-1"].measure()

    on_table(test)


# -- the bus ---------------------------------------------------------------------------------


@pytest.mark.parametrize("adapter", [PI_0_TO_4, PI_5, CP2112], ids=lambda adapter: adapter.name)
def test_two_lost_transfers_are_survived_and_three_are_a_fault(adapter: Adapter) -> None:
    async def test(world: World, board: Board) -> None:
        chip, _ = await started(board)
        world.faults.nack("sense-1", count=2)
        assert await chip.read_touched() == 0
        assert board.buses[1].fault_count == 2
        world.faults.nack("sense-1", count=3)
        with pytest.raises(BusFault) as caught:
            await chip.read_touched()
        assert caught.value.errno == adapter.nack
        assert await chip.read_touched() == 0

    on_table(test, adapter=adapter)


@pytest.mark.parametrize("method", ["read_touched", "snapshot", "measure"])
def test_a_missing_chip_never_reads_as_an_empty_felt(method: str) -> None:
    async def test(world: World, board: Board) -> None:
        chip, _ = await started(board)
        world.faults.nack("sense-1")
        with pytest.raises(BusFault):
            await getattr(chip, method)()

    on_table(test)


@pytest.mark.parametrize("method", ["read_touched", "snapshot"])
def test_short_reads_are_a_fault(method: str) -> None:
    async def test(world: World, board: Board) -> None:
        chip, _ = await started(board)
        world.faults.short_read("sense-1", count=3)
        with pytest.raises(BusFault):
            await getattr(chip, method)()
        assert world.faults.struck["short read"] == 3

    on_table(test)


def test_a_stuck_bus_is_a_fault_in_bounded_time_and_heals() -> None:
    async def test(world: World, board: Board) -> None:
        chip, _ = await started(board)
        world.faults.stick_bus(1)
        with pytest.raises(BusFault, match="stuck"):
            await wait_for_ms(chip.read_touched(), 100)
        world.faults.release_bus(1)
        assert await chip.read_touched() == 0

    on_table(test)


@pytest.mark.parametrize("failing_transfer", range(1, 11))
def test_a_start_that_breaks_off_anywhere_still_ends_running_or_in_a_fault(
    failing_transfer: int,
) -> None:
    async def test(world: World, board: Board) -> None:
        chip, references = await started(board)
        world.place_chip("6A")
        transfers_left = failing_transfer

        def count_down() -> None:
            nonlocal transfers_left
            transfers_left -= 1
            if transfers_left == 0:
                world.faults.nack("sense-1", count=1)

        bus = world.buses[1]
        wake, bus.on_transfer = bus.on_transfer, count_down
        await chip.start(references)
        bus.on_transfer = wake
        readings = await chip.snapshot()
        assert faults_of(readings) == {None}
        assert readings[5].delta > 40
        assert world.faults.struck["nack"] == 1

    on_table(test)


# -- lamps -----------------------------------------------------------------------------------


def test_a_lamp_shines_at_its_seat_and_nowhere_else() -> None:
    async def test(world: World, board: Board) -> None:
        await board.start_lamps()
        await board.lamps.set({("3A", "white"): 4095, ("3A", "amber"): 2048})
        await sleep_ms(5)
        for place in board.sensors:
            white, amber = (1.0, 0.5) if place.id == "3A" else (0.0, 0.0)
            assert world.level_now(place.id, "white") == white
            assert world.level_now(place.id, "amber") == pytest.approx(amber, abs=0.001)
        assert await board.lamps.read_back(("3A", "amber")) == 2048

    on_table(test)


def test_after_the_start_no_lamp_chip_answers_on_the_shared_address() -> None:
    async def test(world: World, board: Board) -> None:
        lights = world.chips["lights-1"]
        assert lights.responds_to(0x70)
        await board.start_lamps()
        assert not lights.responds_to(0x70)
        assert lights.responds_to(0x40)

    on_table(test)


def test_a_warm_start_over_burning_lamps_leaves_them_dark_and_usable() -> None:
    async def test(world: World, board: Board) -> None:
        await board.start_lamps()
        await board.lamps.set({("1A", "white"): 4095})
        await board.start_lamps()
        await sleep_ms(5)
        assert world.level_now("1A", "white") == 0.0
        await board.lamps.set({("1A", "white"): 4095})
        await sleep_ms(5)
        assert world.level_now("1A", "white") == 1.0

    on_table(test)


def test_a_lamp_chip_that_reset_itself_is_noticed_and_relit_by_the_next_write() -> None:
    async def test(world: World, board: Board) -> None:
        await board.start_lamps()
        await board.lamps.set({("1A", "white"): 4095, ("7A", "amber"): 614})
        world.faults.reset_chip("lights-1")
        await sleep_ms(5)
        assert world.level_now("1A", "white") == 0.0
        with pytest.raises(ChipFault, match="PCA9685"):
            await board.lamps.check()
        await board.lamps.set({("1A", "white"): 4095})
        await sleep_ms(5)
        assert world.level_now("1A", "white") == 1.0
        assert world.level_now("7A", "amber") == pytest.approx(0.15, abs=0.001)
        await board.lamps.check()

    on_table(test)


def test_lamps_come_back_after_the_bus_was_out() -> None:
    async def test(world: World, board: Board) -> None:
        await board.start_lamps()
        world.faults.nack("lights-1", count=3)
        with pytest.raises(BusFault):
            await board.lamps.set({("1A", "white"): 4095})
        await board.lamps.refresh()
        await sleep_ms(5)
        assert world.level_now("1A", "white") == 1.0

    on_table(test)


# -- keypad and key --------------------------------------------------------------------------


def test_each_key_of_the_keypad_is_told_by_its_name() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keypad is not None
        assert world.board.keypad is not None
        await board.keypad.start()
        for name in world.board.keypad.keys:
            world.press(name)
            assert await wait_for_ms(board.keypad.next_press(), 100) == KeyPress(name)
            await sleep_ms(200)

    on_table(test, table="four-card-keypad")


def test_all_keys_at_once_are_a_chord() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keypad is not None
        assert world.board.keypad is not None
        await board.keypad.start()
        world.press_together(world.board.keypad.keys)
        press = await wait_for_ms(board.keypad.next_press(), 100)
        assert isinstance(press, KeyChord)
        assert set(press.names) == set(world.board.keypad.keys)

    on_table(test, table="four-card-keypad")


def test_a_press_whose_interrupt_was_lost_is_still_told() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keypad is not None
        await board.keypad.start()
        waiting = asyncio.create_task(board.keypad.next_press())
        await sleep_ms(50)
        world.faults.lose_interrupt("keys-1")
        world.press("START", hold_ms=400)
        assert await wait_for_ms(waiting, 300) == KeyPress("START")
        assert world.faults.struck["lost interrupt"] == 1

    on_table(test, table="four-card-keypad")


def test_a_keypad_without_its_chip_is_a_fault_and_returns_with_it() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keypad is not None
        world.faults.nack("keys-1")
        with pytest.raises(HardwareFault):
            await board.keypad.next_press()
        world.faults.clear_bus(1)
        waiting = asyncio.create_task(board.keypad.next_press())
        await sleep_ms(50)
        world.press("END")
        assert await wait_for_ms(waiting, 100) == KeyPress("END")

    on_table(test, table="four-card-keypad")


def test_the_key_turns_there_and_back_without_a_fault() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keyswitch is not None
        assert board.keyswitch.position == "RUN"
        for position in ("JPH", "RUN"):
            world.turn_key(position)
            assert await wait_for_ms(board.keyswitch.changed(), 100) == position

    on_table(test, table="four-card-keypad")


@pytest.mark.parametrize("position", ["BETWEEN", "SHORTED"])
def test_contacts_that_contradict_each_other_are_a_fault(position: str) -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keyswitch is not None
        world.turn_key(position)
        assert await wait_for_ms(board.keyswitch.changed(), 300) == "FAULT"

    on_table(test, table="four-card-keypad")


# -- card reader and lid ---------------------------------------------------------------------


def test_cards_halves_and_garbage() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.card_reader is not None
        waiting = asyncio.create_task(board.card_reader.read())
        await sleep_ms(1)
        world.swipe("SUPERVISOR")
        assert await wait_for_ms(waiting, 5000) == Swipe(account_of("SUPERVISOR"))
        world.half_swipe("EXECUTIVE")
        assert await wait_for_ms(board.card_reader.read(), 5000) == BadSwipe(
            "the card was only half read"
        )
        world.garbage_swipe()
        assert isinstance(await wait_for_ms(board.card_reader.read(), 5000), BadSwipe)
        await sleep_ms(500)
        world.swipe("EXECUTIVE")
        results = [await wait_for_ms(board.card_reader.read(), 5000)]
        while isinstance(results[-1], BadSwipe):
            results.append(await wait_for_ms(board.card_reader.read(), 5000))
        assert results[-1] == Swipe(account_of("EXECUTIVE"))

    on_table(test)


def test_an_opened_lid_is_active_and_its_edge_is_latched() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.tamper is not None
        assert not board.tamper.active
        world.tamper(open=True)
        world.tamper(open=False)
        await wait_for_ms(board.tamper.changed(), 10)
        assert board.tamper.edge_count == 2

    on_table(test)


def test_a_board_can_be_opened_again_after_it_was_closed() -> None:
    async def test(world: World, board: Board) -> None:
        board.close()
        again = Board.from_config(world.board, SimBackend(world))
        await again.start_lamps()
        again.close()

    on_table(test)
