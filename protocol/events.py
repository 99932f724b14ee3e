"""The kinds of journal event and what each one's body holds.

An event is a fact the unit made durable before it acted on it. This module checks that a body is
well formed; whether the fact makes sense in the round is for the controller and the manager.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Self

from protocol.errors import ErrorCode, ProtocolError
from protocol.fields import Bool, Bytes, Text, Uint, Wire
from protocol.record import Record
from protocol.rows import (
    AWARD_LINES,
    CENTS,
    CLAIMED_HANDS,
    COUNTERS,
    DIGEST,
    ENVY_LINES,
    HAND_ID_OR_NONE,
    JOINED_SEATS,
    ROLE,
    SENSOR,
    SENSORS,
    SEQUENCE,
    AwardLine,
    ClaimedHand,
    Counters,
    EnvyLine,
)

BOOT: Final = 1
ROUND_START: Final = 2
LATE_CHANGE: Final = 3
HAND: Final = 4
CLAIM: Final = 5
AWARDED: Final = 6
CANCEL: Final = 7
COMMIT: Final = 8
SETTLED: Final = 9
ROUND_END: Final = 10
FAULT: Final = 11
CONFIG: Final = 12
REFUSED: Final = 13
SEAL: Final = 14  # from 1.1
SERVICE: Final = 15  # from 1.1
RESTORED: Final = 16  # from 1.1

METHOD_DEALER: Final = 1
METHOD_CARD: Final = 2
METHOD_KEY: Final = 3

# An event with the largest body still fits one frame together with its own fields.
BODY_MAX_BYTES: Final = 3840


@dataclass(frozen=True)
class EventBody(Record):
    """The body of one kind of event."""

    KIND: ClassVar[int] = 0

    def to_body(self) -> dict[int, Any]:
        return self.to_map()

    @classmethod
    def from_body(cls, body: Mapping[int, Any]) -> Self:
        return cls.from_map(body)


@dataclass(frozen=True)
class Boot(EventBody):
    KIND: ClassVar[int] = BOOT
    boot_number: Annotated[int, Wire(1, Uint())]
    software: Annotated[str, Wire(2, Text(64))]
    key_position: Annotated[str, Wire(3, Text(8))]  # "" on a table without a key switch


@dataclass(frozen=True)
class RoundStart(EventBody):
    KIND: ClassVar[int] = ROUND_START
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    accepted: Annotated[tuple[str, ...], Wire(2, SENSORS)]
    refused: Annotated[tuple[str, ...], Wire(3, SENSORS)]
    # From 1.1: groups of seats that one player holds; nobody gets envy from himself.
    joined: Annotated[tuple[tuple[int, ...], ...], Wire(64, JOINED_SEATS)] = ()
    wagered_cents: Annotated[int, Wire(65, CENTS)] = 0  # all accepted bets, at the table's prices


@dataclass(frozen=True)
class LateChange(EventBody):
    """A chip added or removed after the lock: evidence, never a bet."""

    KIND: ClassVar[int] = LATE_CHANGE
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    sensor: Annotated[str, Wire(2, SENSOR)]
    present: Annotated[bool, Wire(3, Bool())]
    offset_ms: Annotated[int, Wire(4, Uint())]  # since the lock


@dataclass(frozen=True)
class Hand(EventBody):
    KIND: ClassVar[int] = HAND
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    sensor: Annotated[str, Wire(2, SENSOR)]
    hand: Annotated[str, Wire(3, HAND_ID_OR_NONE)]  # "" turns the selection off


@dataclass(frozen=True)
class Claim(EventBody):
    KIND: ClassVar[int] = CLAIM
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    claim_number: Annotated[int, Wire(2, SEQUENCE)]
    hands: Annotated[tuple[ClaimedHand, ...], Wire(3, CLAIMED_HANDS)]
    frozen: Annotated[bool, Wire(4, Bool())]  # the amount is fixed now (keypad tables)


@dataclass(frozen=True)
class Awarded(EventBody):
    """The unit's durable receipt of an Award."""

    KIND: ClassVar[int] = AWARDED
    claim_number: Annotated[int, Wire(1, SEQUENCE)]
    lines: Annotated[tuple[AwardLine, ...], Wire(2, AWARD_LINES)]
    envy: Annotated[tuple[EnvyLine, ...], Wire(3, ENVY_LINES)]
    role: Annotated[int, Wire(4, ROLE)]
    frozen: Annotated[bool, Wire(5, Bool())]


@dataclass(frozen=True)
class Cancel(EventBody):
    KIND: ClassVar[int] = CANCEL
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    claim_number: Annotated[int, Wire(2, SEQUENCE)]


