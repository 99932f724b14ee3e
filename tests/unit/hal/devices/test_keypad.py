"""Keys are debounced, told once, and never guessed when several go down together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from gpiozero.pins.mock import MockFactory

from hal.aio import ticks_ms, wait_for_ms
from hal.bus.i2c import I2cBus
from hal.devices.keypad import KeyChord, Keypad, KeyPress
from hal.devices.lines import InputLine
from hal.errors import BusFault
from hal.ics.tca9555 import Tca9555
from sim.time.loop import run_virtual

KEYS = {"START": 0, "END": 1, "SEAT 1": 8}
INT_GPIO = 27


class Keys:
    """Fingers on the keys; the expander's interrupt pulses with each change."""

    def __init__(self, smbus: Any, pin_factory: MockFactory) -> None:
        self._smbus = smbus
        self._pin = pin_factory.pin(INT_GPIO)
        self.interrupts = True
        self.up(*KEYS)

    def down(self, *names: str) -> None:
        self._set(names, 0)

    def up(self, *names: str) -> None:
        self._set(names, 1)

    def _set(self, names: tuple[str, ...], level: int) -> None:
        for name in names:
            register, bit = divmod(KEYS[name], 8)
            self._smbus.registers[register] &= ~(1 << bit) & 0xFF
            self._smbus.registers[register] |= level << bit
        if self.interrupts:
            self._pin.drive_low()
            self._pin.drive_high()


@pytest.fixture
def keys(smbus: Any, pin_factory: MockFactory) -> Keys:
    return Keys(smbus, pin_factory)


@pytest.fixture
def keypad(bus: I2cBus, pin_factory: MockFactory) -> Iterator[Keypad]:
    line = InputLine("interrupt", pin_factory, INT_GPIO, active_low=True, pull_up=True)
    yield Keypad(Tca9555(bus, 0x20), KEYS, line)
    line.close()


def at(ms: int, act: Any, *names: str) -> None:
    asyncio.get_running_loop().call_later(ms / 1000, act, *names)


def test_a_press_is_told_once_after_the_debounce(keypad: Keypad, keys: Keys) -> None:
    async def main() -> tuple[object, int]:
        at(1000, keys.down, "START")
        press = await keypad.next_press()
        pressed_ms = ticks_ms()
        with pytest.raises(TimeoutError):
            await wait_for_ms(keypad.next_press(), 3000)
        return press, pressed_ms

    assert run_virtual(main()) == (KeyPress("START"), 1020)


def test_a_second_press_needs_a_release(keypad: Keypad, keys: Keys) -> None:
    async def main() -> list[object]:
        at(100, keys.down, "END")
        at(300, keys.up, "END")
        at(500, keys.down, "END")
        return [await keypad.next_press(), await keypad.next_press(), ticks_ms()]

    assert run_virtual(main()) == [KeyPress("END"), KeyPress("END"), 520]


def test_a_bouncing_key_is_one_press(keypad: Keypad, keys: Keys) -> None:
    async def main() -> list[object]:
        for bounce_ms in range(100, 130, 6):
            at(bounce_ms, keys.down, "START")
            at(bounce_ms + 3, keys.up, "START")
        at(130, keys.down, "START")
        press = await keypad.next_press()
        with pytest.raises(TimeoutError):
            await wait_for_ms(keypad.next_press(), 1000)
        return [press]

    assert run_virtual(main()) == [KeyPress("START")]


def test_a_glitch_shorter_than_the_debounce_is_no_press(keypad: Keypad, keys: Keys) -> None:
    async def main() -> None:
        at(100, keys.down, "START")
        at(110, keys.up, "START")
        with pytest.raises(TimeoutError):
            await wait_for_ms(keypad.next_press(), 1000)

    run_virtual(main())


def test_several_keys_within_one_debounce_are_a_chord(keypad: Keypad, keys: Keys) -> None:
    async def main() -> object:
        at(100, keys.down, "START")
        at(110, keys.down, "SEAT 1", "END")
        return await keypad.next_press()

    assert run_virtual(main()) == KeyChord(("START", "END", "SEAT 1"))


def test_a_key_pressed_while_another_is_held_counts(keypad: Keypad, keys: Keys) -> None:
    async def main() -> list[object]:
        at(100, keys.down, "START")
        at(200, keys.down, "END")
        return [await keypad.next_press(), await keypad.next_press()]

    assert run_virtual(main()) == [KeyPress("START"), KeyPress("END")]


def test_a_quick_roll_from_key_to_key_counts_both(keypad: Keypad, keys: Keys) -> None:
    """Catches: a longer wait for company, which would take a fast hand for a palm."""

    async def main() -> list[object]:
        at(100, keys.down, "SEAT 1")
        at(130, keys.down, "END")
        at(160, keys.up, "SEAT 1")
        return [await wait_for_ms(keypad.next_press(), 1000) for _ in range(2)]

    assert run_virtual(main()) == [KeyPress("SEAT 1"), KeyPress("END")]


