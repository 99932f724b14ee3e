"""The card-swipe reader: a pseudo-terminal that real pyserial opens, and three test cards.

It knows how track 2 looks on the wire. Bytes are handed to the kernel and waited for until the
kernel has made them readable, so a swipe is complete before virtual time goes on.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios
import tty

SWIPE_BYTES_MAX = 2048  # Well inside the kernel's line buffer, so a write never waits.
ARRIVAL_CHECKS_MAX = 5000
ARRIVAL_CHECK_S = 0.001

ACCOUNTS = {
    "SUPERVISOR": "6012345000000017",
    "EXECUTIVE": "6012345000000025",
    "UNKNOWN": "6012345000000033",
}
DISCRETIONARY = "4912101000000000"


def account_of(name: str) -> str:
    """The account number on one of the three test cards."""
    if name not in ACCOUNTS:
        raise ValueError(f"There is no card called {name}; there are {', '.join(ACCOUNTS)}.")
    return ACCOUNTS[name]


def track2_of(account: str) -> bytes:
    """Start sentinel, account, separator, further digits, end sentinel, check character."""
    body = f";{account}={DISCRETIONARY}?".encode("ascii")
    return body + bytes([check_character(body)])


def check_character(body: bytes) -> int:
    """ISO 7811 LRC: even parity over each data bit, sentinels included, shown as ASCII."""
    parity = 0
    for character in body:
        parity ^= character & 0x0F
    return 0x30 | parity


class CardMachine:
    """One reader. `path` is what the controller opens as its serial port."""

    def __init__(self) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)
        self.swipe_count = 0

    def swipe(self, track2: bytes) -> None:
        """Passes these bytes through the reader; they are readable when this returns."""
        if not 0 < len(track2) <= SWIPE_BYTES_MAX:
            raise ValueError(f"A swipe is 1 to {SWIPE_BYTES_MAX} bytes, not {len(track2)}.")
        wanted = self._readable() + len(track2)
        sent = os.write(self._master, track2)
        if sent != len(track2):
            raise OSError(f"The terminal took {sent} of {len(track2)} bytes of a swipe.")
        self._wait_for(wanted)
        self.swipe_count += 1

    def swipe_card(self, name: str) -> None:
        self.swipe(track2_of(account_of(name)))

    def half_swipe(self, name: str) -> None:
        """The card stopped in the slot: the first half of its track and nothing more."""
        track = track2_of(account_of(name))
        self.swipe(track[: len(track) // 2])

    def garbage(self, count: int = 40) -> None:
        """Bytes no card has: a coin in the slot, a wrong baud rate."""
        self.swipe(bytes((37 * index + 129) & 0xFF for index in range(count)))

    def lose_power(self) -> None:
        """Bytes that nobody has read yet are gone."""
        termios.tcflush(self._slave, termios.TCIOFLUSH)

    def close(self) -> None:
        os.close(self._master)
        os.close(self._slave)

    def _readable(self) -> int:
        answer = fcntl.ioctl(self._slave, termios.FIONREAD, b"\0" * 4)
        return int(struct.unpack("i", answer)[0])

    def _wait_for(self, wanted: int) -> None:
        for _ in range(ARRIVAL_CHECKS_MAX):
            if self._readable() >= wanted:
                return
            # The kernel moves the bytes on a thread of its own; give it the processor.
            select.select([], [], [], ARRIVAL_CHECK_S)
        raise TimeoutError(f"The terminal shows {self._readable()} of {wanted} swiped bytes.")