@dataclass(frozen=True)
class Commit(EventBody):
    KIND: ClassVar[int] = COMMIT
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    claim_number: Annotated[int, Wire(2, SEQUENCE)]
    method: Annotated[int, Wire(3, Uint(METHOD_DEALER, METHOD_KEY))]
    card_digest: Annotated[bytes, Wire(4, Bytes((0, 16)))]  # b"" when no card was swiped
    role: Annotated[int, Wire(5, ROLE)]


@dataclass(frozen=True)
class Settled(EventBody):
    """The unit's durable receipt of a Committed."""

    KIND: ClassVar[int] = SETTLED
    claim_number: Annotated[int, Wire(1, SEQUENCE)]
    win_number: Annotated[int, Wire(2, SEQUENCE)]
    lines: Annotated[tuple[AwardLine, ...], Wire(3, AWARD_LINES)]
    envy: Annotated[tuple[EnvyLine, ...], Wire(4, ENVY_LINES)]


@dataclass(frozen=True)
class RoundEnd(EventBody):
    KIND: ClassVar[int] = ROUND_END
    round_number: Annotated[int, Wire(1, SEQUENCE)]


@dataclass(frozen=True)
class Fault(EventBody):
    KIND: ClassVar[int] = FAULT
    code: Annotated[str, Wire(1, Text(32, bytes_min=1))]
    part: Annotated[str, Wire(2, Text(32))]
    raised: Annotated[bool, Wire(3, Bool())]  # false when the fault has cleared
    sentence: Annotated[str, Wire(4, Text())]


@dataclass(frozen=True)
class Config(EventBody):
    """Settings with this digest were adopted; their bytes are kept beside the journal."""

    KIND: ClassVar[int] = CONFIG
    digest: Annotated[bytes, Wire(1, DIGEST)]


@dataclass(frozen=True)
class Refused(EventBody):
    """Input that was refused: it is logged, never ignored."""

    KIND: ClassVar[int] = REFUSED
    command: Annotated[str, Wire(1, Text(64))]
    sentence: Annotated[str, Wire(2, Text())]


@dataclass(frozen=True)
class Seal(EventBody):
    """The unit's signature over its chain up to an earlier event (`protocol.seal`)."""

    KIND: ClassVar[int] = SEAL
    sealed_sequence: Annotated[int, Wire(1, SEQUENCE)]
    reason: Annotated[str, Wire(2, Text(32, bytes_min=1))]  # "claim" or "day"
    signature: Annotated[bytes, Wire(3, Bytes((64,)))]


@dataclass(frozen=True)
class Service(EventBody):
    """A service function was used, or refused, and in whose name."""

    KIND: ClassVar[int] = SERVICE
    function: Annotated[str, Wire(1, Text(32, bytes_min=1))]
    tech: Annotated[str, Wire(2, Text(40))]  # a label; "" when nobody was named
    result: Annotated[str, Wire(3, Text())]


@dataclass(frozen=True)
class Restored(EventBody):
    """This journal goes on where another one ended; both ends count from here."""

    KIND: ClassVar[int] = RESTORED
    journal_id: Annotated[bytes, Wire(1, Bytes((16,)))]  # of the journal before this one
    last_sequence: Annotated[int, Wire(2, Uint())]  # as far as the manager had taken it in
    round_number: Annotated[int, Wire(3, Uint())]
    claim_number: Annotated[int, Wire(4, Uint())]
    counters: Annotated[Counters, Wire(5, COUNTERS)]
    salvaged: Annotated[int, Wire(6, Uint())]  # records that follow and were not delivered before
    unreadable: Annotated[int, Wire(7, Uint())]  # records known to be missing between those


EVENT_TYPES: Final[Mapping[int, type[EventBody]]] = {
    each.KIND: each
    for each in (
        Boot,
        RoundStart,
        LateChange,
        Hand,
        Claim,
        Awarded,
        Cancel,
        Commit,
        Settled,
        RoundEnd,
        Fault,
        Config,
        Refused,
        Seal,
        Service,
        Restored,
    )
}


def kind_name(kind: int) -> str:
    """The kind as a person reads it, for logs and pages."""
    event_type = EVENT_TYPES.get(kind)
    return event_type.__name__ if event_type else f"kind {kind}"


def parse(kind: int, body: Mapping[int, Any]) -> EventBody:
    """The checked body of an event of this kind."""
    event_type = EVENT_TYPES.get(kind)
    if event_type is None:
        raise ProtocolError(ErrorCode.UNKNOWN_TYPE, f"There is no event of kind {kind}.")
    return event_type.from_body(body)
