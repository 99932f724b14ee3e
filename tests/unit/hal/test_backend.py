"""A backend is chosen by name or refused; a machine without the hardware gets a sentence."""

from __future__ import annotations

import asyncio
import errno
import logging
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hal.backend
from hal.backend import I2C_TIMEOUT, RaspberryPiBackend, open_backend
from hal.errors import HardwareFault
from kit.config import ConfigError


class FakeSMBus:
    def __init__(self, number: int) -> None:
        self.number = number
        self.fd = 9
        self.closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def ioctls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    calls: list[tuple[int, int, int]] = []
    monkeypatch.setattr(hal.backend, "SMBus", FakeSMBus)
    monkeypatch.setattr(
        hal.backend, "fcntl", SimpleNamespace(ioctl=lambda *call: calls.append(call))
    )
    return calls


def with_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, frequency_hz: int) -> None:
    """The machine's device tree says this of bus 1."""
    node = tmp_path / "i2c-1" / "of_node" / "clock-frequency"
    node.parent.mkdir(parents=True)
    node.write_bytes(frequency_hz.to_bytes(4, "big"))
    monkeypatch.setattr(hal.backend, "ADAPTERS", tmp_path)


def test_the_raspberry_pi_is_known_by_name() -> None:
    backend = open_backend("raspberry-pi")
    assert isinstance(backend, RaspberryPiBackend)
    assert backend.serial_path("/dev/ttyACM0") == "/dev/ttyACM0"


@pytest.mark.parametrize("name", ["simulator", "sim", "", "Raspberry-Pi"])
def test_any_other_name_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigError, match=r'^board.backend: .* known are "raspberry-pi"'):
        open_backend(name)


def test_a_bus_is_opened_with_a_short_timeout_and_its_own_worker(
    ioctls: list[tuple[int, int, int]],
) -> None:
    smbus, worker = RaspberryPiBackend().open_i2c(1, 400_000)
    assert isinstance(smbus, FakeSMBus)
    assert smbus.number == 1
    assert ioctls == [(9, I2C_TIMEOUT, 3)]
    assert worker.name == "i2c-1"
    worker.close()


def test_an_adapter_that_takes_no_timeout_is_used_with_its_own(
    ioctls: list[Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTTY, "Inappropriate ioctl for device")

    monkeypatch.setattr(hal.backend, "fcntl", SimpleNamespace(ioctl=refuse))
    with caplog.at_level(logging.WARNING, "hal.backend"):
        _, worker = RaspberryPiBackend().open_i2c(1, 400_000)
    worker.close()
    assert "I2C bus 1 keeps its default timeout" in caplog.text


def test_a_bus_that_is_not_there_is_a_fault_with_a_sentence() -> None:
    with pytest.raises(HardwareFault, match=r"I2C bus 31 could not be opened: .*enabled"):
        RaspberryPiBackend().open_i2c(31, 400_000)


def test_a_bus_faster_than_its_ics_is_refused(
    ioctls: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_clock(monkeypatch, tmp_path, 1_000_000)
    with pytest.raises(ConfigError, match="I2C bus 1 runs at 1000000 Hz"):
        RaspberryPiBackend().open_i2c(1, 400_000)


def test_a_bus_slower_than_planned_is_used_and_told(
    ioctls: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with_clock(monkeypatch, tmp_path, 100_000)
    with caplog.at_level(logging.WARNING, "hal.backend"):
        _, worker = RaspberryPiBackend().open_i2c(1, 400_000)
    worker.close()
    assert "I2C bus 1 runs at 100000 Hz instead of 400000." in caplog.text


def test_lgpio_is_opened_outright_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(LGPIOFactory=lambda: object())
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", module)
    backend = RaspberryPiBackend()
    assert backend.pin_factory() is backend.pin_factory()


def test_a_machine_without_gpio_is_a_fault_and_no_other_factory_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise RuntimeError("can not open gpiochip")

    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", SimpleNamespace(LGPIOFactory=refuse))
    with pytest.raises(HardwareFault, match="GPIO lines could not be opened: can not open"):
        RaspberryPiBackend().pin_factory()


def test_the_disk_has_a_thread_of_its_own() -> None:
    worker = RaspberryPiBackend().disk_worker()
    name = asyncio.run(worker.run(lambda: threading.current_thread().name))
    worker.close()
    assert name.startswith("disk")
