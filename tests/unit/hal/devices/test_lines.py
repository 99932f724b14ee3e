"""A line latches edges and reads live; no callback of ours can end gpiozero's thread."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest
from gpiozero.pins.mock import MockFactory

from hal.aio import ThreadSafeFlag, wait_for_ms
from hal.devices.lines import InputLine
from hal.errors import HardwareFault
from sim.time.loop import NothingCanWake, run_virtual


@pytest.mark.parametrize("active_low", [True, False])
@pytest.mark.parametrize("pull_up", [True, False])
def test_active_follows_the_wire(pin_factory: MockFactory, active_low: bool, pull_up: bool) -> None:
    line = InputLine("test", pin_factory, 17, active_low, pull_up)
    pin = pin_factory.pin(17)
    pin.drive_low()
    assert line.active is active_low
    pin.drive_high()
    assert line.active is not active_low
    assert pin.pull == ("up" if pull_up else "floating")
    line.close()


def test_an_edge_before_the_wait_is_not_lost(pin_factory: MockFactory) -> None:
    line = InputLine("test", pin_factory, 17, active_low=True, pull_up=True)
    pin_factory.pin(17).drive_low()
    run_virtual(line.changed())
    with pytest.raises(NothingCanWake):
        run_virtual(line.changed())
    assert line.edge_count == 1
    line.close()


def test_a_pulse_shorter_than_a_look_is_latched(pin_factory: MockFactory) -> None:
    line = InputLine("test", pin_factory, 17, active_low=True, pull_up=True)
    pin_factory.pin(17).drive_low()
    pin_factory.pin(17).drive_high()
    assert not line.active
    run_virtual(line.changed())
    assert line.edge_count == 2
    line.close()


def test_a_waiter_is_woken(pin_factory: MockFactory) -> None:
    line = InputLine("test", pin_factory, 17, active_low=True, pull_up=True)

    async def main() -> None:
        asyncio.get_running_loop().call_later(0.5, pin_factory.pin(17).drive_low)
        await wait_for_ms(line.changed(), 501)

    run_virtual(main())
    line.close()


def test_an_edge_from_another_thread_wakes_a_real_loop(pin_factory: MockFactory) -> None:
    line = InputLine("test", pin_factory, 17, active_low=True, pull_up=True)

    async def main() -> None:
        waiting = asyncio.create_task(line.changed())
        await asyncio.sleep(0)
        edge = threading.Thread(target=pin_factory.pin(17).drive_low)
        edge.start()
        await waiting
        edge.join()

    asyncio.run(main())
    line.close()


def test_an_exception_in_the_callback_does_not_escape(
    pin_factory: MockFactory, caplog: pytest.LogCaptureFixture
) -> None:
    class BrokenFlag(ThreadSafeFlag):
        def set(self) -> None:
            raise ValueError("broken")

    line = InputLine("test", pin_factory, 17, active_low=True, pull_up=True)
    line.also_set(BrokenFlag())
    with caplog.at_level(logging.ERROR, "hal.devices.lines"):
        pin_factory.pin(17).drive_low()
    assert "An edge of the line test was lost." in caplog.text
    run_virtual(line.changed())
    line.close()


def test_another_flag_is_set_too(pin_factory: MockFactory) -> None:
    line = InputLine("test", pin_factory, 17, active_low=True, pull_up=True)
    flag = ThreadSafeFlag()
    line.also_set(flag)
    pin_factory.pin(17).drive_low()
    run_virtual(flag.wait())
    run_virtual(line.changed())
    line.close()


def test_the_number_of_flags_is_bounded(pin_factory: MockFactory) -> None:
    line = InputLine("test", pin_factory, 17, active_low=True, pull_up=True)
    for _ in range(3):
        line.also_set(ThreadSafeFlag())
    with pytest.raises(RuntimeError, match="already sets 4 flags"):
        line.also_set(ThreadSafeFlag())
    line.close()


def test_a_pin_in_use_is_refused_by_name(pin_factory: MockFactory) -> None:
    line = InputLine("first", pin_factory, 17, active_low=True, pull_up=True)
    with pytest.raises(HardwareFault, match="GPIO 17 for second could not be opened"):
        InputLine("second", pin_factory, 17, active_low=True, pull_up=True)
    line.close()


def test_a_closed_line_is_released_and_its_level_is_a_fault(pin_factory: MockFactory) -> None:
    line = InputLine("first", pin_factory, 17, active_low=True, pull_up=True)
    line.close()
    line.close()
    with pytest.raises(HardwareFault, match="The line first could not be read"):
        _ = line.active
    again = InputLine("again", pin_factory, 17, active_low=True, pull_up=True)
    pin_factory.pin(17).drive_low()
    assert (line.edge_count, again.edge_count) == (0, 1)
    again.close()
