"""The text display's driver, and RPLCD's, over the register-level model of backpack and glass.

The model drops what comes while the glass is busy, so a driver that hurries is caught here. The
mutations these catch: no pause between two characters, a run repeated after it broke off, a display
that was unplugged between two writes and is believed to be as it was.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hal.aio import sleep_ms
from hal.bus.i2c import I2cBus
from hal.devices.text_display import TextDisplay
from hal.errors import BusFault, HardwareFault, IcFault
from hal.ics.pcf8574 import TextLcd
from sim.hardware.circuitpython import Clock
from sim.hardware.i2c import Message, SimBusWorker, SimI2c
from sim.hardware.ics.pcf8574 import TextBackpack
from sim.hardware.smbus import SimSMBus
from sim.time.loop import run_virtual

ADDRESS = 0x27
TEXT = (
    "LOCKED           1/2",
    "For a winner, press ",
    "the hand. No winner:",
    "press GAME OVER.    ",
)
OTHER = (
    "LOCKED           2/2",
    "For a winner, press ",
    "the hat.  No winner:",
    "press GAME OVER.    ",
)


def with_display(
    test: Callable[[SimI2c, TextBackpack, TextDisplay], Awaitable[None]],
    frequency_hz: int = 400_000,
    part: TextBackpack | None = None,
) -> None:
    async def main() -> None:
        wires = SimI2c(1, frequency_hz)
        backpack = part or TextBackpack(ADDRESS)
        wires.attach(backpack)
        bus = I2cBus("1", SimSMBus(wires), SimBusWorker(wires))
        await test(wires, backpack, TextDisplay(TextLcd(bus, ADDRESS)))

    run_virtual(main())


@pytest.mark.parametrize("frequency_hz", [10_000, 100_000, 400_000])
def test_every_character_arrives_at_every_speed(frequency_hz: int) -> None:
    async def test(wires: SimI2c, part: TextBackpack, display: TextDisplay) -> None:
        assert part.rows() == [" " * 20] * 4
        for rows in (TEXT, OTHER, TEXT):
            await display.show(rows)
            assert tuple(part.rows()) == rows
        await display.check()
        assert part.glass.lost_count == 0

    with_display(test, frequency_hz)


def test_only_what_changed_is_written() -> None:
    async def test(wires: SimI2c, part: TextBackpack, display: TextDisplay) -> None:
        await display.show(TEXT)
        before = wires.transfer_count
        await display.show(TEXT)
        assert wires.transfer_count == before
        written: list[int] = []
        part.on_pins = written.append
        await display.show(OTHER)
        # One digit and three letters of a row, each with its place: 6 bytes of 7 strobes' pins.
        strobes = [pins for pins in written if pins & 0x04 and not pins & 0x02]
        assert len(strobes) == 2 * (1 + 1 + 1 + 3)

    with_display(test)


def test_no_conversation_holds_a_shared_bus_for_long() -> None:
    """At 400 kHz nothing on the bus waits longer than 1.5 ms for a row of text."""

    async def test(wires: SimI2c, part: TextBackpack, display: TextDisplay) -> None:
        longest_ns = 0
        ended_ns = wires.clock_ns

        def measure(_addressed: object) -> None:
            nonlocal longest_ns, ended_ns
            longest_ns = max(longest_ns, wires.clock_ns - max(ended_ns, wires.now_ns()))
            ended_ns = wires.clock_ns

        wires.on_transfer = measure
        await display.show(TEXT)
        assert 0 < longest_ns < 1_500_000

    with_display(test)


def test_an_unplugged_display_is_a_fault_and_comes_back_by_itself() -> None:
    async def test(wires: SimI2c, part: TextBackpack, display: TextDisplay) -> None:
        await display.show(TEXT)
        part.power_off()
        with pytest.raises(BusFault):
            await display.check()
        with pytest.raises(BusFault):
            await display.show(OTHER)
        part.power_on()
        await display.check()  # nothing is believed of it, so nothing can be wrong with it
        await display.show(OTHER)
        assert tuple(part.rows()) == OTHER

    with_display(test)


def test_one_that_was_unplugged_in_between_is_noticed_by_its_pins() -> None:
    async def test(wires: SimI2c, part: TextBackpack, display: TextDisplay) -> None:
        await display.show(TEXT)
        part.power_cycle()
        assert part.rows() == [" " * 20] * 4
        with pytest.raises(IcFault, match="lost its set-up"):
            await display.show(OTHER)
        await display.show(TEXT)
        assert tuple(part.rows()) == TEXT

    with_display(test)


def test_a_display_that_forgot_behind_a_backpack_that_did_not_is_noticed() -> None:
    async def test(wires: SimI2c, part: TextBackpack, display: TextDisplay) -> None:
        await display.show(TEXT)
        part.glass.power_on(part.now_ns)
        await sleep_ms(20)
        with pytest.raises(IcFault, match="stands at place"):
            await display.check()
        await display.show(TEXT)
        assert tuple(part.rows()) == TEXT

    with_display(test)


class BreakingBackpack(TextBackpack):
    """Refuses one long transfer after its first nibble."""

    breaks = False

    def write(self, data: bytes) -> bool:
        if self.breaks and len(data) > 4:
            self.breaks = False
            super().write(data[:3])
            return False
        return super().write(data)


def test_a_run_that_broke_off_is_not_repeated_but_begun_anew() -> None:
    async def test(wires: SimI2c, part: TextBackpack, display: TextDisplay) -> None:
        await display.show(TEXT)
        assert isinstance(part, BreakingBackpack)
        part.breaks = True  # from here on every nibble would be taken for the other one
        with pytest.raises(HardwareFault, match="interrupted"):
            await display.show(OTHER)
        await display.show(OTHER)
        assert tuple(part.rows()) == OTHER

    with_display(test, part=BreakingBackpack(ADDRESS))


def test_what_is_no_plain_text_is_refused() -> None:
    async def test(wires: SimI2c, part: TextBackpack, display: TextDisplay) -> None:
        for rows in (TEXT[:3], (*TEXT[:3], "short"), (*TEXT[:3], "x" * 21), (*TEXT[:3], "é" * 20)):
            with pytest.raises(ValueError, match="four rows"):
                await display.show(rows)

    with_display(test)


def test_setting_up_leaves_the_event_loop_free() -> None:
    """Nothing sleeps inside a job: other work goes on while the display wakes."""

    async def test(wires: SimI2c, part: TextBackpack, display: TextDisplay) -> None:
        showing = asyncio.ensure_future(display.show(TEXT))
        turns = 0
        while not showing.done():
            await sleep_ms(1)
            turns += 1
        assert turns > 50
        await showing

    with_display(test)


# -- RPLCD, as people know it ------------------------------------------------------------------


class PublishedBus:
    """What RPLCD takes for `smbus2.SMBus`."""

    def __init__(self, clock: Clock, wires: SimI2c) -> None:
        self._clock = clock
        self._wires = wires

    def write_byte(self, address: int, value: int) -> None:
        self._wires.transfer([Message(address, bytes([value]))])
        self._clock.now_ns = max(self._clock.now_ns, self._wires.clock_ns)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, TextBackpack]:
    rplcd = importlib.import_module("RPLCD.i2c")
    clock = Clock()
    wires = SimI2c(1, 100_000, lambda: clock.now_ns)
    part = TextBackpack(ADDRESS)
    wires.attach(part)
    monkeypatch.setattr(importlib.import_module("RPLCD.common"), "time", clock)
    monkeypatch.setattr(rplcd, "SMBus", lambda port: PublishedBus(clock, wires))
    return rplcd.CharLCD("PCF8574", ADDRESS, cols=20, rows=4, charmap="A00"), part


def test_rplcd_sets_the_part_up_and_writes_where_it_says(
    published: tuple[Any, TextBackpack],
) -> None:
    lcd, part = published
    lcd.write_string("Four Aces")
    lcd.cursor_pos = (2, 11)
    lcd.write_string("$8,000.75")
    lcd.cursor_pos = (3, 0)
    lcd.write_string("Seat 5")
    assert [row.rstrip() for row in part.rows()] == [
        "Four Aces", "", "           $8,000.75", "Seat 5",
    ]  # fmt: skip
    assert part.glass.lost_count == 0


def test_rplcd_clears_and_switches_the_light(published: tuple[Any, TextBackpack]) -> None:
    lcd, part = published
    lcd.write_string("x" * 80)
    assert part.rows() == ["x" * 20] * 4
    lcd.backlight_enabled = False
    assert part.rows() == [" " * 20] * 4
    lcd.backlight_enabled = True
    lcd.clear()
    assert part.rows() == [" " * 20] * 4
