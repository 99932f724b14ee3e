"""Trouble on the wires: bounded, recovered from, and nobody else's business.

On the boards that ship, over the register models. Mutations these catch: retries without an end, a
recovery that is never tried or never ends, a supply cut while a wire still feeds the IC, a board
that ships without a way to recover, lamps that stay dark after the supply came back, a loop that
waits with the bus, one multiplexer channel that answers for another, and an exception in one line's
callback that ends every other line.
"""

from __future__ import annotations

import asyncio
import copy
import random
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hal.aio import ThreadSafeFlag, sleep_ms, wait_for_ms
from hal.board.config import parse_board
from hal.board.open import Board
from hal.devices.lines import InputLine
from hal.errors import BusFault, HardwareFault
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.pins import SimPinFactory
from sim.time.loop import run_virtual
from tests.kit.places import TABLES

Test = Callable[[World, Board], Awaitable[None]]
Change = Callable[[dict[str, Any]], None]


def document(table: str) -> dict[str, Any]:
    text = (TABLES / f"{table}.toml").read_text(encoding="utf-8")
    board: dict[str, Any] = tomllib.loads(text)["board"]
    return board


@asynccontextmanager
async def opened(table: str, change: Change) -> AsyncIterator[tuple[World, Board]]:
    board_document = copy.deepcopy(document(table))
    change(board_document)
    world = World(parse_board(board_document))
    world.start()
    board = Board.from_config(world.board, SimBackend(world))
    try:
        await board.start_lamps()
        for ic in board.ics.values():
            await ic.start(await ic.measure())
        yield world, board
    finally:
        board.close()
        await world.close()


def on_table(
    test: Test, table: str = "four-card-touch-fdc", change: Change = lambda board: None
) -> None:
    async def main() -> None:
        async with opened(table, change) as (world, board):
            await test(world, board)

    run_virtual(main())


async def ask_until_it_answers(board: Board, name: str = "sense-1", tries_max: int = 60) -> int:
    """What a watcher does: asks again after a pause, and recovers the IC when it answers."""
    for tries in range(tries_max):
        try:
            await board.ics[name].recover()
            return tries
        except HardwareFault:
            await sleep_ms(100)
    raise AssertionError(f"{name} never answered again")


# -- a held data line ------------------------------------------------------------------------


@pytest.mark.parametrize("pulses", range(1, 10))
def test_a_held_line_is_clocked_free_and_nothing_lost_its_supply(pulses: int) -> None:
    async def test(world: World, board: Board) -> None:
        world.place_chip("3A")
        world.faults.stick_bus(1, pulses_to_free=pulses)
        await ask_until_it_answers(board)
        assert world.faults.struck["clock pulse"] == pulses
        assert world.faults.struck["supply cut"] == 0
        assert await board.ics["sense-1"].read_touched() == 1 << 2
        await board.lamps.check()

    on_table(test)


def test_an_ic_that_hangs_on_the_line_loses_its_supply_and_all_come_back() -> None:
    async def test(world: World, board: Board) -> None:
        world.place_chip("3A")
        await board.lamps.set({("3A", "white"): 4095})
        world.faults.stick_bus(1)
        await ask_until_it_answers(board, "sense-1")
        await ask_until_it_answers(board, "sense-2")
        assert world.faults.struck["supply cut"] == 1
        assert await board.ics["sense-1"].read_touched() == 1 << 2
        # The lamps lost what they were told; their watcher finds that and tells them again.
        with pytest.raises(HardwareFault):
            await board.lamps.check()
        await board.lamps.set({})
        await sleep_ms(5)
        assert world.level_now("3A", "white") == 1.0

    on_table(test)


@pytest.mark.parametrize("pulses", [4, None])
@pytest.mark.parametrize("table", sorted(path.stem for path in TABLES.glob("*.toml")))
def test_every_shipped_table_gets_its_bus_back(table: str, pulses: int | None) -> None:
    async def test(world: World, board: Board) -> None:
        sensor = board.sensors[0]
        world.place_chip(sensor.id)
        world.faults.stick_bus(1, pulses_to_free=pulses)
        for name in board.ics:
            await ask_until_it_answers(board, name)
        await board.start_lamps()
        assert world.faults.struck["supply cut"] == (0 if pulses else 1)
        assert await board.ics[sensor.ic].read_touched() == 1 << sensor.electrode
        if board.keypad is not None:
            assert await board.keypad.held() == ()

    on_table(test, table)