def test_a_line_held_low_costs_no_quick_press_and_is_told(
    keypad: Keypad, keys: Keys, pin_factory: MockFactory
) -> None:
    """Catches: a shorted line that is waited for, while a finger comes and goes."""

    async def main() -> tuple[list[object], int]:
        keys.interrupts = False
        pin_factory.pin(INT_GPIO).drive_low()
        pressed: list[object] = []
        for begin in range(1000, 6000, 730):
            at(begin, keys.down, "END")
            at(begin + 80, keys.up, "END")
        for _ in range(7):
            pressed.append(await wait_for_ms(keypad.next_press(), 2000))
        return pressed, keypad.line_held_s()

    pressed, held_s = run_virtual(main())
    assert pressed == [KeyPress("END")] * 7
    assert held_s >= 5


def test_a_line_that_is_free_is_not_told_as_held(keypad: Keypad, keys: Keys) -> None:
    async def main() -> int:
        at(1000, keys.down, "END")
        at(9000, keys.up, "END")
        await keypad.next_press()
        with pytest.raises(TimeoutError):
            await wait_for_ms(keypad.next_press(), 6000)
        return keypad.line_held_s()

    assert run_virtual(main()) == 0


def test_a_keypad_that_does_not_answer_holds_no_key_down(
    keypad: Keypad, keys: Keys, smbus: Any
) -> None:
    """Catches: a key that counts as stuck for as long as the bus is out."""

    async def main() -> dict[str, int]:
        keys.down("END")
        await keypad.start()
        await asyncio.sleep(3)
        assert keypad.down_s() == {"END": 3}
        smbus.failures.extend([OSError(121, "x")] * 3)
        with pytest.raises(BusFault):
            await keypad.next_press()
        return keypad.down_s()

    assert run_virtual(main()) == {}


def test_a_vanished_interrupt_is_found_by_the_poll(keypad: Keypad, keys: Keys) -> None:
    async def main() -> tuple[object, int]:
        keys.interrupts = False
        at(1000, keys.down, "SEAT 1")
        return await keypad.next_press(), ticks_ms()

    press, pressed_ms = run_virtual(main())
    assert press == KeyPress("SEAT 1")
    assert pressed_ms <= 1270


def test_a_line_that_told_of_the_last_press_may_miss_the_next(keypad: Keypad, keys: Keys) -> None:
    """Catches: fewer looks while the line is trusted, which lost a seat's key on a slow bus."""

    async def main() -> list[object]:
        at(1000, keys.down, "START")
        at(1100, keys.up, "START")
        presses: list[object] = [await keypad.next_press()]
        at(500, keys.up)  # the last that the line tells
        await asyncio.sleep(1)
        keys.interrupts = False
        at(100, keys.down, "END")
        at(400, keys.up, "END")
        presses.append(await wait_for_ms(keypad.next_press(), 3000))
        return presses

    assert run_virtual(main()) == [KeyPress("START"), KeyPress("END")]


def test_a_key_held_at_the_start_is_not_a_press(
    keypad: Keypad, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    keys.down("START")

    async def main() -> object:
        at(500, keys.down, "END")
        return await keypad.next_press()

    with caplog.at_level(logging.WARNING, "hal.devices.keypad"):
        assert run_virtual(main()) == KeyPress("END")
    assert "Held down at the start: START." in caplog.text


def test_lines_without_a_key_are_driven_and_never_read_as_one(
    keypad: Keypad, keys: Keys, smbus: Any
) -> None:
    run_virtual(keypad.start())
    assert smbus.registers[0x06:0x08] == bytes([0b0011, 0b0001])
    smbus.registers[0] &= 0x0F
    assert run_virtual(keypad.held()) == ()


def test_a_bus_fault_is_raised_and_the_next_call_starts_anew(
    keypad: Keypad, keys: Keys, smbus: Any
) -> None:
    async def main() -> object:
        await keypad.start()
        smbus.failures.extend([OSError(121, "x")] * 3)
        with pytest.raises(BusFault):
            await keypad.next_press()
        keys.down("START")  # while nobody could see it
        smbus.log.clear()
        at(500, keys.down, "END")
        press = await keypad.next_press()
        assert smbus.writes[-1][0] == 0x06, "the expander was set up again"
        return press

    assert run_virtual(main()) == KeyPress("END")


def test_keys_that_never_settle_press_nothing(
    keypad: Keypad, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        await keypad.start()
        for change_ms in range(10, 2000, 40):
            at(change_ms, keys.down, "START")
            at(change_ms + 20, keys.up, "START")
        with pytest.raises(TimeoutError):
            await wait_for_ms(keypad.next_press(), 1900)

    with caplog.at_level(logging.WARNING, "hal.devices.keypad"):
        run_virtual(main())
    assert "keep bouncing" in caplog.text


def test_without_an_interrupt_line_it_polls(bus: I2cBus, keys: Keys) -> None:
    keypad = Keypad(Tca9555(bus, 0x20), KEYS, None)

    async def main() -> tuple[object, int]:
        at(1000, keys.down, "START")
        return await keypad.next_press(), ticks_ms()

    press, pressed_ms = run_virtual(main())
    assert press == KeyPress("START")
    assert pressed_ms <= 1040
