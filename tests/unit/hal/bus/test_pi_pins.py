"""The bus's pins are taken only from a driver that can be given them back, and always are.

Mutations these catch: unbinding with the bus still open (the kernel would wait for ever), closing
the bus before the rights were checked, leaving the driver unbound when a line cannot be claimed,
and a bus that works on without its timeout.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hal.bus.pi_pins import REOPEN_TRIES_MAX, LgpioChip, LgpioOpenDrain, PiBusPins
from hal.bus.recovery import OpenDrainLine, PinsNotAvailable

DEVICE = "fe804000.i2c"


class FakeKernel:
    """A driver's folder in sysfs whose `bind` and `unbind` do what the kernel's would."""

    def __init__(self, folder: Path) -> None:
        self.log: list[str] = []
        self.adapters = folder / "bus" / "i2c" / "devices"
        self.driver = folder / "drivers" / "i2c-bcm2835"
        self.device = folder / "devices" / DEVICE
        adapter = self.device / "i2c-1"
        for each in (self.adapters, self.driver, adapter):
            each.mkdir(parents=True)
        (self.adapters / "i2c-1").symlink_to(adapter)
        (self.device / "driver").symlink_to(self.driver)
        for name in ("bind", "unbind"):
            (self.driver / name).write_text("")

    @property
    def unbound(self) -> str:
        return (self.driver / "unbind").read_text()

    @property
    def bound(self) -> str:
        return (self.driver / "bind").read_text()


class FakeSmbus:
    def __init__(self, kernel: FakeKernel) -> None:
        self.kernel = kernel
        self.is_open = True
        self.missing_tries = 0

    def open(self, bus: int) -> None:
        assert bus == 1
        if self.missing_tries > 0:
            self.missing_tries -= 1
            raise FileNotFoundError(2, "No such file or directory")
        self.is_open = True
        self.kernel.log.append("open")

    def close(self) -> None:
        assert self.kernel.unbound == "", "the kernel would wait for this handle"
        self.is_open = False
        self.kernel.log.append("close")


class FakeLine:
    def __init__(self, gpio: int, kernel: FakeKernel) -> None:
        assert kernel.unbound == DEVICE, "the pins still belong to the driver"
        self.gpio = gpio
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Bench:
    def __init__(self, folder: Path) -> None:
        self.kernel = FakeKernel(folder)
        self.smbus = FakeSmbus(self.kernel)
        self.lines: list[FakeLine] = []
        self.waits: list[float] = []
        self.broken_gpio: int | None = None
        self.pins = PiBusPins(
            1,
            self.smbus,
            (3, 2),
            self._open_line,
            prepare=lambda: self.kernel.log.append("timeout"),
            adapters=self.kernel.adapters,
            wait=self.waits.append,
        )

    def _open_line(self, gpio: int) -> OpenDrainLine:
        if gpio == self.broken_gpio:
            raise PinsNotAvailable(f"GPIO {gpio} cannot be used.")
        self.lines.append(FakeLine(gpio, self.kernel))
        return self.lines[-1]  # type: ignore[return-value]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_pins_come_after_the_driver_went_and_go_before_it_comes(bench: Bench) -> None:
    scl, sda = bench.pins.take()
    assert [line.gpio for line in bench.lines] == [3, 2]
    assert (scl, sda) == tuple(bench.lines)
    assert not bench.smbus.is_open
    assert bench.kernel.unbound == DEVICE
    assert bench.kernel.bound == ""
    bench.pins.give_back()
    assert all(line.closed for line in bench.lines)
    assert bench.kernel.bound == DEVICE
    assert bench.smbus.is_open
    assert bench.kernel.log == ["close", "open", "timeout"]


def test_giving_back_twice_is_harmless(bench: Bench) -> None:
    bench.pins.give_back()
    bench.pins.take()
    bench.pins.give_back()
    bench.pins.give_back()
    assert bench.kernel.log == ["close", "open", "timeout"]


@pytest.mark.parametrize("name", ["unbind", "bind"])
def test_without_the_right_to_do_both_nothing_is_touched(
    bench: Bench, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may write anything, so the answer is given here.
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path).name != name and allowed(path, mode)
    )
    with pytest.raises(PinsNotAvailable, match=rf"may not write .*/{name}\."):
        bench.pins.take()
    assert bench.smbus.is_open
    assert bench.kernel.unbound == ""


def test_a_line_that_cannot_be_claimed_leaves_the_bus_as_it_was(bench: Bench) -> None:
    bench.broken_gpio = 2
    with pytest.raises(PinsNotAvailable, match="GPIO 2"):
        bench.pins.take()
    bench.pins.give_back()
    assert [line.closed for line in bench.lines] == [True]
    assert bench.kernel.bound == DEVICE
    assert bench.smbus.is_open


def test_the_device_file_may_take_a_moment(bench: Bench) -> None:
    bench.pins.take()
    bench.smbus.missing_tries = 3
    bench.pins.give_back()
    assert len(bench.waits) == 3
    assert bench.smbus.is_open


def test_a_bus_that_stays_away_is_asked_for_again_the_next_time(bench: Bench) -> None:
    bench.pins.take()
    bench.smbus.missing_tries = REOPEN_TRIES_MAX
    with pytest.raises(OSError, match="I2C bus 1 did not come back: No such file"):
        bench.pins.give_back()
    bench.pins.give_back()
    assert bench.smbus.is_open


class FakeLgpio:
    """lgpio's names; its error is no OSError."""

    SET_OPEN_DRAIN = 8

    class error(Exception):  # noqa: N801, N818 - lgpio's own name
        pass

    def __init__(self) -> None:
        self.log: list[tuple[object, ...]] = []
        self.refuses = ""

    def gpiochip_open(self, chip: int) -> int:
        return self._do("open", 77, chip)

    def gpio_claim_output(self, handle: int, gpio: int, level: int, flags: int) -> int:
        return self._do("claim", 0, handle, gpio, level, flags)

    def gpio_write(self, handle: int, gpio: int, level: int) -> int:
        return self._do("write", 0, handle, gpio, level)

    def gpio_read(self, handle: int, gpio: int) -> int:
        return self._do("read", 1, handle, gpio)

    def gpio_free(self, handle: int, gpio: int) -> int:
        return self._do("free", 0, handle, gpio)

    def _do(self, name: str, answer: int, *arguments: int) -> int:
        if name == self.refuses:
            raise FakeLgpio.error("GPIO busy")
        self.log.append((name, *arguments))
        return answer


