"""The digest chain over a unit's events: what makes a fork or an edit visible.

Each digest covers the one before it, the first one the journal's random id. Both ends compute it
with these functions; where the records are stored is not known here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from struct import Struct
from typing import Any, Final

from protocol.wire import profile
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.events import BODY_MAX_BYTES

DIGEST_BYTES: Final = 32
JOURNAL_ID_BYTES: Final = 16

# CBOR's head of an array of five items; the items follow, each in its own only encoding.
_ARRAY_OF_FIVE: Final = b"\x85"
# A number below this is its own head; others follow their head, in as few bytes as hold them.
_IN_THE_HEAD: Final = 24
_IN_ONE: Final = Struct(">BB").pack
_IN_TWO: Final = Struct(">BH").pack
_IN_FOUR: Final = Struct(">BI").pack
_IN_EIGHT: Final = Struct(">BQ").pack


def first_digest(journal_id: bytes) -> bytes:
    """What stands before the first event: the journal id, padded with zeros."""
    if len(journal_id) != JOURNAL_ID_BYTES:
        raise ProtocolError(
            ErrorCode.BAD_FIELD, f"A journal id must be {JOURNAL_ID_BYTES} bytes long."
        )
    return journal_id.ljust(DIGEST_BYTES, b"\0")


def event_digest(
    previous_digest: bytes,
    sequence: int,
    kind: int,
    body: Mapping[int, Any],
    monotonic_ms: int,
    wall_ms: int,
) -> bytes:
    """SHA-256 over the previous digest and the event's only encoding."""
    encoded_body = encode_body(body)
    return encoded_event_digest(
        previous_digest, sequence, kind, encoded_body, monotonic_ms, wall_ms
    )


def encoded_event_digest(
    previous_digest: bytes,
    sequence: int,
    kind: int,
    encoded_body: bytes,
    monotonic_ms: int,
    wall_ms: int,
) -> bytes:
    """The same for a body in its stored encoding: no need to decode it just to check the chain."""
    if len(previous_digest) != DIGEST_BYTES:
        raise ProtocolError(ErrorCode.BAD_FIELD, f"A digest must be {DIGEST_BYTES} bytes long.")
    covered = b"".join(
        (
            previous_digest,
            _ARRAY_OF_FIVE,
            _number_bytes(sequence),
            _number_bytes(kind),
            encoded_body,
            _number_bytes(monotonic_ms),
            _number_bytes(wall_ms),
        )
    )
    return hashlib.sha256(covered).digest()


def _number_bytes(value: int) -> bytes:
    """A number's only encoding. Written out, because an audit needs four for every event."""
    if type(value) is not int or not 0 <= value <= profile.INT64_MAX:
        return profile.encode(value)  # which refuses it, or knows how
    if value < _IN_THE_HEAD:
        return bytes((value,))
    if value < 1 << 8:
        return _IN_ONE(0x18, value)
    if value < 1 << 16:
        return _IN_TWO(0x19, value)
    if value < 1 << 32:
        return _IN_FOUR(0x1A, value)
    return _IN_EIGHT(0x1B, value)


def encode_body(body: Mapping[int, Any]) -> bytes:
    """An event body's only encoding; refused when it would not fit one frame with its event."""
    return profile.encode(dict(body), BODY_MAX_BYTES)


def decode_body(encoded: bytes) -> dict[int, Any]:
    body = profile.decode(encoded, BODY_MAX_BYTES)
    if type(body) is not dict:
        raise ProtocolError(ErrorCode.MALFORMED, "An event body must be a map.")
    return body
