"""The unchanged drivers of lamps, keypad, key, reader and lid over the simulator.

The simulator was written from the ICs' data sheets without looking at the drivers, so each of
these tests compares two independent readings of the same hardware.
"""

from __future__ import annotations

import asyncio

import pytest

from hal.aio import sleep_ms, wait_for_ms
from hal.board.open import Board
from hal.devices.card_reader import BadSwipe, Swipe
from hal.devices.keypad import KeyChord, KeyPress
from hal.errors import BusFault, HardwareFault, IcFault
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.card_reader import account_of
from tests.kit.board_over_sim import on_table

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


def test_after_the_start_no_lamp_ic_answers_on_the_shared_address() -> None:
    async def test(world: World, board: Board) -> None:
        lights = world.ics["lights-1"]
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


def test_a_lamp_ic_that_reset_itself_is_noticed_and_relit_by_the_next_write() -> None:
    async def test(world: World, board: Board) -> None:
        await board.start_lamps()
        await board.lamps.set({("1A", "white"): 4095, ("7A", "amber"): 614})
        world.faults.reset_ic("lights-1")
        await sleep_ms(5)
        assert world.level_now("1A", "white") == 0.0
        with pytest.raises(IcFault, match="PCA9685"):
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
        await board.lamps.set({})
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
            world.controls.press(name)
            assert await wait_for_ms(board.keypad.next_press(), 100) == KeyPress(name)
            await sleep_ms(200)

    on_table(test, table="four-card-keypad")


def test_all_keys_at_once_are_a_chord() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keypad is not None
        assert world.board.keypad is not None
        await board.keypad.start()
        world.controls.press_together(world.board.keypad.keys)
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
        world.controls.press("START", hold_ms=400)
        assert await wait_for_ms(waiting, 300) == KeyPress("START")
        assert world.faults.struck["lost interrupt"] == 1

    on_table(test, table="four-card-keypad")


def test_a_keypad_without_its_ic_is_a_fault_and_returns_with_it() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keypad is not None
        world.faults.nack("keys-1")
        with pytest.raises(HardwareFault):
            await board.keypad.next_press()
        world.faults.clear_bus(1)
        waiting = asyncio.create_task(board.keypad.next_press())
        await sleep_ms(50)
        world.controls.press("END")
        assert await wait_for_ms(waiting, 100) == KeyPress("END")

    on_table(test, table="four-card-keypad")


def test_the_key_turns_there_and_back_without_a_fault() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keyswitch is not None
        assert board.keyswitch.position == "RUN"
        for position in ("JPH", "RUN"):
            world.controls.turn_key(position)
            assert await wait_for_ms(board.keyswitch.changed(), 100) == position

    on_table(test, table="four-card-keypad")


@pytest.mark.parametrize("position", ["BETWEEN", "SHORTED"])
def test_contacts_that_contradict_each_other_are_a_fault(position: str) -> None:
    async def test(world: World, board: Board) -> None:
        assert board.keyswitch is not None
        world.controls.turn_key(position)
        assert await wait_for_ms(board.keyswitch.changed(), 300) == "FAULT"

    on_table(test, table="four-card-keypad")


# -- card reader and lid ---------------------------------------------------------------------


def test_cards_halves_and_garbage() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.card_reader is not None
        waiting = asyncio.create_task(board.card_reader.read())
        await sleep_ms(1)
        world.controls.swipe("SUPERVISOR")
        assert await wait_for_ms(waiting, 5000) == Swipe(account_of("SUPERVISOR"))
        world.controls.half_swipe("EXECUTIVE")
        assert await wait_for_ms(board.card_reader.read(), 5000) == BadSwipe(
            "the card was only half read"
        )
        world.controls.swipe("GARBAGE")
        assert isinstance(await wait_for_ms(board.card_reader.read(), 5000), BadSwipe)
        await sleep_ms(500)
        world.controls.swipe("EXECUTIVE")
        results = [await wait_for_ms(board.card_reader.read(), 5000)]
        while isinstance(results[-1], BadSwipe):
            results.append(await wait_for_ms(board.card_reader.read(), 5000))
        assert results[-1] == Swipe(account_of("EXECUTIVE"))

    on_table(test)


def test_an_opened_lid_is_active_and_its_edge_is_latched() -> None:
    async def test(world: World, board: Board) -> None:
        assert board.tamper is not None
        assert not board.tamper.active
        world.controls.tamper(open=True)
        world.controls.tamper(open=False)
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
