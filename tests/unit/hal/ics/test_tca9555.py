"""The expander's exact transfers, and what becomes of ones that do not take."""

from __future__ import annotations

from typing import Any

import pytest

from hal.bus.i2c import I2cBus
from hal.errors import BusFault, IcFault
from hal.ics.tca9555 import Tca9555
from sim.time.loop import run_virtual


def test_start_writes_pairs_low_first_and_reads_each_back(smbus: Any, bus: I2cBus) -> None:
    smbus.registers[0x02:0x08] = b"\xff\xff\x00\x00\xff\xff"
    run_virtual(Tca9555(bus, 0x20).start(0x7F0F))
    assert smbus.log == [
        ("write", 0x02, b"\x00\x00"),
        ("read", 0x02, 2),
        ("write", 0x04, b"\x00\x00"),
        ("read", 0x04, 2),
        ("write", 0x06, b"\x0f\x7f"),
        ("read", 0x06, 2),
    ]
    assert smbus.addresses == {0x20}


def test_read_takes_both_ports_in_one_transfer(smbus: Any, bus: I2cBus) -> None:
    smbus.registers[0:2] = b"\x34\x12"
    assert run_virtual(Tca9555(bus, 0x20).read()) == 0x1234
    assert smbus.log == [("read", 0x00, 2)]


def test_a_direction_that_does_not_take_is_a_fault(smbus: Any, bus: I2cBus) -> None:
    smbus.registers[0x06:0x08] = b"\xff\xff"
    smbus.ignored.add(0x07)
    with pytest.raises(IcFault, match=r"TCA9555 0x20 on bus 1: register 0x07 reads 0xFF"):
        run_virtual(Tca9555(bus, 0x20).start(0x00FF))


def test_a_short_read_is_a_fault_and_not_sixteen_open_keys(smbus: Any, bus: I2cBus) -> None:
    smbus.missing_bytes = 1
    with pytest.raises(BusFault, match="1 of 2 bytes"):
        run_virtual(Tca9555(bus, 0x20).read())


def test_a_mask_of_more_lines_than_there_are_is_refused(bus: I2cBus) -> None:
    with pytest.raises(ValueError, match="16 lines"):
        run_virtual(Tca9555(bus, 0x20).start(0x10000))
