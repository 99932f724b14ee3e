"""Drivers that nobody here wrote, Adafruit's from PyPI, on the kernel's own bus.

They talk to `/dev/i2c-1` in real time, as on a Pi; `tests/contract/test_peer_drivers.py` asks more
of the same drivers and IC models, in process and without a kernel between them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from hal.board.config import SensorConfig
from sim.hardware.circuitpython import KernelI2C, published_drivers
from tests.contract.contract_bus import LIGHTS, SENSE
from tests.contract.contract_rig import BUS, TOUCH_TABLE, Rig, until

CHECKS: dict[str, tuple[str, Callable[[Rig], Awaitable[None]]]] = {}
SPOT = "3A"
# The bridge is polled every 40 ms, and each look of theirs is a conversation of its own.
TOUCH_MAX_MS = 3000
FREQUENCY_HZ = 1526
DUTY = 0x7FF0


def check(function: Callable[[Rig], Awaitable[None]]) -> Callable[[Rig], Awaitable[None]]:
    CHECKS[getattr(function, "__name__", "").replace("_", " ")] = (TOUCH_TABLE, function)
    return function


def _place(rig: Rig) -> SensorConfig:
    return next(place for place in rig.board.sensors if place.id == SPOT)


@contextmanager
def _peers(rig: Rig) -> Iterator[tuple[dict[str, ModuleType], KernelI2C]]:
    smbus, worker = rig.backend.open_i2c(BUS, 400_000)
    try:
        with published_drivers() as drivers:
            yield drivers, KernelI2C(smbus)
    finally:
        worker.close()
        smbus.close()


@check
async def the_mpr121_driver_reads_a_touch_and_its_release(rig: Rig) -> None:
    electrode = _place(rig).electrode
    with _peers(rig) as (drivers, bus):
        driver: Any = drivers["adafruit_mpr121"].MPR121(bus, SENSE)
        await until(lambda: driver[electrode].raw_value > 0, "the first measure", TOUCH_MAX_MS)
        assert not driver.touched()
        empty = driver[electrode].raw_value
        rig.world.place_chip(SPOT)
        await until(lambda: driver.touched() == 1 << electrode, "one touch", TOUCH_MAX_MS)
        assert driver[electrode].raw_value < empty
        rig.world.remove_chip(SPOT)
        await until(lambda: not driver.touched(), "its release", TOUCH_MAX_MS)


@check
async def the_pca9685_driver_writes_pwm_and_reads_it_back(rig: Rig) -> None:
    place = _place(rig)
    with _peers(rig) as (drivers, bus):
        driver: Any = drivers["adafruit_pca9685"].PCA9685(bus, address=LIGHTS)
        driver.frequency = FREQUENCY_HZ
        assert abs(driver.frequency - FREQUENCY_HZ) < 0.01 * FREQUENCY_HZ
        driver.channels[place.white_channel].duty_cycle = DUTY
        assert driver.channels[place.white_channel].duty_cycle == DUTY
        assert driver.channels[place.amber_channel].duty_cycle == 0
        shines = rig.world.level_now(SPOT, "white")
        assert abs(shines - DUTY / 0xFFFF) < 0.01, shines
        assert rig.world.level_now(SPOT, "amber") == 0
