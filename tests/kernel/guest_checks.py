"""What is true only in the guest: which kernel drivers answer, and with which errno and when."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import lgpio
import smbus2
from gpiozero.pins.lgpio import LGPIOFactory
from smbus2 import i2c_msg

from hal.backend import RaspberryPiBackend
from hal.bus.i2c import SMBusLike
from hal.worker import ThreadWorker
from sim.hardware.i2c import CP2112
from tests.contract.contract_bus import AFE2, NOBODY, SENSE
from tests.contract.contract_rig import BUS, TOUCH_TABLE, Rig, refused

CHECKS: dict[str, tuple[str, Callable[[Rig], Awaitable[None]]]] = {}
LONGEST_BRIDGE_WRITE = 61
ADAPTER_NAME = Path(f"/sys/bus/i2c/devices/i2c-{BUS}/name")


def check(function: Callable[[Rig], Awaitable[None]]) -> Callable[[Rig], Awaitable[None]]:
    CHECKS[getattr(function, "__name__", "").replace("_", " ")] = (TOUCH_TABLE, function)
    return function


@check
async def the_shipped_backend_is_on_the_kernels_own_drivers(rig: Rig) -> None:
    assert ADAPTER_NAME.read_text(encoding="utf-8").startswith("CP2112 SMBus Bridge")  # noqa: ASYNC240
    assert type(rig.backend) is RaspberryPiBackend
    assert type(rig.backend.pin_factory()) is LGPIOFactory
    chip = lgpio.gpiochip_open(0)
    _, lines, _, label = lgpio.gpio_get_chip_info(chip)
    lgpio.gpiochip_close(chip)
    assert (lines, label) == (8, "cp2112_gpio")
    smbus, worker = rig.backend.open_i2c(BUS, 400_000)
    assert type(smbus) is smbus2.SMBus
    assert type(worker) is ThreadWorker
    worker.close()
    smbus.close()


@check
async def each_misfortune_has_its_errno_and_its_time(rig: Rig) -> None:
    """hardware.md, section 2: the column of the CP2112."""
    smbus, worker = rig.backend.open_i2c(BUS, 400_000)
    faults = rig.world.faults

    def read(smbus: SMBusLike, address: int = SENSE) -> int:
        return smbus.read_byte_data(address, AFE2)

    try:
        _expect(smbus, lambda s: read(s, NOBODY), CP2112.nack, 0, 20)
        faults.nack("sense-1", count=1)
        _expect(smbus, read, CP2112.nack, 0, 20)
        faults.lose_arbitration(BUS)
        _expect(smbus, read, CP2112.arbitration, 0, 20)
        faults.short_read("sense-1")
        _expect(smbus, read, CP2112.incomplete, 0, 20)
        faults.stick_bus(BUS)
        _expect(smbus, read, CP2112.stuck, 40, 90)
        faults.clear_bus(BUS)
        assert read(smbus) == 0x24
    finally:
        worker.close()
        smbus.close()


def _expect(
    smbus: SMBusLike, job: Callable[[SMBusLike], int], errno: int, at_least_ms: int, at_most_ms: int
) -> None:
    began_s = time.monotonic()
    with refused(OSError) as caught:
        job(smbus)
    took_ms = (time.monotonic() - began_s) * 1000
    error = caught[0]
    assert isinstance(error, OSError)
    assert error.errno == errno, error
    assert at_least_ms <= took_ms <= at_most_ms, f"{error} after {took_ms:.1f} ms"


@check
async def a_bridge_takes_61_bytes_in_one_write_and_no_more(rig: Rig) -> None:
    """Why the lamp IC's first frame travels in halves."""
    smbus, worker = rig.backend.open_i2c(BUS, 400_000)
    try:
        smbus.i2c_rdwr(i2c_msg.write(SENSE, bytes(LONGEST_BRIDGE_WRITE)))
        with refused(OSError):
            smbus.i2c_rdwr(i2c_msg.write(SENSE, bytes(LONGEST_BRIDGE_WRITE + 1)))
    finally:
        worker.close()
        smbus.close()