@pytest.fixture
def lgpio(monkeypatch: pytest.MonkeyPatch) -> FakeLgpio:
    fake = FakeLgpio()
    monkeypatch.setitem(__import__("sys").modules, "lgpio", fake)
    return fake


def test_a_line_is_let_go_first_and_freed_last(lgpio: FakeLgpio) -> None:
    line = LgpioOpenDrain(LgpioChip(0), 3)
    line.low()
    line.release()
    assert line.is_high()
    line.close()
    line.close()
    assert lgpio.log == [
        ("open", 0),
        ("claim", 77, 3, 1, 8),
        ("write", 77, 3, 0),
        ("write", 77, 3, 1),
        ("read", 77, 3),
        ("write", 77, 3, 1),
        ("free", 77, 3),
    ]


def test_the_chip_stays_open_because_closing_it_would_hold_the_whole_unit(lgpio: FakeLgpio) -> None:
    chip = LgpioChip(0)
    for gpio in (3, 2, 3):
        LgpioOpenDrain(chip, gpio).close()
    assert [name for name, *_ in lgpio.log] == ["open", *["claim", "write", "free"] * 3]


@pytest.mark.parametrize("call", ["open", "claim"])
def test_a_line_in_use_is_refused_with_a_sentence(lgpio: FakeLgpio, call: str) -> None:
    lgpio.refuses = call
    with pytest.raises(PinsNotAvailable, match="GPIO 3 cannot be used: GPIO busy"):
        LgpioOpenDrain(LgpioChip(0), 3)
