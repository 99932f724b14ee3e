"""The digest chain over a unit's events: what makes a fork or an edit visible.

Each digest covers the one before it, the first one the journal's random id. Both ends compute it
with these functions; where the records are stored is not known here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from protocol.wire import profile
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.events import BODY_MAX_BYTES

DIGEST_BYTES: Final = 32
JOURNAL_ID_BYTES: Final = 16

# CBOR's head of an array of five items; the items follow, each in its own only encoding.
_ARRAY_OF_FIVE: Final = b"\x85"
_sha256 = hashlib.sha256
# Tables of a floor count alike, and there are few kinds. By type: 1 and True are not the same.
_known_number = lru_cache(maxsize=4096, typed=True)(profile.number_bytes)


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
    number = profile.number_bytes
    place = previous_digest + _ARRAY_OF_FIVE + _known_number(sequence) + _known_number(kind)
    return _sha256(place + encoded_body + number(monotonic_ms) + number(wall_ms)).digest()


def encode_body(body: Mapping[int, Any]) -> bytes:
    """An event body's only encoding; refused when it would not fit one frame with its event."""
    return profile.encode(dict(body), BODY_MAX_BYTES)


def decode_body(encoded: bytes) -> dict[int, Any]:
    body = profile.decode(encoded, BODY_MAX_BYTES)
    if type(body) is not dict:
        raise ProtocolError(ErrorCode.MALFORMED, "An event body must be a map.")
    return body