@pytest.mark.parametrize("seed", range(12))
def test_however_an_ic_holds_the_line_the_table_gets_it_back(seed: int) -> None:
    async def test(world: World, board: Board) -> None:
        draw = random.Random(seed)
        for _ in range(4):
            await sleep_ms(draw.randint(0, 3000))
            world.faults.stick_bus_at_random(1, draw)
            began_ns = world.now_ns()
            await ask_until_it_answers(board)
            assert world.now_ns() - began_ns < 3_000_000_000

    on_table(test)


def test_a_grounded_line_is_a_fault_until_it_is_mended_and_the_tries_grow_rare() -> None:
    async def test(world: World, board: Board) -> None:
        world.faults.ground_bus(1)
        for _ in range(40):
            with pytest.raises(BusFault, match="stuck"):
                await board.ics["sense-1"].read_touched()
            await sleep_ms(250)
        assert 2 <= world.faults.struck["supply cut"] <= 4
        world.faults.release_bus(1)
        await ask_until_it_answers(board)

    on_table(test)


def test_an_ic_that_is_fed_by_a_wire_keeps_holding_the_line() -> None:
    """The control for the supply's cut: what makes it work is that both wires are low."""

    async def test(world: World, board: Board) -> None:
        world.faults.stick_bus(1)
        supply = SimBackend(world).open_drain(4)
        supply.low()
        await sleep_ms(1000)
        supply.release()
        supply.close()
        assert world.faults.struck["supply cut"] == 0
        with pytest.raises(BusFault, match="stuck"):
            await board.ics["sense-1"].read_touched()

    on_table(test)


# -- trouble that needs no recovery ----------------------------------------------------------


def test_lost_arbitration_is_survived_or_a_fault_and_never_a_recovery() -> None:
    async def test(world: World, board: Board) -> None:
        world.faults.lose_arbitration(1, count=2)
        assert await board.ics["sense-1"].read_touched() == 0
        world.faults.lose_arbitration(1, count=12)
        for _ in range(4):
            with pytest.raises(BusFault):
                await board.ics["sense-1"].read_touched()
        assert await board.ics["sense-1"].read_touched() == 0
        # It was looked at, because that many failures could be a held line; it was free.
        assert world.faults.struck["clock pulse"] == 0
        assert world.faults.struck["supply cut"] == 0

    on_table(test)


def test_a_bus_that_blocks_for_a_second_holds_up_neither_the_loop_nor_another_bus() -> None:
    def second_bus(board: dict[str, Any]) -> None:
        board["buses"].append({"number": 3, "frequency_hz": 400_000})
        next(ic for ic in board["ics"] if ic["kind"] == "pca9685")["bus"] = 3

    async def test(world: World, board: Board) -> None:
        world.faults.block_bus(1, 1000)
        began_ns = world.now_ns()
        slow = asyncio.create_task(board.ics["sense-1"].read_touched(), name="slow")
        await sleep_ms(10)
        await board.lamps.set({("1A", "white"): 4095})
        await sleep_ms(5)
        assert world.level_now("1A", "white") == 1.0
        assert world.now_ns() - began_ns < 20_000_000
        assert not slow.done()
        assert await slow == 0
        assert world.now_ns() - began_ns > 1_000_000_000
        assert world.faults.struck["blocked"] == 1

    on_table(test, change=second_bus)


def test_a_stuck_second_long_timeout_is_met_once_and_not_three_times() -> None:
    async def test(world: World, board: Board) -> None:
        world.faults.stick_bus(1, timeout_ms=1000)
        began_ns = world.now_ns()
        with pytest.raises(BusFault):
            await board.ics["sense-1"].read_touched()
        assert world.now_ns() - began_ns < 1_500_000_000
        assert world.faults.struck["stuck"] == 1

    on_table(test, "four-card-touch")


# -- the multiplexer -------------------------------------------------------------------------


