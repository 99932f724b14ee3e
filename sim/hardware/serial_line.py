"""A serial line that real pyserial opens: a pseudo-terminal under a name that outlives a replug.

Bytes are handed to the kernel and waited for until the kernel has made them readable, so what was
sent is complete before virtual time goes on. What the bytes mean is the device's business.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import tempfile
import termios
import tty
from pathlib import Path
from typing import ClassVar

SEND_BYTES_MAX = 2048  # Well inside the kernel's line buffer, so a write never waits.
ARRIVAL_CHECKS_MAX = 5000
ARRIVAL_CHECK_S = 0.001


class SerialLine:
    """`path` is what the controller opens as its serial port."""

    change_count: ClassVar[int] = 0  # how often anything was done to any line of this process

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="underfelt-serial-")
        self.path = str(Path(self._folder.name) / "line")
        self._ends: tuple[int, int] | None = None
        self.plug()

    def plug(self) -> None:
        SerialLine.change_count += 1
        if self._ends is None:
            self._ends = os.openpty()
            tty.setraw(self._ends[1])
            os.symlink(os.ttyname(self._ends[1]), self.path)

    def unplug(self) -> None:
        """Whoever has it open reads an error from now on, and nobody can open it."""
        SerialLine.change_count += 1
        if self._ends is not None:
            os.unlink(self.path)
            for end in self._ends:
                os.close(end)
            self._ends = None

    def send(self, data: bytes) -> None:
        """These bytes are readable when this returns; into an unplugged line they are lost."""
        if not 0 < len(data) <= SEND_BYTES_MAX:
            raise ValueError(f"A line takes 1 to {SEND_BYTES_MAX} bytes at once, not {len(data)}.")
        if self._ends is None:
            return
        SerialLine.change_count += 1
        wanted = self._readable() + len(data)
        sent = os.write(self._ends[0], data)
        if sent != len(data):
            raise OSError(f"The terminal took {sent} of {len(data)} bytes.")
        self._wait_for(wanted)

    def lose_power(self) -> None:
        """Bytes that nobody has read yet are gone."""
        SerialLine.change_count += 1
        if self._ends is not None:
            termios.tcflush(self._ends[1], termios.TCIOFLUSH)

    def close(self) -> None:
        self.unplug()
        self._folder.cleanup()

    def _readable(self) -> int:
        assert self._ends is not None
        answer = fcntl.ioctl(self._ends[1], termios.FIONREAD, b"\0" * 4)
        return int(struct.unpack("i", answer)[0])

    def _wait_for(self, wanted: int) -> None:
        for _ in range(ARRIVAL_CHECKS_MAX):
            if self._readable() >= wanted:
                return
            # The kernel moves the bytes on a thread of its own; give it the processor.
            select.select([], [], [], ARRIVAL_CHECK_S)
        raise TimeoutError(f"The terminal shows {self._readable()} of {wanted} bytes.")
