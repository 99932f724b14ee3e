"""The messages of the wire, one frozen dataclass per type.

`decode` is the only way in and `Message.encode` the only way out; both pass the strict profile.
When a message may be sent, and what the receiver does with it, is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final

from protocol import events, profile
from protocol.errors import ErrorCode, ProtocolError
from protocol.fields import Blob, Body, Bool, Bytes, Text, Uint, Wire, clipped
from protocol.record import Record
from protocol.rows import (
    AWARD_LINES,
    COUNTERS,
    COUNTERS_OR_NONE,
    DIGEST,
    ENVY_LINES,
    IDENTIFIER,
    LABELLED_METERS,
    METER_VALUES,
    ROLE,
    SEQUENCE,
    TAKEN_JOURNALS,
    AwardLine,
    Counters,
    EnvyLine,
    LabelledMeter,
    MeterValue,
    TakenJournal,
)
from protocol.settings import SETTINGS_MAX_BYTES

TYPE_KEY: Final = 0


@dataclass(frozen=True)
class Message(Record):
    """Anything that may be the one item in a frame."""

    TYPE: ClassVar[int] = 0

    def encode(self) -> bytes:
        return profile.encode({TYPE_KEY: self.TYPE, **self.to_map()})


@dataclass(frozen=True)
class Hello(Message):
    """Unit to manager, first frame of a connection."""

    TYPE: ClassVar[int] = 1
    unit_id: Annotated[str, Wire(1, IDENTIFIER)]
    version_min: Annotated[int, Wire(2, Uint())]
    version_max: Annotated[int, Wire(3, Uint())]
    journal_id: Annotated[bytes, Wire(4, Bytes((16,)))]
    last_sequence: Annotated[int, Wire(5, Uint())]
    acked_sequence: Annotated[int, Wire(6, Uint())]
    config_digest: Annotated[bytes, Wire(7, Bytes((0, 32)))]  # b"" before the first settings
    software: Annotated[str, Wire(8, Text(64))]
    counters: Annotated[tuple[Counters, ...], Wire(64, COUNTERS_OR_NONE)] = ()  # at last_sequence


@dataclass(frozen=True)
class Welcome(Message):
    """Manager to unit, the answer to Hello."""

    TYPE: ClassVar[int] = 2
    version: Annotated[int, Wire(1, Uint())]
    table_id: Annotated[str, Wire(2, IDENTIFIER)]
    last_sequence: Annotated[int, Wire(3, Uint())]  # committed
    window: Annotated[int, Wire(4, Uint(minimum=1))]
    server_time_ms: Annotated[int, Wire(5, Uint())]
    config_digest: Annotated[bytes, Wire(6, DIGEST)]
    counters: Annotated[tuple[Counters, ...], Wire(64, COUNTERS_OR_NONE)] = ()  # at last_sequence


@dataclass(frozen=True)
class Config(Message):
    """Manager to unit: the table's settings and the SHA-256 of their bytes."""

    TYPE: ClassVar[int] = 3
    digest: Annotated[bytes, Wire(1, DIGEST)]
    body: Annotated[bytes, Wire(2, Blob(SETTINGS_MAX_BYTES))]


@dataclass(frozen=True)
class Event(Message):
    """Unit to manager: one journal record."""

    TYPE: ClassVar[int] = 4
    sequence: Annotated[int, Wire(1, SEQUENCE)]
    kind: Annotated[int, Wire(2, Uint(minimum=1))]
    body: Annotated[dict[int, Any], Wire(3, Body())]
    monotonic_ms: Annotated[int, Wire(4, Uint())]
    wall_ms: Annotated[int, Wire(5, Uint())]
    digest: Annotated[bytes, Wire(6, DIGEST)]

    def parse_body(self) -> events.EventBody:
        """The checked body; unknown kinds and bad fields raise, with the event still at hand."""
        return events.parse(self.kind, self.body)


@dataclass(frozen=True)
class Ack(Message):
    """Manager to unit: everything up to this sequence is committed."""

    TYPE: ClassVar[int] = 5
    last_sequence: Annotated[int, Wire(1, Uint())]
    server_time_ms: Annotated[int, Wire(2, Uint())]


