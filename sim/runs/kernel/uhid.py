"""A HID device that lives in this process: the kernel's side of it is /dev/uhid.

It alone knows that file's events. What the device's reports mean is the device's own business; it
must answer each at once, because the kernel holds the caller meanwhile. It is never destroyed: the
kernel would wait for every open file on what the device provides.
"""

from __future__ import annotations

import asyncio
import errno
import os
import struct
from typing import Protocol

PATH = "/dev/uhid"
EVENT_BYTES = 4 + 4376
DATA_BYTES = 4096
USB_BUS = 3

OUTPUT, GET_REPORT, GET_REPORT_REPLY, CREATE, INPUT = 6, 9, 10, 11, 12
SET_REPORT, SET_REPORT_REPLY = 13, 14


class HidDevice(Protocol):
    """What hangs on the bus: it knows its reports and nothing of the kernel."""

    name: str
    vendor: int
    product: int

    def descriptor(self) -> bytes: ...

    def feature(self, number: int) -> bytes | None:
        """The feature report, its number first; None if there is no such report."""

    def set_feature(self, report: bytes) -> None: ...

    def output(self, report: bytes) -> bytes | None:
        """Takes an output report; the input report that answers it, or None for silence."""


class UhidPort:
    """Plugs one device in and passes the kernel's requests to it."""

    def __init__(self, device: HidDevice) -> None:
        self._device = device
        self._fd = os.open(PATH, os.O_RDWR | os.O_CLOEXEC)
        os.write(self._fd, creation(device))

    def listen(self) -> None:
        """Answers from the running loop from now on."""
        asyncio.get_running_loop().add_reader(self._fd, self._serve)

    def _serve(self) -> None:
        reply = answer(self._device, os.read(self._fd, EVENT_BYTES))
        if reply is not None:
            os.write(self._fd, reply)


def creation(device: HidDevice) -> bytes:
    descriptor = device.descriptor()
    return (
        struct.pack(
            "<I128s64s64sHHIIII",
            CREATE,
            device.name.encode(),
            b"underfelt",
            b"",
            len(descriptor),
            USB_BUS,
            device.vendor,
            device.product,
            0,
            0,
        )
        + descriptor
    )


def answer(device: HidDevice, event: bytes) -> bytes | None:
    """What is to be written back for one event of the kernel, if anything."""
    (kind,) = struct.unpack_from("<I", event)
    if kind == OUTPUT:
        (size,) = struct.unpack_from("<H", event, 4 + DATA_BYTES)
        report = device.output(event[4 : 4 + size])
        return None if report is None else struct.pack("<IH", INPUT, len(report)) + report
    if kind == GET_REPORT:
        request, number = struct.unpack_from("<IB", event, 4)
        return _feature_reply(request, device.feature(number))
    if kind == SET_REPORT:
        request, _, _, size = struct.unpack_from("<IBBH", event, 4)
        device.set_feature(event[12 : 12 + size])
        return struct.pack("<IIH", SET_REPORT_REPLY, request, 0)
    return None


def _feature_reply(request: int, report: bytes | None) -> bytes:
    if report is None:
        return struct.pack("<IIHH", GET_REPORT_REPLY, request, errno.EIO, 0)
    return struct.pack("<IIHH", GET_REPORT_REPLY, request, 0, len(report)) + report