def test_two_converters_of_one_address_are_never_confused() -> None:
    async def test(world: World, board: Board) -> None:
        world.place_chip("2A")
        world.place_chip("7A")
        await sleep_ms(25)
        first, second = board.ics["sense-1"], board.ics["sense-2"]
        for _ in range(20):
            touched = await asyncio.gather(
                first.read_touched(), second.read_touched(), second.read_touched()
            )
            assert touched == [0b0010, 0b100, 0b100]
            await sleep_ms(3)

    on_table(test)


def test_a_reset_multiplexer_is_noticed_and_no_reading_is_lost() -> None:
    async def test(world: World, board: Board) -> None:
        world.place_chip("6A")
        await sleep_ms(25)
        world.faults.reset_ic("mux-1")
        assert await board.ics["sense-2"].read_touched() == 1 << 1
        assert board.muxes["mux-1"].reset_count == 1
        assert "was reset" in board.muxes["mux-1"].last_fault
        assert await board.ics["sense-1"].read_touched() == 0
        assert board.muxes["mux-1"].reset_count == 1

    on_table(test)


def test_a_silent_multiplexer_silences_its_ics_only() -> None:
    async def test(world: World, board: Board) -> None:
        world.faults.nack("mux-1", count=6)
        for name in ("sense-1", "sense-2"):
            with pytest.raises(BusFault):
                await board.ics[name].read_touched()
        await board.lamps.set({("1A", "white"): 4095})
        assert await board.ics["sense-1"].read_touched() == 0

    on_table(test)


def test_one_silent_converter_is_not_its_neighbour() -> None:
    async def test(world: World, board: Board) -> None:
        world.faults.nack("sense-2")
        with pytest.raises(BusFault):
            await board.ics["sense-2"].read_touched()
        assert await board.ics["sense-1"].read_touched() == 0

    on_table(test)


@pytest.mark.parametrize("method", ["read_touched", "snapshot"])
def test_a_hung_converter_is_noticed_and_a_recovery_brings_it_back(method: str) -> None:
    async def test(world: World, board: Board) -> None:
        ic = board.ics["sense-1"]
        world.faults.hang_converter("sense-1")
        noticed = False
        for _ in range(100):
            await sleep_ms(5)
            try:
                readings = await getattr(ic, method)()
            except HardwareFault:
                noticed = True
            else:
                noticed = method == "snapshot" and all(reading.fault for reading in readings)
            if noticed:
                break
        assert noticed
        world.place_chip("1A")
        await ic.recover()
        assert await ic.read_touched() == 1

    on_table(test)


# -- lines -----------------------------------------------------------------------------------


def test_an_exception_in_one_lines_callback_does_not_end_the_others() -> None:
    """The simulated pins share lgpio's habit: an escaped exception ends every edge there is."""

    class BrokenFlag(ThreadSafeFlag):
        def set(self) -> None:
            raise ValueError("broken")

    async def main() -> None:
        pins = SimPinFactory()
        lines = [InputLine(f"line {gpio}", pins, gpio, True, True) for gpio in (17, 22, 27)]
        lines[0].also_set(BrokenFlag())
        for level in (0, 1, 0):
            for gpio in (17, 22, 27):
                pins.drive(gpio, level)
        assert pins.callback_failure is None
        assert [line.edge_count for line in lines] == [3, 3, 3]
        for line in lines:
            await wait_for_ms(line.changed(), 10)
            line.close()
        pins.close()

    run_virtual(main())


def test_the_simulated_pins_would_show_an_exception_that_escaped() -> None:
    """The control for the test above: a bare gpiozero callback does end the others."""

    async def main() -> None:
        pins = SimPinFactory()
        bare, other = pins.pin(17), InputLine("other", pins, 22, True, True)
        bare.pull = "up"

        def fail(ticks: float, state: int) -> None:
            raise ValueError("broken")

        bare.when_changed = fail
        pins.drive(17, 0)
        pins.drive(22, 0)
        assert isinstance(pins.callback_failure, ValueError)
        assert other.edge_count == 0
        bare.when_changed = None
        other.close()
        pins.close()

    run_virtual(main())
