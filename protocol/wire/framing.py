"""How one payload is cut out of a byte stream: four bytes of length, big-endian, then the payload.

The length is checked before anything after it is read, so a peer cannot make us wait for or hold
more than one frame. What is inside the payload is not known here.
"""

from __future__ import annotations

from typing import Final

from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.profile import FRAME_MAX_BYTES

HEADER_BYTES: Final = 4


def frame(payload: bytes) -> bytes:
    """The payload with its length in front."""
    _check_length(len(payload))
    return len(payload).to_bytes(HEADER_BYTES, "big") + payload


def payload_length(header: bytes) -> int:
    """The length a frame's first four bytes announce; refused when no frame may be that long."""
    assert len(header) == HEADER_BYTES
    length_bytes = int.from_bytes(header, "big")
    _check_length(length_bytes)
    return length_bytes


def _check_length(length_bytes: int) -> None:
    if length_bytes == 0:
        raise ProtocolError(ErrorCode.MALFORMED, "A frame must not be empty.")
    if length_bytes > FRAME_MAX_BYTES:
        raise ProtocolError(
            ErrorCode.OVERSIZED,
            f"A frame of {length_bytes} bytes; {FRAME_MAX_BYTES} is the most allowed.",
        )
