"""The card-swipe reader: what three test cards put onto its serial line.

It knows how track 2 looks on the wire; the line itself is `serial_line`'s.
"""

from __future__ import annotations

from sim.hardware.serial_line import SerialLine

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


class CardMachine(SerialLine):
    """One reader."""

    def __init__(self) -> None:
        super().__init__()
        self.swipe_count = 0

    def swipe(self, track2: bytes) -> None:
        """Passes these bytes through the reader; they are readable when this returns."""
        self.send(track2)
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
