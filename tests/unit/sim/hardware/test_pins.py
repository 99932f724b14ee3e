"""The pin factory under gpiozero's own devices."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import gpiozero
import pytest
from gpiozero.exc import GPIOPinInUse, PinInvalidBounce, PinSetInput

from sim.hardware.pins import SimPinFactory


@pytest.fixture
def now() -> list[int]:
    return [0]


@pytest.fixture
def factory(now: list[int]) -> Iterator[SimPinFactory]:
    with SimPinFactory(lambda: now[0]) as factory:
        yield factory


def line(factory: SimPinFactory, gpio: int = 17) -> gpiozero.DigitalInputDevice:
    return gpiozero.DigitalInputDevice(gpio, pull_up=True, pin_factory=factory)


def test_a_device_sees_what_the_wire_carries(factory: SimPinFactory) -> None:
    with line(factory) as device:
        assert not device.is_active
        factory.drive(17, 0)
        assert device.is_active
        factory.drive(17, None)
        assert not device.is_active
        assert device.pull_up


def test_without_a_drive_the_pull_decides(factory: SimPinFactory) -> None:
    with gpiozero.DigitalInputDevice(5, pull_up=False, pin_factory=factory) as device:
        assert device.value == 0
        factory.drive(5, 1)
        assert device.value == 1
        factory.drive(5, None)
        assert device.value == 0


def test_callbacks_run_at_once_on_the_driving_thread(factory: SimPinFactory) -> None:
    threads_before = threading.active_count()
    seen: list[str] = []
    with line(factory) as device:
        device.when_activated = lambda: seen.append(f"down {threading.get_ident()}")
        device.when_deactivated = lambda: seen.append(f"up {threading.get_ident()}")
        factory.drive(17, 0)
        factory.drive(17, 0)
        factory.drive(17, 1)
    here = threading.get_ident()
    assert seen == [f"down {here}", f"up {here}"]
    assert threading.active_count() == threads_before


def test_a_level_driven_before_the_device_opens_is_there(factory: SimPinFactory) -> None:
    factory.drive(17, 0)
    with line(factory) as device:
        assert device.is_active
    with line(factory) as again:
        assert again.is_active


def test_times_come_from_the_simulation(factory: SimPinFactory, now: list[int]) -> None:
    with line(factory) as device:
        factory.drive(17, 0)
        now[0] = 2_500_000_000
        assert device.active_time == pytest.approx(2.5)


def test_a_swallowed_edge_changes_the_level_and_tells_nobody(factory: SimPinFactory) -> None:
    seen: list[str] = []
    with line(factory) as device:
        device.when_activated = partial(seen.append, "edge")
        factory.swallow_edges(17, 1)
        factory.drive(17, 0)
        assert seen == []
        assert device.is_active
        factory.drive(17, 1)
        factory.drive(17, 0)
        assert seen == ["edge"]
    assert factory.lost_edges[17] == 1


def test_one_bad_callback_ends_all_edges_as_with_lgpio(
    factory: SimPinFactory, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def bad() -> None:
        raise ValueError("a bug")

    with line(factory, 17) as first, line(factory, 27) as second:
        first.when_activated = bad
        second.when_activated = lambda: seen.append("second")
        factory.drive(17, 0)
        factory.drive(27, 0)
        assert seen == []
        assert isinstance(factory.callback_failure, ValueError)
        assert "no further edge" in caplog.text
        factory.restart()
        factory.drive(27, 1)
        factory.drive(27, 0)
        assert seen == ["second"]


def test_two_devices_cannot_share_a_pin(factory: SimPinFactory) -> None:
    with line(factory), pytest.raises(GPIOPinInUse):
        line(factory)


def test_debouncing_by_the_pin_is_refused(factory: SimPinFactory) -> None:
    with pytest.raises(PinInvalidBounce):
        gpiozero.DigitalInputDevice(17, pull_up=True, bounce_time=0.01, pin_factory=factory)


def test_an_output_keeps_its_state_and_an_input_refuses_one(factory: SimPinFactory) -> None:
    with gpiozero.DigitalOutputDevice(6, pin_factory=factory) as output:
        output.on()
        assert output.value == 1
        output.off()
        assert output.value == 0
    with line(factory) as device, pytest.raises(PinSetInput):
        device.pin.state = 1


def test_only_the_chosen_edge_calls_back(factory: SimPinFactory) -> None:
    levels: list[int] = []

    def note(_ticks: float, level: int) -> None:
        levels.append(level)

    pin = factory.pin(4)
    pin.edges = "falling"
    pin.when_changed = note
    factory.drive(4, 1)
    factory.drive(4, 0)
    assert levels == [0]


def test_a_grounded_or_cut_wire_carries_nothing_of_what_drives_it(factory: SimPinFactory) -> None:
    with line(factory) as device:
        edges: list[str] = []
        device.when_activated = partial(edges.append, "low")
        device.when_deactivated = partial(edges.append, "high")
        factory.force(17, 0)
        factory.drive(17, 1)
        factory.drive(17, 0)
        assert device.is_active
        assert edges == ["low"]
        factory.force(17, None)
        assert not device.is_active
        factory.mend(17)
        assert device.is_active
        assert edges == ["low", "high", "low"]