@dataclass(frozen=True)
class Award(Message):
    """Manager to unit: what a claim pays, and who must authorise it."""

    TYPE: ClassVar[int] = 6
    claim_number: Annotated[int, Wire(1, SEQUENCE)]
    lines: Annotated[tuple[AwardLine, ...], Wire(2, AWARD_LINES)]
    envy: Annotated[tuple[EnvyLine, ...], Wire(3, ENVY_LINES)]
    role: Annotated[int, Wire(4, ROLE)]
    frozen: Annotated[bool, Wire(5, Bool())]


@dataclass(frozen=True)
class Committed(Message):
    """Manager to unit: a claim was booked under a win number."""

    TYPE: ClassVar[int] = 7
    claim_number: Annotated[int, Wire(1, SEQUENCE)]
    win_number: Annotated[int, Wire(2, SEQUENCE)]
    lines: Annotated[tuple[AwardLine, ...], Wire(3, AWARD_LINES)]
    envy: Annotated[tuple[EnvyLine, ...], Wire(4, ENVY_LINES)]
    meters: Annotated[tuple[MeterValue, ...], Wire(5, METER_VALUES)]


@dataclass(frozen=True)
class Meters(Message):
    """Manager to unit: the amounts to show."""

    TYPE: ClassVar[int] = 8
    version: Annotated[int, Wire(1, Uint())]
    meters: Annotated[tuple[LabelledMeter, ...], Wire(2, LABELLED_METERS)]
    server_time_ms: Annotated[int, Wire(3, Uint())]


@dataclass(frozen=True)
class Heartbeat(Message):
    """Either way, once a second."""

    TYPE: ClassVar[int] = 9
    monotonic_ms: Annotated[int, Wire(1, Uint())]
    state: Annotated[str, Wire(2, Text(16))]


@dataclass(frozen=True)
class Error(Message):
    """Either way: why something was refused. Code numbers are in `protocol.errors`."""

    TYPE: ClassVar[int] = 10
    code: Annotated[int, Wire(1, Uint())]
    sentence: Annotated[str, Wire(2, Text())]
    sequence: Annotated[int, Wire(3, Uint())] = 0  # 0 = no event is meant
    claim_number: Annotated[int, Wire(4, Uint())] = 0  # 0 = no claim is meant


@dataclass(frozen=True)
class State(Message):
    """Manager to a unit with a new journal: where the table stands, by the journal before it.

    `event_count` Event messages follow: what still matters of the round under way.
    """

    TYPE: ClassVar[int] = 11
    journal_id: Annotated[bytes, Wire(1, Bytes((16,)))]
    last_sequence: Annotated[int, Wire(2, Uint())]
    last_digest: Annotated[bytes, Wire(3, DIGEST)]
    round_number: Annotated[int, Wire(4, Uint())]
    claim_number: Annotated[int, Wire(5, Uint())]
    counters: Annotated[Counters, Wire(6, COUNTERS)]
    event_count: Annotated[int, Wire(7, Uint())]
    earlier: Annotated[
        tuple[TakenJournal, ...], Wire(8, TAKEN_JOURNALS)
    ]  # before that, newest first


MESSAGE_TYPES: Final[Mapping[int, type[Message]]] = {
    each.TYPE: each
    for each in (
        Hello,
        Welcome,
        Config,
        Event,
        Ack,
        Award,
        Committed,
        Meters,
        Heartbeat,
        Error,
        State,
    )
}


def decode(payload: bytes) -> Message:
    """The message in one frame's payload, or a ProtocolError."""
    values = profile.decode(payload)
    if type(values) is not dict or TYPE_KEY not in values:
        raise ProtocolError(ErrorCode.MALFORMED, "A message must be a map with its type as key 0.")
    number = values.pop(TYPE_KEY)
    message_type = MESSAGE_TYPES.get(number) if type(number) is int else None
    if message_type is None:
        raise ProtocolError(ErrorCode.UNKNOWN_TYPE, f"There is no message of type {number!r:.40}.")
    return message_type.from_map(values)


def error_for(problem: ProtocolError, sequence: int = 0, claim_number: int = 0) -> Error:
    """The Error message that tells a peer about `problem`."""
    return Error(problem.code, clipped(problem.sentence), sequence, claim_number)
