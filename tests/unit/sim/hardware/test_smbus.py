"""Every call of smbus2 on a simulated bus, against an IC that only remembers bytes."""

from __future__ import annotations

import errno
import inspect
from collections.abc import Callable

import pytest
import smbus2

from sim.hardware.i2c import SimI2c
from sim.hardware.ics.base import Ic
from sim.hardware.smbus import SimSMBus

ADDRESS = 0x2A


class Memory(Ic):
    """Bytes on the wire as they came, and an answer that is given from its start."""

    def __init__(self) -> None:
        super().__init__(ADDRESS)
        self.heard: list[bytes] = []
        self.answer = b""

    def write(self, data: bytes) -> bool:
        self.heard.append(data)
        return True

    def read(self, count: int) -> bytes:
        return (self.answer + b"\xff" * count)[:count]


# What is called, what the IC answers, what it hears, what comes back.
CALLS: dict[str, tuple[Callable[[SimSMBus], object], bytes, list[bytes], object]] = {
    "write_quick": (lambda bus: bus.write_quick(ADDRESS), b"", [b""], None),
    "read_byte": (lambda bus: bus.read_byte(ADDRESS), b"\x12", [], 0x12),
    "write_byte": (lambda bus: bus.write_byte(ADDRESS, 0x34), b"", [b"\x34"], None),
    "read_byte_data": (lambda bus: bus.read_byte_data(ADDRESS, 7), b"\x56", [b"\x07"], 0x56),
    "write_byte_data": (lambda bus: bus.write_byte_data(ADDRESS, 7, 8), b"", [b"\x07\x08"], None),
    "read_word_data": (
        lambda bus: bus.read_word_data(ADDRESS, 7),
        b"\x34\x12",
        [b"\x07"],
        0x1234,
    ),
    "write_word_data": (
        lambda bus: bus.write_word_data(ADDRESS, 7, 0x1234),
        b"",
        [b"\x07\x34\x12"],
        None,
    ),
    "process_call": (
        lambda bus: bus.process_call(ADDRESS, 7, 0x1234),
        b"\x78\x56",
        [b"\x07\x34\x12"],
        0x5678,
    ),
    "read_block_data": (
        lambda bus: bus.read_block_data(ADDRESS, 7),
        b"\x03abc",
        [b"\x07"],
        [*b"abc"],
    ),
    "write_block_data": (
        lambda bus: bus.write_block_data(ADDRESS, 7, [*b"abc"]),
        b"",
        [b"\x07\x03abc"],
        None,
    ),
    "block_process_call": (
        lambda bus: bus.block_process_call(ADDRESS, 7, [*b"ab"]),
        b"\x01z",
        [b"\x07\x02ab"],
        [*b"z"],
    ),
    "read_i2c_block_data": (
        lambda bus: bus.read_i2c_block_data(ADDRESS, 7, 2),
        b"xy",
        [b"\x07"],
        [*b"xy"],
    ),
    "write_i2c_block_data": (
        lambda bus: bus.write_i2c_block_data(ADDRESS, 7, [*b"xy"]),
        b"",
        [b"\x07xy"],
        None,
    ),
    "i2c_rdwr": (
        lambda bus: bus.i2c_rdwr(smbus2.i2c_msg.write(ADDRESS, [1, 2])),
        b"",
        [b"\x01\x02"],
        None,
    ),
}


def new_bus() -> tuple[SimSMBus, Memory]:
    bus, ic = SimI2c(1, 400_000, now_ns=lambda: 0), Memory()
    bus.attach(ic)
    return SimSMBus(bus), ic


@pytest.mark.parametrize("name", CALLS)
def test_the_bytes_of_each_call(name: str) -> None:
    call, answer, heard, result = CALLS[name]
    bus, ic = new_bus()
    ic.answer = answer
    assert call(bus) == result
    assert ic.heard == heard


def test_there_is_no_call_of_smbus2_that_a_driver_would_miss() -> None:
    """Catches: a call that smbus2 has and the simulated bus has not, or with other arguments."""
    for name, call in inspect.getmembers(smbus2.SMBus, callable):
        if name.startswith("_"):
            continue
        ours = inspect.signature(getattr(SimSMBus, name))
        assert list(ours.parameters) == list(inspect.signature(call).parameters), name
        assert name in CALLS or name in ("open", "close", "enable_pec")


@pytest.mark.parametrize("name", CALLS)
def test_an_address_without_an_ic_is_an_error_in_each_call(name: str) -> None:
    bus = SimSMBus(SimI2c(1, 400_000, now_ns=lambda: 0))
    with pytest.raises(OSError, match="no answer from 0x2a") as failed:
        CALLS[name][0](bus)
    assert failed.value.errno == errno.EREMOTEIO


def test_a_block_that_announces_more_than_there_can_be_is_refused() -> None:
    bus, ic = new_bus()
    ic.answer = b"\x21"
    with pytest.raises(OSError, match="33 bytes announced") as failed:
        bus.read_block_data(ADDRESS, 7)
    assert failed.value.errno == errno.EPROTO


def test_too_long_a_block_is_refused_as_smbus2_does() -> None:
    bus, _ = new_bus()
    for call in (bus.write_block_data, bus.write_i2c_block_data, bus.block_process_call):
        with pytest.raises(ValueError, match="cannot exceed 32 bytes"):
            call(ADDRESS, 7, [0] * 33)


def test_a_closed_bus_answers_nothing_and_can_be_opened_again() -> None:
    bus, _ = new_bus()
    with bus:
        assert bus.fd is not None
    assert bus.fd is None
    with pytest.raises(OSError, match="was closed"):
        bus.write_quick(ADDRESS)
    bus.open(1)
    bus.write_quick(ADDRESS)


def test_what_smbus2_refuses_on_such_an_adapter_is_refused() -> None:
    bus, _ = new_bus()
    assert smbus2.I2cFunc.SMBUS_PEC not in bus.funcs
    with pytest.raises(OSError, match="SMBUS_PEC is not a feature"):
        bus.enable_pec()
    assert bus.pec == 0
    with pytest.raises(OSError, match="SMBUS_PEC is not a feature"):
        bus.pec = True
