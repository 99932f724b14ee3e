"""The bridge as the kernel's driver sees it: reports in, reports out, over a real bus model."""

from __future__ import annotations

import errno
import struct

import pytest

from sim.hardware.i2c import SimI2c
from sim.hardware.ics.mpr121 import Mpr121
from sim.hardware.ics.pca9685 import Pca9685
from sim.runs.kernel import cp2112, uhid
from sim.runs.kernel.cp2112 import PORT, Cp2112, messages_of

SENSE, LIGHTS = 0x5A, 0x40
STATUS_REQUEST = bytes((0x15, 0x01))
NACK, ARBITRATION, INCOMPLETE = (3, 0), (3, 2), (3, 3)


class Bench:
    """A bridge with two ICs on its bus, spoken to as the driver does."""

    def __init__(self) -> None:
        self.bus = SimI2c(1, 100_000, lambda: 0, PORT)
        self.bus.attach(Mpr121(SENSE))
        self.bus.attach(Pca9685(LIGHTS))
        self.wires = 0b1010_0101
        self.driven: dict[int, int | None] = {}
        self.bridge = Cp2112(
            "bench", self.bus.transfer, lambda: self.wires, self.driven.__setitem__
        )

    def status(self) -> tuple[int, int, int] | None:
        answer = self.bridge.output(STATUS_REQUEST)
        if answer is None:
            return None
        assert len(answer) == 64
        report, kind, reason, _retries, length = struct.unpack_from(">BBBHH", answer)
        assert report == 0x16
        return kind, reason, length

    def write(self, address: int, data: bytes) -> None:
        assert self.bridge.output(bytes((0x14, address << 1, len(data))) + data) is None

    def ask(self, address: int, register: int, count: int) -> None:
        request = struct.pack(">BBHBB", 0x11, address << 1, count, 1, register)
        assert self.bridge.output(request) is None

    def fetch(self, count: int) -> bytes:
        """As the driver does: as many answers as it takes, 61 bytes at most in each."""
        received = b""
        while len(received) < count:
            answer = self.bridge.output(struct.pack(">BH", 0x12, count - len(received)))
            assert answer is not None
            assert len(answer) == 64
            assert answer[0] == 0x13
            assert answer[2] > 0
            received += answer[3 : 3 + answer[2]]
        return received


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_register_is_read_with_a_repeated_start(bench: Bench) -> None:
    bench.ask(SENSE, 0x5D, 1)
    assert bench.status() == (2, 5, 1)
    assert bench.fetch(1) == b"\x24"
    assert bench.bus.transfer_count == 1


def test_what_is_written_is_there(bench: Bench) -> None:
    bench.write(SENSE, bytes((0x41, 12, 6)))
    assert bench.status() == (2, 5, 3)
    bench.ask(SENSE, 0x41, 2)
    assert bench.fetch(2) == bytes((12, 6))


def test_a_read_alone_goes_on_at_the_pointer(bench: Bench) -> None:
    bench.write(SENSE, bytes((0x5D,)))
    assert bench.bridge.output(struct.pack(">BBH", 0x10, SENSE << 1, 2)) is None
    assert bench.fetch(2) == b"\x24\x00"


def test_a_long_read_comes_in_pieces(bench: Bench) -> None:
    bench.write(LIGHTS, bytes((0x00, 0x30)))
    bench.ask(LIGHTS, 0x06, 64)
    assert bench.status() == (2, 5, 64)
    assert bench.fetch(64) == b"\x00\x00\x00\x10" * 16


def test_nobody_at_the_address_is_an_unanswered_transfer(bench: Bench) -> None:
    bench.ask(0x33, 0, 1)
    assert bench.status() == (*NACK, 0)
    bench.ask(SENSE, 0x5D, 1)
    assert bench.status() == (2, 5, 1)


def test_lost_arbitration_and_a_short_read_are_told_apart_from_no_answer(bench: Bench) -> None:
    bench.bus.faults.lose_arbitration()
    bench.ask(SENSE, 0x5D, 1)
    assert bench.status() == (*ARBITRATION, 0)
    bench.bus.faults.short_read(SENSE)
    bench.ask(SENSE, 0x5D, 2)
    assert bench.status() == (*INCOMPLETE, 0)


def test_a_held_bus_makes_the_bridge_fall_silent_until_it_is_free(bench: Bench) -> None:
    bench.bus.faults.hold_data_line()
    bench.ask(SENSE, 0x5D, 1)
    assert bench.status() is None
    bench.bus.faults.release_data_line()
    assert bench.status() is None
    bench.ask(SENSE, 0x5D, 1)
    assert bench.status() == (2, 5, 1)


def test_a_failure_no_bridge_knows_is_not_hidden() -> None:
    def broken(_: object) -> list[bytes]:
        raise OSError(errno.ENOSPC, "no such thing on a bus")

    bridge = Cp2112("broken", broken, lambda: 0xFF)
    with pytest.raises(ValueError, match="in a way no bridge knows"):
        bridge.output(struct.pack(">BBHBB", 0x11, SENSE << 1, 1, 1, 0))


