"""A bus of plain registers for byte-level expectations, and lines a test can drive."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gpiozero.pins.mock import MockFactory

from hal.bus.i2c import I2cBus
from hal.worker import InlineWorker
from tests.kit.register_bus import RegisterBus


@pytest.fixture
def smbus() -> RegisterBus:
    return RegisterBus()


@pytest.fixture
def bus(smbus: RegisterBus) -> I2cBus:
    return I2cBus("1", smbus, InlineWorker("i2c-1"))


@pytest.fixture
def pin_factory() -> Iterator[MockFactory]:
    factory = MockFactory()
    yield factory
    factory.reset()
