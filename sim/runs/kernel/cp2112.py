"""A CP2112 bridge as its reports: one I2C port and eight lines, over a bus of IC models.

It alone knows the report numbers and how each misfortune on the bus looks to the kernel's driver.
A bus that is held makes the bridge fall silent, as a device does that hangs; everything else it
reports at once. How a report reaches it, and which ICs hang on the bus, others know.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable, Sequence

from sim.hardware.i2c import Adapter, Message

GPIO_CONFIG, GPIO_GET, GPIO_SET, VERSION, SMBUS_CONFIG = 0x02, 0x03, 0x04, 0x05, 0x06
READ, WRITE_READ, READ_SEND, READ_DATA, WRITE = 0x10, 0x11, 0x12, 0x13, 0x14
STATUS_REQUEST, STATUS, CANCEL = 0x15, 0x16, 0x17
LOCK_BYTE, USB_CONFIG = 0x20, 0x21
STRINGS = (0x22, 0x23, 0x24)

FEATURES = (GPIO_CONFIG, GPIO_GET, GPIO_SET, VERSION, SMBUS_CONFIG, LOCK_BYTE, USB_CONFIG, *STRINGS)
OUTPUTS = (READ, WRITE_READ, READ_SEND, WRITE, STATUS_REQUEST, CANCEL)
INPUTS = (READ_DATA, STATUS)

COMPLETE, FAILED, IDLE = 2, 3, 0
NO_ANSWER, ARBITRATION_LOST, READ_INCOMPLETE, SUCCESS = 0, 2, 3, 5

LINE_COUNT = 8
REPORT_BYTES = 64
READ_BYTES_MAX = 61
PART_NUMBER, WITH_REPEATED_START = 0x0C, 2
BUS_100_KHZ = struct.pack(">BIBBHHBH", SMBUS_CONFIG, 100_000, 2, 0, 0, 0, 0, 0)

# One number for each misfortune, so that none is mistaken for another before the driver sees it.
PORT = Adapter(
    "cp2112", errno.EREMOTEIO, errno.ETIMEDOUT, errno.EAGAIN, errno.EIO, read_must_be_last=False
)
REASONS = {
    PORT.nack: NO_ANSWER,
    PORT.arbitration: ARBITRATION_LOST,
    PORT.incomplete: READ_INCOMPLETE,
}

Transfer = Callable[[Sequence[Message]], list[bytes]]


class Cp2112:
    """`transfer` is the bus; `wires` gives the levels of lines 0 to 7 as one byte.

    `drive` hears what the host puts on a line: 0, 1, or None when it lets go.
    """

    vendor, product = 0x10C4, 0xEA90

    def __init__(
        self,
        name: str,
        transfer: Transfer,
        wires: Callable[[], int],
        drive: Callable[[int, int | None], None] = lambda line, level: None,
    ) -> None:
        self.name = name
        self._transfer = transfer
        self._wires = wires
        self._drive = drive
        self._outputs = 0  # Lines that the host drives.
        self._latches = 0
        self._config = BUS_100_KHZ
        self._status: tuple[int, int, int] | None = (IDLE, 0, 0)
        self._received = b""

    def descriptor(self) -> bytes:
        """Vendor-defined reports of 63 bytes each, after their number."""
        head = bytes.fromhex("0600ff 0901 a101 1500 26ff00 7508")
        kinds = [(0xB1, FEATURES), (0x91, OUTPUTS), (0x81, INPUTS)]
        items = b"".join(
            bytes((0x85, number, 0x95, REPORT_BYTES - 1, 0x09, 0x01, kind, 0x02))
            for kind, numbers in kinds
            for number in numbers
        )
        return head + items + b"\xc0"

    # -- lines -------------------------------------------------------------------------------

    def feature(self, number: int) -> bytes | None:
        reports = {
            GPIO_CONFIG: lambda: bytes((GPIO_CONFIG, self._outputs, 0xFF, 0, 0)),
            GPIO_GET: lambda: bytes((GPIO_GET, self._levels())),
            VERSION: lambda: bytes((VERSION, PART_NUMBER, WITH_REPEATED_START)),
            SMBUS_CONFIG: lambda: self._config,
            LOCK_BYTE: lambda: bytes((LOCK_BYTE, 0)),
            USB_CONFIG: lambda: struct.pack("<BHHBBBBB", USB_CONFIG, 0x10C4, 0xEA90, 0, 0, 1, 0, 0),
        }
        return reports[number]() if number in reports else None

    def set_feature(self, report: bytes) -> None:
        number = report[0]
        if number == GPIO_CONFIG:
            self._outputs = report[1]
            self._tell_driven()
        elif number == GPIO_SET:
            values, mask = report[1], report[2]
            self._latches = self._latches & ~mask | values & mask
            self._tell_driven()
        elif number == SMBUS_CONFIG:
            self._config = bytes(report)

    def _tell_driven(self) -> None:
        for line in range(LINE_COUNT):
            is_output = self._outputs >> line & 1
            self._drive(line, self._latches >> line & 1 if is_output else None)

    def _levels(self) -> int:
        return self._latches & self._outputs | self._wires() & ~self._outputs & 0xFF

    # -- the bus -----------------------------------------------------------------------------

    def output(self, report: bytes) -> bytes | None:
        number = report[0]
        if number == STATUS_REQUEST:
            return self._tell_status()
        if number == READ_SEND:
            return self._send_received(struct.unpack_from(">H", report, 1)[0])
        if number in (READ, WRITE_READ, WRITE):
            self._run(messages_of(report))
        return None

    def _run(self, messages: list[Message]) -> None:
        self._received = b""
        try:
            answers = self._transfer(messages)
        except OSError as error:
            self._status = self._failure(error.errno)
            return
        wanted = messages[-1].read_count or 0
        self._received = answers[-1]
        if len(self._received) < wanted:
            self._status = self._failure(PORT.incomplete)
        else:
            self._status = (COMPLETE, SUCCESS, wanted or len(messages[0].data))

    def _failure(self, number: int | None) -> tuple[int, int, int] | None:
        if number == PORT.stuck:
            return None
        if number not in REASONS:
            raise ValueError(f"The bus failed in a way no bridge knows: errno {number}.")
        return (FAILED, REASONS[number], 0)

    def _tell_status(self) -> bytes | None:
        if self._status is None:
            return None
        kind, reason, length = self._status
        return _padded(struct.pack(">BBBHH", STATUS, kind, reason, 0, length))

    def _send_received(self, wanted: int) -> bytes:
        count = min(wanted, READ_BYTES_MAX)
        sent, self._received = self._received[:count], self._received[count:]
        return _padded(bytes((READ_DATA, COMPLETE, len(sent))) + sent)


def messages_of(report: bytes) -> list[Message]:
    """The transfer that a request asks for."""
    number, address = report[0], report[1] >> 1
    if number == WRITE:
        return [Message(address, report[3 : 3 + report[2]])]
    (count,) = struct.unpack_from(">H", report, 2)
    if number == READ:
        return [Message(address, read_count=count)]
    return [Message(address, report[5 : 5 + report[4]]), Message(address, read_count=count)]


def _padded(report: bytes) -> bytes:
    return report.ljust(REPORT_BYTES, b"\0")
