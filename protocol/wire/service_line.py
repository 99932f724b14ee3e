"""A technician's requests over a serial line: the service page's own, cut into small pieces.

A request is JSON, an answer a line of JSON and then the body; each goes as numbered pieces in the
frames of `serial_frames`. A conversation that misses a piece is damaged as a whole and never
guessed at. What may be asked, and by whom, is the page's business, the same behind both doors.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from protocol.wire.serial_frames import PAYLOAD_MAX_BYTES, pack

# Of a piece: a part of a request or its last one, the same of an answer, and the wish to hear no
# more of one.
ASK, ASK_END, TELL, TELL_END, LEAVE = range(1, 6)
BAUD: Final = 115_200
REQUEST_BYTES_MAX: Final = 4096
_HEADER: Final = struct.Struct("!BHI")
DATA_BYTES_MAX: Final = PAYLOAD_MAX_BYTES - _HEADER.size


class Piece(NamedTuple):
    kind: int
    talk: int
    number: int
    data: bytes

    def packed(self) -> bytes:
        return pack(_HEADER.pack(self.kind, self.talk, self.number) + self.data)


def piece_in(payload: bytes) -> Piece | None:
    """The piece in a frame's payload, or None for what is none of ours."""
    if len(payload) < _HEADER.size:
        return None
    kind, talk, number = _HEADER.unpack_from(payload)
    if not ASK <= kind <= LEAVE:
        return None
    return Piece(kind, talk, number, payload[_HEADER.size :])


def pieces(data: bytes, part: int, end: int, talk: int) -> Iterator[Piece]:
    """A whole message; the last piece, which may be empty, ends it."""
    cuts = range(0, len(data), DATA_BYTES_MAX)
    for number, start in enumerate(cuts):
        yield Piece(part, talk, number, data[start : start + DATA_BYTES_MAX])
    yield Piece(end, talk, len(cuts), b"")


@dataclass
class InOrder:
    """What came of one conversation; a piece that is missing damages all of it."""

    bytes_max: int
    data: bytearray = field(default_factory=bytearray)
    is_damaged: bool = False
    _next: int = 0

    def take(self, piece: Piece) -> None:
        fits = len(self.data) + len(piece.data) <= self.bytes_max
        if piece.number != self._next or not fits:
            self.is_damaged = True
        self._next += 1
        if not self.is_damaged:
            self.data += piece.data


class Request(NamedTuple):
    method: str
    path: str
    cookie: str
    body: str

    def encoded(self) -> bytes:
        return json.dumps(self._asdict()).encode()


def request_in(data: bytes) -> Request | None:
    try:
        found: Any = json.loads(data)
    except ValueError:
        return None
    if not isinstance(found, dict) or set(found) != set(Request._fields):
        return None
    if not all(isinstance(each, str) for each in found.values()):
        return None
    return Request(**found)
