"""What people do at the table reaches it, also while it is busy with what they did before."""

from __future__ import annotations

import asyncio
from typing import cast

from controller.inputs.devices import KEYS_WAITING_MAX, Keys, pass_keys_on, watch_keypad
from controller.inputs.presses import Presses
from controller.table.faults import FaultBoard
from hal.devices.keypad import KeyChord, Keypad, KeyPress
from sim.time.loop import run_virtual

HELD_S = 0.06


class Fingers:
    """A keypad whose keys are down for a moment; who does not look in that moment misses them."""

    def __init__(self, *presses: tuple[float, KeyPress | KeyChord]) -> None:
        self._presses = list(presses)

    async def start(self) -> None: ...

    async def next_press(self) -> KeyPress | KeyChord:
        while True:
            await asyncio.sleep(0.01)
            now_s = asyncio.get_running_loop().time()
            self._presses = [each for each in self._presses if now_s < each[0] + HELD_S]
            if self._presses and self._presses[0][0] <= now_s:
                return self._presses.pop(0)[1]


class SlowTable:
    """Takes half a second for each key, as a table does whose card is slow."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    async def pressed(self, button: str) -> None:
        await asyncio.sleep(0.5)
        self.taken.append(button)

    async def pressed_together(self, buttons: tuple[str, ...]) -> None:
        await self.pressed("+".join(buttons))


def taken_of(*presses: tuple[float, KeyPress | KeyChord]) -> list[str]:
    async def run() -> list[str]:
        table, keys = SlowTable(), Keys(KEYS_WAITING_MAX)
        faults = FaultBoard(lambda event: None)
        reading = asyncio.create_task(watch_keypad(cast(Keypad, Fingers(*presses)), faults, keys))
        serving = asyncio.create_task(pass_keys_on(keys, cast(Presses, table)))
        await asyncio.sleep(20)
        reading.cancel()
        serving.cancel()
        return table.taken

    return run_virtual(run())


def test_keys_pressed_while_another_is_recorded_are_taken_in_their_order() -> None:
    together = KeyChord(("3", "4"))
    presses = (1.0, KeyPress("START")), (1.1, KeyPress("2")), (1.2, together), (1.3, KeyPress("5"))
    assert taken_of(*presses) == ["START", "2", "3+4", "5"]


def test_something_that_lies_on_the_keypad_does_not_pile_up_for_ever() -> None:
    rattle = [(1 + 0.1 * number, KeyPress(str(number))) for number in range(40)]
    taken = taken_of(*rattle)
    assert taken[:KEYS_WAITING_MAX] == [str(number) for number in range(KEYS_WAITING_MAX)]
    assert len(taken) < 20
