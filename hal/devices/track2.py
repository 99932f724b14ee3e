"""Track 2 of a magnetic card as its reader types it: `;account=more?` and a check character.

Bytes go in, finished swipes come out; anything else comes out as one bad swipe, never as an
exception. It does not know ports or time: whoever feeds it also tells it when the bytes stopped.
The account is a secret and never appears in a reason or a representation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import reduce
from operator import xor

TRACK_CHARACTERS_MAX = 40
START = ord(";")
END = ord("?")
LINE_ENDS = b"\r\n"
TRACK = re.compile(rb";([0-9]{1,19})=[0-9]*\?")
TRACK_CHARACTERS = frozenset(b"0123456789=?")

HALF_READ = "the card was only half read"
UNREADABLE = "the card could not be read"
TOO_LONG = "the card holds too much"
WRONG_CHECK = "the card's check character is wrong"


@dataclass(frozen=True, slots=True)
class Swipe:
    account: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class BadSwipe:
    reason: str


class Track2Parser:
    """Feed it bytes; call `gap` when the reader has been silent for a while."""

    def __init__(self) -> None:
        self._track = bytearray()
        # After something unreadable the rest of the same card is dropped, so that it counts once.
        self._dropping = False

    @property
    def expects_more(self) -> bool:
        """A card has begun and has not ended."""
        return self._dropping or bool(self._track)

    @property
    def is_complete(self) -> bool:
        """Only the check character may still come, and not every reader sends it."""
        return self._track[-1:] == b"?"

    def feed(self, data: bytes) -> list[Swipe | BadSwipe]:
        results = [self._feed_one(byte) for byte in data]
        return [result for result in results if result is not None]

    def gap(self) -> Swipe | BadSwipe | None:
        """The reader fell silent: a complete card counts, a half one is bad."""
        if self.is_complete:
            return self._finish()
        half_read = bool(self._track)
        self.reset()
        return BadSwipe(HALF_READ) if half_read else None

    def reset(self) -> None:
        self._track.clear()
        self._dropping = False

    def _feed_one(self, byte: int) -> Swipe | BadSwipe | None:
        if self.is_complete:
            return self._finish(None if byte in LINE_ENDS else byte)
        if byte == START:
            return self._begin()
        if byte in LINE_ENDS:
            return self.gap()
        if self._dropping:
            return None
        return self._append(byte)

    def _begin(self) -> BadSwipe | None:
        half_read = bool(self._track)
        self.reset()
        self._track.append(START)
        return BadSwipe(HALF_READ) if half_read else None

    def _append(self, byte: int) -> BadSwipe | None:
        if not self._track or byte not in TRACK_CHARACTERS:
            return self._drop(UNREADABLE)
        if len(self._track) >= TRACK_CHARACTERS_MAX:
            return self._drop(TOO_LONG)
        self._track.append(byte)
        return None

    def _drop(self, reason: str) -> BadSwipe:
        self._track.clear()
        self._dropping = True
        return BadSwipe(reason)

    def _finish(self, check: int | None = None) -> Swipe | BadSwipe:
        track = bytes(self._track)
        self.reset()
        if check is not None and check not in _check_characters(track):
            return BadSwipe(WRONG_CHECK)
        found = TRACK.fullmatch(track)
        return Swipe(found.group(1).decode("ascii")) if found else BadSwipe(UNREADABLE)


def _check_characters(track: bytes) -> tuple[int, int]:
    """The exclusive or of the characters as sent, or of their four track bits made printable."""
    plain = reduce(xor, track)
    return plain, 0x30 | plain & 0x0F
