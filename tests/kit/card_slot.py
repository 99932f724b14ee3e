"""A card reader's end of its cable: a real pseudo-terminal that a test swipes bytes into.

Bytes are waited for until the kernel has moved them, so that virtual time does not run ahead.
"""

from __future__ import annotations

import fcntl
import os
import struct
import termios
import tty
from pathlib import Path

CARD = b";6012345000000017=4912101?"
ACCOUNT = "6012345000000017"
CHECKS_MAX = 1_000_000


class Slot:
    """The reader's side of the cable, found under a name that outlives it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._master = self._slave = -1
        self.plug()

    def plug(self) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.path.symlink_to(os.ttyname(self._slave))

    def unplug(self) -> None:
        if self._master >= 0:
            self.path.unlink()
            os.close(self._slave)
            os.close(self._master)
            self._master = self._slave = -1

    def swipe(self, data: bytes) -> None:
        wanted = self._readable() + len(data)
        os.write(self._master, data)
        for _ in range(CHECKS_MAX):
            if self._readable() == wanted:
                return
            os.sched_yield()
        raise AssertionError("The kernel did not move the bytes.")

    def _readable(self) -> int:
        answer = fcntl.ioctl(self._slave, termios.FIONREAD, b"\0" * 4)
        return int(struct.unpack("i", answer)[0])
