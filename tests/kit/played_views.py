"""The views of a shipped table through one evening: bets, a win, its pay list, REOPEN, VOID.

A real unit on a simulated floor plays them; a browser can then be shown each of them at its ease.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import cache
from typing import Any

from controller.inputs.buttons import VOID_FIRST
from sim.floor.floor import Floor, FloorTable
from sim.floor.named_faults import strike
from sim.time.loop import run_virtual

SETTLE_S = 1.0  # virtual: until the manager has answered
FAULT_KNOWN_S = 8.0  # virtual: until the table has tried to free its bus
LINK_LOST_S = 6.0  # virtual: until the silence is noticed

Views = list[tuple[str, dict[str, Any]]]


@cache
def played_views(name: str) -> Views:
    """(what was done last, the view after it), in order. Copy a view before changing it."""
    # Playwright's own loop runs on the caller's thread.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: run_virtual(_play(name))).result()


class _Player:
    def __init__(self, floor: Floor, table: FloorTable) -> None:
        self.floor, self.table = floor, table
        self.views: Views = []

    async def did(self, step: str) -> None:
        await asyncio.sleep(SETTLE_S)
        assert self.table.unit.controller is not None
        self.views.append((step, deepcopy(self.table.unit.controller.pages.view())))

    async def press(self, button: str, step: str = "") -> None:
        await self.table.press(button)
        await self.did(step or button)

    async def swipe(self, card: str, step: str) -> None:
        self.table.swipe(card)
        await self.did(step)


async def _play(name: str) -> Views:
    floor = Floor(1)
    table = await floor.open_table(name)
    player = _Player(floor, table)
    await asyncio.sleep(SETTLE_S)
    await player.did("opened")
    for place in table.config.board.sensors:
        table.place(place.id)
    await player.did("bets")
    await player.press("START")
    await (_keypad(player) if table.config.board.keypad else _touch(player))
    await floor.close()
    return player.views


async def _touch(player: _Player) -> None:
    controller = player.table.unit.controller
    assert controller is not None
    games = controller.table.rules.games
    await player.press("SEAT 3")
    for game in games:
        letter = f" {game.letter}" if len(games) > 1 else ""
        await player.press(f"HAND {game.hands[0].hand_id}{letter}")
    await player.press("CONFIRM")
    await player.swipe("EXECUTIVE", "paid")
    await player.press("TICK 3")
    player.floor.reverse_win(1)
    await player.did("reversed")
    await player.press("TICK 3", "taken back")
    await player.press("END")
    await player.press("JOIN 1 2")
    await player.press("REOPEN")
    await player.press(VOID_FIRST, "void asked")
    await player.swipe("SUPERVISOR", "void")
    await player.press("TRAIN", "training asked")
    await player.swipe("SUPERVISOR", "training")
    await player.press("START", "training game")
    await player.press("SEAT 3", "training seat")
    await player.press(_first_hand(games), "training hand")
    await player.press("CONFIRM", "training confirm")
    await player.press("TRAIN", "training over")
    await player.press("START", "third game")
    await _bus_and_link_down(player)


def _first_hand(games: list[Any]) -> str:
    letter = f" {games[0].letter}" if len(games) > 1 else ""
    return f"HAND {games[0].hands[0].hand_id}{letter}"


async def _bus_and_link_down(player: _Player) -> None:
    """As much as a bar can have to say in a game."""
    table = player.table
    strike(table.world.faults, table.config.board, "grounded", table.config.board.ics[0].name)
    await asyncio.sleep(FAULT_KNOWN_S)
    await player.did("bus on ground")
    table.cable.pull()
    await asyncio.sleep(LINK_LOST_S)
    await player.did("link down")


async def _keypad(player: _Player) -> None:
    controller = player.table.unit.controller
    assert controller is not None
    await player.press(f"HAND {controller.table.rules.games[0].hands[0].hand_id}")
    keypad = player.table.config.board.keypad
    # Where there are no seat keys, the text display offers the seats one by one.
    await player.press("SEAT 3" if keypad and "SEAT 3" in keypad.keys else "CONFIRM")
    player.table.turn_key("JPH")
    await player.did("key at JPH")
    await player.press("JPOT")
    player.table.turn_key("RUN")
    await player.did("paid")
    await player.press("END")
    await player.press("START", "second game")
    player.table.turn_key("JPH")
    await player.did("key at JPH again")
    await player.press("CANCEL", "void asked")
    await player.press("CANCEL", "void")
