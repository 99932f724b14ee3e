"""The same hand twice in a moment is one press; time is the test's own."""

from __future__ import annotations

import pytest

from controller.inputs import repeats
from controller.inputs.repeats import REPEAT_MS, Repeats


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The clock: its one number is now."""
    now = [1_000]
    monkeypatch.setattr(repeats.aio, "ticks_ms", lambda: now[0])
    return now


def press(guard: Repeats, at: list[int], button: str, after_ms: int) -> bool:
    at[0] += after_ms
    return guard.is_repeat(button)


@pytest.mark.parametrize("button", ["HAND four-aces", "HAND four-aces B", "END", "CANCEL"])
def test_a_press_that_comes_back_at_once_belongs_to_the_first(at: list[int], button: str) -> None:
    """Catches: a hand that takes itself back, and an END that answers its own question."""
    guard = Repeats()
    assert REPEAT_MS == 350
    assert not press(guard, at, button, 0)
    assert press(guard, at, button, REPEAT_MS - 1)
    assert press(guard, at, button, REPEAT_MS - 1)  # a finger that goes on bouncing
    assert not press(guard, at, button, REPEAT_MS)


def test_another_button_in_between_makes_it_a_press_of_its_own(at: list[int]) -> None:
    guard = Repeats()
    for button in ("SEAT 5", "HAND x", "SEAT 3", "HAND x", "HAND y", "HAND x"):
        assert not press(guard, at, button, 20)


@pytest.mark.parametrize("button", ["SEAT 5", "START", "CONFIRM", "TICK 5"])
def test_a_button_that_takes_nothing_back_may_be_pressed_quickly(
    at: list[int], button: str
) -> None:
    guard = Repeats()
    assert not press(guard, at, button, 0)
    assert not press(guard, at, button, 10)
