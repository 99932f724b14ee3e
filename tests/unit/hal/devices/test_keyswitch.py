"""The key has a position only while exactly one contact is closed, with patience for a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from gpiozero.pins.mock import MockFactory

from hal.aio import sleep_ms, ticks_ms, wait_for_ms
from hal.devices.keyswitch import KeySwitch
from hal.devices.lines import InputLine
from sim.time.loop import run_virtual

RUN_GPIO, JPH_GPIO = 22, 23


class Key:
    """The key in the lock: closes contacts to ground, and the switch that reads them."""

    def __init__(self, pin_factory: MockFactory, run: bool, jph: bool) -> None:
        self._factory = pin_factory
        run_line = InputLine("RUN", pin_factory, RUN_GPIO, active_low=True, pull_up=True)
        jph_line = InputLine("JPH", pin_factory, JPH_GPIO, active_low=True, pull_up=True)
        self.contacts(run, jph)
        self.switch = KeySwitch(run_line, jph_line)

    def contacts(self, run: bool, jph: bool) -> None:
        for gpio, closed in ((RUN_GPIO, run), (JPH_GPIO, jph)):
            pin = self._factory.pin(gpio)
            if closed:
                pin.drive_low()
            else:
                pin.drive_high()


@pytest.fixture
def key(pin_factory: MockFactory) -> Iterator[Key]:
    key = Key(pin_factory, run=True, jph=False)
    yield key
    key.switch.close()


def test_the_two_positions(key: Key) -> None:
    assert key.switch.position == "RUN"
    key.contacts(run=False, jph=True)
    assert key.switch.position == "JPH"


@pytest.mark.parametrize("both", [True, False])
def test_a_turn_keeps_the_last_position_and_too_long_a_turn_is_a_fault(
    key: Key, both: bool
) -> None:
    async def main() -> list[str]:
        key.contacts(run=both, jph=both)
        seen = [key.switch.position]
        await sleep_ms(199)
        seen.append(key.switch.position)
        await sleep_ms(1)
        seen.append(key.switch.position)
        key.contacts(run=False, jph=True)
        seen.append(key.switch.position)
        return seen

    assert run_virtual(main()) == ["RUN", "RUN", "FAULT", "JPH"]


def test_changed_tells_a_turn_once_and_without_the_moment_between(key: Key) -> None:
    async def main() -> tuple[str, int]:
        loop = asyncio.get_running_loop()
        loop.call_later(1.0, key.contacts, False, False)
        loop.call_later(1.15, key.contacts, False, True)
        return await key.switch.changed(), ticks_ms()

    assert run_virtual(main()) == ("JPH", 1150)


def test_changed_tells_a_fault_when_the_turn_lasts_too_long(key: Key) -> None:
    async def main() -> tuple[str, int]:
        asyncio.get_running_loop().call_later(1.0, key.contacts, False, False)
        return await key.switch.changed(), ticks_ms()

    assert run_virtual(main()) == ("FAULT", 1200)


def test_bouncing_contacts_are_no_change(key: Key) -> None:
    async def main() -> None:
        for _ in range(20):
            key.contacts(run=False, jph=False)
            await sleep_ms(5)
            key.contacts(run=True, jph=False)
            await sleep_ms(5)
        with pytest.raises(TimeoutError):
            await wait_for_ms(key.switch.changed(), 2000)

    run_virtual(main())


def test_contacts_that_disagree_from_the_start_are_a_fault_at_once(
    pin_factory: MockFactory,
) -> None:
    key = Key(pin_factory, run=True, jph=True)
    assert key.switch.position == "FAULT"
    key.contacts(run=True, jph=False)
    assert run_virtual(key.switch.changed()) == "RUN"
    key.switch.close()


def test_a_lost_edge_is_found_by_looking_again(key: Key, pin_factory: MockFactory) -> None:
    async def main() -> tuple[str, int]:
        for gpio in (RUN_GPIO, JPH_GPIO):
            pin_factory.pin(gpio).when_changed = None
        asyncio.get_running_loop().call_later(1.1, key.contacts, False, True)
        return await key.switch.changed(), ticks_ms()

    position, at_ms = run_virtual(main())
    assert position == "JPH"
    assert at_ms <= 1350
