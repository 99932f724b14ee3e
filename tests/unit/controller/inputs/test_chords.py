"""A palm on the touch panel begins, ends and confirms nothing; a quick dealer is not hindered."""

from __future__ import annotations

import asyncio

from controller.inputs.chords import CHORD_MS, Chords
from hal import aio
from sim.time.loop import run_virtual


def pressed(*buttons: tuple[str, int]) -> dict[str, tuple[str, ...]]:
    """Presses each button at its time in ms; what each one had for touched_with."""

    async def play() -> dict[str, tuple[str, ...]]:
        guard = Chords()

        async def press(button: str, at_ms: int) -> tuple[str, ...]:
            await aio.sleep_ms(at_ms)
            return await guard.touched_with(button)

        answers = await asyncio.gather(*(press(*each) for each in buttons))
        return {button: answer for (button, _), answer in zip(buttons, answers, strict=True)}

    return run_virtual(play())


def test_a_button_pressed_alone_has_no_company() -> None:
    assert pressed(("START", 0)) == {"START": ()}


def test_start_notices_a_button_before_it_and_one_after_it() -> None:
    touched_with = pressed(("SEAT 3", 0), ("START", 10), ("END", 20))
    assert touched_with["START"] == ("END", "SEAT 3")
    assert touched_with["END"] == ("SEAT 3", "START")


def test_void_notices_company_whatever_its_reason() -> None:
    """Catches: a palm that voids a game, because only a button without a reason was looked for."""
    touched_with = pressed(("SEAT 3", 0), ("VOID exposed-card", 10), ("VOID other", 12))
    assert touched_with["VOID exposed-card"] == ("SEAT 3", "VOID other")
    assert touched_with["VOID other"] == ("SEAT 3", "VOID exposed-card")


def test_seats_and_hands_never_wait() -> None:
    async def play() -> int:
        await Chords().touched_with("SEAT 3")
        return aio.ticks_ms()

    assert run_virtual(play()) == 0


def test_the_next_press_of_a_quick_dealer_is_taken() -> None:
    touched_with = pressed(("HAND four-aces", 0), ("CONFIRM", CHORD_MS + 1))
    assert touched_with["CONFIRM"] == ()


def test_a_double_tap_is_one_button() -> None:
    async def play() -> list[tuple[str, ...]]:
        guard = Chords()
        return await asyncio.gather(guard.touched_with("START"), guard.touched_with("START"))

    assert run_virtual(play()) == [(), ()]
