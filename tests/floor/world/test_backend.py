"""The simulated backend under the product's own board: the two shipped tables come alive on it."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Awaitable, Callable

import pytest

from controller.core.lights import LEVEL_FULL
from hal.board.config import parse_board
from hal.board.open import Board
from hal.devices.keypad import KeyPress
from hal.devices.track2 import Swipe
from sim.floor.light_eye import EYE_MS
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.card_reader import account_of
from sim.hardware.ics.mpr121 import IrqRule
from sim.time.loop import run_virtual
from tests.kit.places import TABLES


def play(
    table: str,
    scene: Callable[[World, Board], Awaitable[None]],
    irq_rule: IrqRule = IrqRule.STATUS_READ,
) -> None:
    async def whole() -> None:
        config = parse_board(tomllib.loads((TABLES / f"{table}.toml").read_text())["board"])
        world = World(config, irq_rule=irq_rule)
        world.start()
        board = Board.from_config(config, SimBackend(world))
        try:
            await board.start_lamps()
            await scene(world, board)
        finally:
            board.close()
            await world.close()

    run_virtual(whole())


@pytest.mark.parametrize("irq_rule", IrqRule)
@pytest.mark.parametrize("table", ["four-card-touch", "four-card-keypad"])
def test_every_sensor_and_lamp_of_a_shipped_table_works(table: str, irq_rule: IrqRule) -> None:
    async def scene(world: World, board: Board) -> None:
        references = {name: await ic.measure() for name, ic in board.ics.items()}
        for name, ic in board.ics.items():
            await ic.start(references[name])
        for place in board.sensors:
            ic = board.ics[place.ic]
            assert ic.interrupt is not None
            begin_ns = world.now_ns()
            world.place_chip(place.id)
            while not ic.interrupt.active:  # The rising edges are latched too.
                await ic.interrupt.changed()
            assert await ic.read_touched() == 1 << place.electrode
            await board.lamps.set({(place.id, "white"): LEVEL_FULL})
            assert world.now_ns() - begin_ns < 13_000_000
            await asyncio.sleep(EYE_MS / 1000)
            assert await world.settled_light(place.id) == "accepted"
            world.remove_chip(place.id)
            await asyncio.sleep(0.1)
            assert await ic.read_touched() == 0
            await board.start_lamps()

    play(table, scene, irq_rule)


def test_the_keypad_table_reads_keys_and_the_supervisors_key() -> None:
    async def scene(world: World, board: Board) -> None:
        assert board.keypad is not None
        assert board.keyswitch is not None
        assert board.tamper is not None
        await board.keypad.start()
        world.controls.press("HAND four-aces")
        assert await board.keypad.next_press() == KeyPress("HAND four-aces")
        assert board.keyswitch.position == "RUN"
        world.controls.turn_key("JPH")
        assert await board.keyswitch.changed() == "JPH"
        world.controls.turn_key("BETWEEN")
        assert await board.keyswitch.changed() == "FAULT"
        assert not board.tamper.active
        world.controls.tamper(open=True)
        assert board.tamper.active

    play("four-card-keypad", scene)


def test_the_touch_table_reads_a_card() -> None:
    async def scene(world: World, board: Board) -> None:
        assert board.card_reader is not None
        reading = asyncio.create_task(board.card_reader.read())
        await asyncio.sleep(0.1)
        world.controls.swipe("SUPERVISOR")
        assert await reading == Swipe(account_of("SUPERVISOR"))

    play("four-card-touch", scene)
