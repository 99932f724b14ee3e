"""A card shuffler on its serial line: it counts deals, tells hands and cards, and can misbehave.

It writes the maps of docs/protocol.md by hand and checks none of them, so that it can also tell
what makes no sense. Damage is done to the bytes on their way. What a unit makes of it is not known
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from protocol.wire import profile, serial_frames
from sim.hardware.serial_line import SerialLine

DEALT, SHOWN = 1, 2


class ShufflerMachine(SerialLine):
    def __init__(self) -> None:
        super().__init__()
        self.deal_number = 0

    def deals(self, hand_count: int, mode: str = "") -> None:
        """The green button: a new deal of so many hands, the dealer's among them."""
        self.deal_number += 1
        self.tell({0: DEALT, 1: self.deal_number, 2: hand_count, 3: mode})

    def shows(self, seat: int, cards: Sequence[str], deals_ago: int = 0) -> None:
        """The cards of one seat's hand, or of the dealer's, which is 0."""
        number = max(1, self.deal_number - deals_ago)
        self.tell({0: SHOWN, 1: number, 2: seat, 3: list(cards)})

    def tell(self, message: dict[int, Any]) -> None:
        self.send(serial_frames.pack(profile.encode(message)))

    def noise(self, count: int = 300) -> None:
        """A bad plug: bytes that were never sent, ends of frames among them."""
        self.send(bytes((73 * index + 11) & 0xFF for index in range(count)))

    def breaks_off(self, hand_count: int) -> None:
        """The first half of a deal's frame and nothing more."""
        frame = self._deal_frame(hand_count)
        self.send(frame[: len(frame) // 2])

    def garbles(self, hand_count: int) -> None:
        """A deal with one bit turned over: its check sum is wrong."""
        frame = bytearray(self._deal_frame(hand_count))
        frame[-3] ^= 0x40
        self.send(bytes(frame))

    def _deal_frame(self, hand_count: int) -> bytes:
        deal = {0: DEALT, 1: self.deal_number + 1, 2: hand_count, 3: ""}
        return serial_frames.pack(profile.encode(deal))
