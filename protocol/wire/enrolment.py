"""What a unit without a certificate and a manager say to each other until it has one.

A conversation of its own, over TLS with its own ALPN name and port; the link's messages are not
spoken here and these are not spoken there. Who is granted what is decided by the manager.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from protocol.wire import profile
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import Blob, Bytes, Text, Wire
from protocol.wire.messages import TYPE_KEY, Message
from protocol.wire.rows import IDENTIFIER

CERTIFICATE_MAX_BYTES: Final = 2048
NONCE_BYTES: Final = 16
SEAL_KEY_BYTES: Final = 32
# An approval needs a person at the manager, so the unit waits patiently, and the manager says
# twice a second that it is still there.
PATIENCE_S: Final = 600
STILL_WAITING_EVERY_S: Final = 0.5
SILENCE_MAX_S: Final = 15.0


@dataclass(frozen=True)
class Offer(Message):
    """Manager to unit, first frame: the floor CA's certificate, for the unit to compare."""

    TYPE: ClassVar[int] = 1
    ca_certificate: Annotated[bytes, Wire(1, Blob(CERTIFICATE_MAX_BYTES))]


@dataclass(frozen=True)
class Request(Message):
    """Unit to manager: a one-time code, a signing request, and the key its seals will have."""

    TYPE: ClassVar[int] = 2
    unit_id: Annotated[str, Wire(1, IDENTIFIER)]
    code: Annotated[str, Wire(2, Text(32))]
    signing_request: Annotated[bytes, Wire(3, Blob(CERTIFICATE_MAX_BYTES))]
    seal_key: Annotated[bytes, Wire(4, Bytes((SEAL_KEY_BYTES,)))]

    def content(self) -> bytes:
        """What is asked for, without the code that allows to ask."""
        return profile.encode([self.unit_id, self.signing_request, self.seal_key])


@dataclass(frozen=True)
class Waiting(Message):
    """Manager to unit, repeated: the code is good, a person must approve. Both show the number."""

    TYPE: ClassVar[int] = 3
    nonce: Annotated[bytes, Wire(1, Bytes((NONCE_BYTES,)))]


@dataclass(frozen=True)
class Granted(Message):
    TYPE: ClassVar[int] = 4
    certificate: Annotated[bytes, Wire(1, Blob(CERTIFICATE_MAX_BYTES))]


@dataclass(frozen=True)
class Denied(Message):
    TYPE: ClassVar[int] = 5
    sentence: Annotated[str, Wire(1, Text())]


ENROLMENT_TYPES: Final[Mapping[int, type[Message]]] = {
    each.TYPE: each for each in (Offer, Request, Waiting, Granted, Denied)
}


def decode(payload: bytes) -> Message:
    """The enrolment message in one frame's payload, or a ProtocolError."""
    values = profile.decode(payload)
    if type(values) is not dict or TYPE_KEY not in values:
        raise ProtocolError(ErrorCode.MALFORMED, "A message must be a map with its type as key 0.")
    number = values.pop(TYPE_KEY)
    message_type = ENROLMENT_TYPES.get(number) if type(number) is int else None
    if message_type is None:
        raise ProtocolError(
            ErrorCode.UNKNOWN_TYPE, f"There is no enrolment message of type {number!r:.40}."
        )
    return message_type.from_map(values)


def match_number(nonce: bytes, ca_certificate: bytes, content: bytes) -> str:
    """Six digits that both ends show and a person compares.

    The manager draws the nonce after it has the request, so nobody can search for another request
    with the same digits.
    """
    covered = b"".join((b"underfelt enrolment 1", nonce, ca_certificate, content))
    number = int.from_bytes(hashlib.sha256(covered).digest()[:8], "big") % 1_000_000
    return f"{number:06d}"
