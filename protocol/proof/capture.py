"""A unit's events in a file: the frames as they went over the wire, one after another.

The first frame is a Hello that says whose journal it is; every other one is an Event. With the
unit's public key such a file can be checked anywhere (`python -m protocol.proof.check_seals`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.framing import HEADER_BYTES, frame, payload_length
from protocol.wire.messages import Event, Hello, Message, decode


def write_capture(file: BinaryIO, hello: Hello, events: Iterable[Event]) -> None:
    file.write(frame(hello.encode()))
    for event in events:
        file.write(frame(event.encode()))


def read_capture(file: BinaryIO) -> tuple[Hello, Iterator[Event]]:
    """Whose events they are, and the events as they are read, one at a time."""
    first = _next(file)
    if not isinstance(first, Hello):
        raise ProtocolError(ErrorCode.UNEXPECTED, "The file does not begin with a hello.")
    return first, _events(file)


def _events(file: BinaryIO) -> Iterator[Event]:
    while (message := _next(file)) is not None:
        if not isinstance(message, Event):
            name = type(message).__name__
            raise ProtocolError(ErrorCode.UNEXPECTED, f"There is a {name} among the events.")
        yield message


def _next(file: BinaryIO) -> Message | None:
    header = file.read(HEADER_BYTES)
    if not header:
        return None
    if len(header) < HEADER_BYTES:
        raise ProtocolError(ErrorCode.CUT_OFF, "The file ends inside a frame.")
    length_bytes = payload_length(header)
    payload = file.read(length_bytes)
    if len(payload) < length_bytes:
        raise ProtocolError(ErrorCode.CUT_OFF, "The file ends inside a frame.")
    return decode(payload)