def test_inputs_follow_the_wires_and_outputs_their_latches(bench: Bench) -> None:
    assert bench.bridge.feature(0x03) == bytes((0x03, 0b1010_0101))
    bench.bridge.set_feature(bytes((0x02, 0b0000_1111, 0xFF, 0, 0)))
    bench.bridge.set_feature(bytes((0x04, 0xFF, 0b0000_0010)))
    assert bench.bridge.feature(0x03) == bytes((0x03, 0b1010_0010))
    assert bench.bridge.feature(0x02) == bytes((0x02, 0b0000_1111, 0xFF, 0, 0))
    bench.wires = 0b0101_0000
    assert bench.bridge.feature(0x03) == bytes((0x03, 0b0101_0010))


def test_the_wires_hear_what_the_host_drives_and_when_it_lets_go(bench: Bench) -> None:
    bench.bridge.set_feature(bytes((0x02, 0b0000_1100, 0xFF, 0, 0)))
    bench.bridge.set_feature(bytes((0x04, 0xFF, 0b0000_1000)))
    assert bench.driven == {n: {2: 0, 3: 1}.get(n) for n in range(8)}
    bench.bridge.set_feature(bytes((0x02, 0b0000_0100, 0xFF, 0, 0)))
    assert bench.driven == {n: {2: 0}.get(n) for n in range(8)}


def test_the_driver_finds_a_bridge_that_can_repeat_starts(bench: Bench) -> None:
    assert bench.bridge.feature(0x05) == bytes((0x05, 0x0C, 2))
    config = bench.bridge.feature(0x06)
    assert config is not None
    assert len(config) == 14
    bench.bridge.set_feature(config[:-1] + b"\x01")
    assert bench.bridge.feature(0x06) == config[:-1] + b"\x01"
    assert bench.bridge.feature(0x7E) is None


def test_every_report_is_declared_once(bench: Bench) -> None:
    descriptor = bench.bridge.descriptor()
    body = descriptor[14:-1]
    assert len(body) % 8 == 0
    numbers = [body[at + 1] for at in range(0, len(body), 8)]
    assert sorted(numbers) == sorted(set(cp2112.FEATURES + cp2112.OUTPUTS + cp2112.INPUTS))


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (bytes((0x14, 0xB4, 2, 1, 2, 9)), [(0x5A, b"\x01\x02", None)]),
        (bytes((0x10, 0xB4, 1, 4)), [(0x5A, b"", 260)]),
        (bytes((0x11, 0x80, 0, 3, 2, 7, 8)), [(0x40, b"\x07\x08", None), (0x40, b"", 3)]),
    ],
)
def test_requests_become_transfers(
    report: bytes, expected: list[tuple[int, bytes, int | None]]
) -> None:
    found = [(each.address, each.data, each.read_count) for each in messages_of(report)]
    assert found == expected


# -- the kernel's side -----------------------------------------------------------------------


def output_event(report: bytes) -> bytes:
    return struct.pack("<I4096sHB", uhid.OUTPUT, report, len(report), 1)


def test_an_output_report_is_answered_as_input(bench: Bench) -> None:
    request = struct.pack(">BBHBB", 0x11, SENSE << 1, 1, 1, 0x5D)
    assert uhid.answer(bench.bridge, output_event(request)) is None
    reply = uhid.answer(bench.bridge, output_event(STATUS_REQUEST))
    assert reply is not None
    assert struct.unpack_from("<IH", reply) == (uhid.INPUT, 64)
    assert reply[6:9] == bytes((0x16, 2, 5))


def test_a_feature_report_carries_the_kernels_request_number(bench: Bench) -> None:
    event = struct.pack("<IIBB", uhid.GET_REPORT, 77, 0x03, 0)
    reply = uhid.answer(bench.bridge, event)
    assert reply == struct.pack("<IIHH", uhid.GET_REPORT_REPLY, 77, 0, 2) + bytes((3, 0b1010_0101))
    refusal = uhid.answer(bench.bridge, struct.pack("<IIBB", uhid.GET_REPORT, 78, 0x7E, 0))
    assert refusal == struct.pack("<IIHH", uhid.GET_REPORT_REPLY, 78, errno.EIO, 0)


def test_a_feature_report_that_is_set_is_acknowledged(bench: Bench) -> None:
    report = bytes((0x02, 0xF0, 0xFF, 0, 0))
    event = struct.pack("<IIBBH", uhid.SET_REPORT, 79, 2, 0, len(report)) + report + bytes(100)
    assert uhid.answer(bench.bridge, event) == struct.pack("<IIH", uhid.SET_REPORT_REPLY, 79, 0)
    assert bench.bridge.feature(0x02) == report


def test_other_events_need_no_answer(bench: Bench) -> None:
    assert uhid.answer(bench.bridge, struct.pack("<IQ", 2, 0)) is None
