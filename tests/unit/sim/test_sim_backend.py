"""The simulated backend under the product's own board: the two shipped tables come alive on it."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hal.board import Board
from hal.board_config import parse_board
from hal.keypad import KeyPress
from hal.track2 import Swipe
from sim.backend import SimBackend
from sim.card_machine import account_of
from sim.chips.mpr121 import IrqRule
from sim.loop import run_virtual
from sim.world import World

TABLES = Path(__file__).resolve().parents[3] / "deploy" / "tables"


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
        references = {name: await chip.measure() for name, chip in board.chips.items()}
        for name, chip in board.chips.items():
            await chip.start(references[name])
        for place in board.sensors:
            chip = board.chips[place.chip]
            assert chip.interrupt is not None
            begin_ns = world.now_ns()
            world.place_chip(place.id)
            while not chip.interrupt.active:  # The rising edges are latched too.
                await chip.interrupt.changed()
            assert await chip.read_touched() == 1 << place.electrode
            await board.lamps.set({(place.id, "white"): 614})
            assert world.now_ns() - begin_ns < 13_000_000
            assert await world.settled_light(place.id) == "detected"
            world.remove_chip(place.id)
            await asyncio.sleep(0.1)
            assert await chip.read_touched() == 0
            await board.lamps.all_off()

    play(table, scene, irq_rule)


def test_the_keypad_table_reads_keys_and_the_supervisors_key() -> None:
    async def scene(world: World, board: Board) -> None:
        assert board.keypad is not None
        assert board.keyswitch is not None
        assert board.tamper is not None
        await board.keypad.start()
        world.press("HAND four-aces")
        assert await board.keypad.next_press() == KeyPress("HAND four-aces")
        assert board.keyswitch.position == "RUN"
        world.turn_key("JPH")
        assert await board.keyswitch.changed() == "JPH"
        world.turn_key("BETWEEN")
        assert await board.keyswitch.changed() == "FAULT"
        assert not board.tamper.active
        world.tamper(open=True)
        assert board.tamper.active

    play("four-card-keypad", scene)


def test_the_touch_table_reads_a_card() -> None:
    async def scene(world: World, board: Board) -> None:
        assert board.card_reader is not None
        reading = asyncio.create_task(board.card_reader.read())
        await asyncio.sleep(0.1)
        world.swipe("SUPERVISOR")
        assert await reading == Swipe(account_of("SUPERVISOR"))

    play("four-card-touch", scene)
