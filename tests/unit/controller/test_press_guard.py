"""A palm on the touch panel begins, ends and confirms nothing; a quick dealer is not hindered."""

from __future__ import annotations

import asyncio

from controller.press_guard import CHORD_MS, PressGuard
from hal import aio
from sim.loop import run_virtual


def pressed(*buttons: tuple[str, int]) -> dict[str, tuple[str, ...]]:
    """Presses each button at its time in ms; what each one had for company."""

    async def play() -> dict[str, tuple[str, ...]]:
        guard = PressGuard()

        async def press(button: str, at_ms: int) -> tuple[str, ...]:
            await aio.sleep_ms(at_ms)
            return await guard.company(button)

        answers = await asyncio.gather(*(press(*each) for each in buttons))
        return {button: answer for (button, _), answer in zip(buttons, answers, strict=True)}

    return run_virtual(play())


def test_a_button_pressed_alone_has_no_company() -> None:
    assert pressed(("START", 0)) == {"START": ()}


def test_start_notices_a_button_before_it_and_one_after_it() -> None:
    company = pressed(("SEAT 3", 0), ("START", 10), ("END", 20))
    assert company["START"] == ("END", "SEAT 3")
    assert company["END"] == ("SEAT 3", "START")


def test_seats_and_hands_never_wait() -> None:
    async def play() -> int:
        await PressGuard().company("SEAT 3")
        return aio.ticks_ms()

    assert run_virtual(play()) == 0


def test_the_next_press_of_a_quick_dealer_is_taken() -> None:
    company = pressed(("HAND four-aces", 0), ("CONFIRM", CHORD_MS + 1))
    assert company["CONFIRM"] == ()


def test_a_double_tap_is_one_button() -> None:
    async def play() -> list[tuple[str, ...]]:
        guard = PressGuard()
        return await asyncio.gather(guard.company("START"), guard.company("START"))

    assert run_virtual(play()) == [(), ()]
