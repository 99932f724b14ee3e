"""The messages of the wire, one frozen dataclass per type.

`decode` is the only way in and `Message.encode` the only way out; both pass the strict profile.
When a message may be sent, and what the receiver does with it, is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final

from protocol.numbers import SWIPE_CLAIM, SWIPE_LATE_ENTRY
from protocol.wire import events, profile, rows
from protocol.wire.address import ADDRESS_MAX_BYTES
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import Blob, Body, Bool, Bytes, Text, Uint, Wire, clipped, wire_keys
from protocol.wire.record import Record
from protocol.wire.rows import (
    AWARD_LINES,
    COUNT,
    COUNTERS,
    COUNTERS_OR_NONE,
    DIGEST,
    ENVY_LINES,
    HAND_COUNT,
    IDENTIFIER,
    LABEL,
    LABELLED_METERS,
    MARKS,
    METER_VALUES,
    MINOR,
    ROLE,
    SEQUENCE,
    TAIL_OR_NONE,
    TAIL_PLACE_OR_NONE,
    TAKEN_JOURNALS,
    TIME_MS,
    WINDOW_MAX,
    AwardLine,
    Counters,
    EnvyLine,
    LabelledMeter,
    LedgerTail,
    Mark,
    MeterValue,
    TailPlace,
    TakenJournal,
)
from protocol.wire.settings import SETTINGS_MAX_BYTES

TYPE_KEY: Final = 0
_DIGEST_ITEM_BYTES: Final = 2 + 32  # with its head
_FIRST_NUMBER_AT: Final = 4  # behind the map's head, key 0, the type and key 1


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
    version_min: Annotated[int, Wire(2, MINOR)]
    version_max: Annotated[int, Wire(3, MINOR)]
    journal_id: Annotated[bytes, Wire(4, Bytes((16,)))]
    last_sequence: Annotated[int, Wire(5, COUNT)]
    acked_sequence: Annotated[int, Wire(6, COUNT)]
    settings_digest: Annotated[bytes, Wire(7, Bytes((0, 32)))]  # b"" before the first settings
    software: Annotated[str, Wire(8, Text(64))]
    counters: Annotated[tuple[Counters, ...], Wire(9, COUNTERS_OR_NONE)] = ()  # at last_sequence
    # The ledger's tail that was told last; what stands there now is for the manager to say.
    tail: Annotated[tuple[TailPlace, ...], Wire(64, TAIL_PLACE_OR_NONE)] = ()


@dataclass(frozen=True)
class Welcome(Message):
    """Manager to unit, the answer to Hello."""

    TYPE: ClassVar[int] = 2
    version: Annotated[int, Wire(1, MINOR)]
    table_id: Annotated[str, Wire(2, IDENTIFIER)]
    last_sequence: Annotated[int, Wire(3, COUNT)]  # committed
    window: Annotated[int, Wire(4, Uint(1, WINDOW_MAX))]
    server_time_ms: Annotated[int, Wire(5, TIME_MS)]
    settings_digest: Annotated[bytes, Wire(6, DIGEST)]
    counters: Annotated[tuple[Counters, ...], Wire(7, COUNTERS_OR_NONE)] = ()  # at last_sequence
    tail: Annotated[tuple[LedgerTail, ...], Wire(64, TAIL_OR_NONE)] = ()
    digest_then: Annotated[bytes, Wire(65, Bytes((0, 32)))] = b""  # at the place in the hello


@dataclass(frozen=True)
class Settings(Message):
    """Manager to unit: the table's settings and the SHA-256 of their bytes."""

    TYPE: ClassVar[int] = 3
    digest: Annotated[bytes, Wire(1, DIGEST)]
    body: Annotated[bytes, Wire(2, Blob(SETTINGS_MAX_BYTES))]


@dataclass(frozen=True)
class Event(Message):
    """Unit to manager: one journal record."""

    TYPE: ClassVar[int] = 4
    sequence: Annotated[int, Wire(1, SEQUENCE)]
    kind: Annotated[int, Wire(2, SEQUENCE)]
    body: Annotated[dict[int, Any], Wire(3, Body())]
    monotonic_ms: Annotated[int, Wire(4, TIME_MS)]
    wall_ms: Annotated[int, Wire(5, TIME_MS)]
    digest: Annotated[bytes, Wire(6, DIGEST)]

    @cached_property
    def encoded_body(self) -> bytes:
        """The body's only encoding; refused when it would not fit one frame with its event."""
        return profile.encode(self.body, events.BODY_MAX_BYTES)

    def keep_body_of(self, payload: bytes) -> None:
        """Cuts the body out of the frame: what was proven there need not be encoded again."""
        bytes_of = profile.head_bytes
        before = 6 + bytes_of(self.sequence) + bytes_of(self.kind)  # the map's head, type, 4 keys
        after = 3 + bytes_of(self.monotonic_ms) + bytes_of(self.wall_ms) + _DIGEST_ITEM_BYTES
        if len(payload) - before - after <= events.BODY_MAX_BYTES:
            self.__dict__["encoded_body"] = payload[before:-after]

    def parse_body(self) -> events.EventBody:
        """The checked body; unknown kinds and bad fields raise, with the event still at hand."""
        return events.parse(self.kind, self.body)


@dataclass(frozen=True)
class Ack(Message):
    """Manager to unit: everything up to this sequence is committed."""

    TYPE: ClassVar[int] = 5
    last_sequence: Annotated[int, Wire(1, COUNT)]
    server_time_ms: Annotated[int, Wire(2, TIME_MS)]
    tail: Annotated[tuple[LedgerTail, ...], Wire(64, TAIL_OR_NONE)] = ()  # durable, as the events


class NumberedEncoder:
    """The encoding of many messages that differ in their first field alone, a number.

    The rest is made once, of a message in which that field is 0.
    """

    def __init__(self, message: Message) -> None:
        whole = message.encode()
        assert whole[_FIRST_NUMBER_AT] == 0, "the first field of the message is no 0"
        self._before, self._after = whole[:_FIRST_NUMBER_AT], whole[_FIRST_NUMBER_AT + 1 :]

    def of(self, number: int) -> bytes:
        return self._before + profile.number_bytes(number) + self._after


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
    version: Annotated[int, Wire(1, COUNT)]
    meters: Annotated[tuple[LabelledMeter, ...], Wire(2, LABELLED_METERS)]
    server_time_ms: Annotated[int, Wire(3, TIME_MS)]


@dataclass(frozen=True)
class Heartbeat(Message):
    """Either way, once a second. A unit says now and then how its spots fare.

    A manager says which bundle it waits for, and how much of it came; and which new program it has
    for the unit. The unit says how far it is with that.
    """

    TYPE: ClassVar[int] = 9
    monotonic_ms: Annotated[int, Wire(1, TIME_MS)]
    state: Annotated[str, Wire(2, Text(16))]
    spots: Annotated[tuple[rows.SpotHealth, ...], Wire(64, rows.SPOT_HEALTHS)] = ()
    bundle: Annotated[tuple[rows.BundleWish, ...], Wire(65, rows.BUNDLE_WISHES)] = ()
    offer: Annotated[tuple[rows.ProgramOffer, ...], Wire(66, rows.PROGRAM_OFFERS)] = ()
    report: Annotated[tuple[rows.ProgramReport, ...], Wire(67, rows.PROGRAM_REPORTS)] = ()


@dataclass(frozen=True)
class Error(Message):
    """Either way: why something was refused. Code numbers are in `protocol.wire.errors`."""

    TYPE: ClassVar[int] = 10
    code: Annotated[int, Wire(1, COUNT)]
    sentence: Annotated[str, Wire(2, Text())]
    sequence: Annotated[int, Wire(3, COUNT)] = 0  # 0 = no event is meant
    claim_number: Annotated[int, Wire(4, COUNT)] = 0  # 0 = no claim is meant


@dataclass(frozen=True)
class State(Message):
    """Manager to a unit with a new journal: where the table stands, by the journal before it.

    `event_count` Event messages follow: what still matters of the round under way.
    """

    TYPE: ClassVar[int] = 11
    journal_id: Annotated[bytes, Wire(1, Bytes((16,)))]
    last_sequence: Annotated[int, Wire(2, COUNT)]
    last_digest: Annotated[bytes, Wire(3, DIGEST)]
    round_number: Annotated[int, Wire(4, COUNT)]
    claim_number: Annotated[int, Wire(5, COUNT)]
    counters: Annotated[Counters, Wire(6, COUNTERS)]
    event_count: Annotated[int, Wire(7, COUNT)]
    earlier: Annotated[
        tuple[TakenJournal, ...], Wire(8, TAKEN_JOURNALS)
    ]  # before that, newest first
    marks: Annotated[tuple[Mark, ...], Wire(9, MARKS)] = ()  # of that journal, newest first


@dataclass(frozen=True)
class Reversed(Message):
    """Manager to unit: a win of this table was taken back. Repeated until the unit's receipt."""

    TYPE: ClassVar[int] = 12
    win_number: Annotated[int, Wire(1, SEQUENCE)]
    round_number: Annotated[int, Wire(2, SEQUENCE)]
    claim_number: Annotated[int, Wire(3, SEQUENCE)]
    sentence: Annotated[str, Wire(4, Text())]


@dataclass(frozen=True)
class Swipe(Message):
    """Unit to manager: a card was swiped for this claim, round or cabinet. Never recorded."""

    TYPE: ClassVar[int] = 13
    purpose: Annotated[int, Wire(1, Uint(SWIPE_CLAIM, SWIPE_LATE_ENTRY))]
    number: Annotated[int, Wire(2, COUNT)]
    proof: Annotated[bytes, Wire(3, Bytes((32,)))]


@dataclass(frozen=True)
class Verdict(Message):
    """Manager to unit: whose card it was, and the ticket that a COMMIT may name; or why not."""

    TYPE: ClassVar[int] = 14
    purpose: Annotated[int, Wire(1, Uint(SWIPE_CLAIM, SWIPE_LATE_ENTRY))]
    number: Annotated[int, Wire(2, COUNT)]
    role: Annotated[int, Wire(3, ROLE)]  # 0: refused
    label: Annotated[str, Wire(4, LABEL)]
    ticket: Annotated[bytes, Wire(5, Bytes((0, 16)))]
    is_wrong: Annotated[bool, Wire(6, Bool())]  # the card itself; it counts towards the lock-out
    sentence: Annotated[str, Wire(7, Text())]


@dataclass(frozen=True)
class HandCheck(Message):
    """Manager to unit, with the Award: what the recognised cards say of the claimed hands."""

    TYPE: ClassVar[int] = 24
    claim_number: Annotated[int, Wire(1, SEQUENCE)]
    hands: Annotated[tuple[rows.CheckedHand, ...], Wire(2, rows.CHECKED_HANDS)]


@dataclass(frozen=True)
class CoverAll(Message):
    """Manager to unit: what Cover All pays for the number of hands that was dealt."""

    TYPE: ClassVar[int] = 25
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    hand_count: Annotated[int, Wire(2, HAND_COUNT)]
    rows: Annotated[tuple[rows.ColumnRow, ...], Wire(3, rows.COLUMN_ROWS)]


@dataclass(frozen=True)
class GoTo(Message):
    """Manager to unit, in place of Welcome or later: another manager serves this table."""

    TYPE: ClassVar[int] = 26
    address: Annotated[str, Wire(1, Text(ADDRESS_MAX_BYTES, 1))]
    sentence: Annotated[str, Wire(2, Text())]


@dataclass(frozen=True)
class Void(Message):
    """Manager to unit: two people there void the round under way. Repeated until it is over."""

    TYPE: ClassVar[int] = 27
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    reason: Annotated[str, Wire(2, Text(40, bytes_min=1))]
    ticket: Annotated[bytes, Wire(3, Bytes((16,)))]


@dataclass(frozen=True)
class BundlePart(Message):
    """Unit to manager: some bytes of the bundle that its heartbeat asks for. Never journaled."""

    TYPE: ClassVar[int] = 28
    request: Annotated[int, Wire(1, SEQUENCE)]
    place: Annotated[int, Wire(2, rows.BUNDLE_PLACE)]  # of the first of these bytes
    total: Annotated[int, Wire(3, rows.BUNDLE_SIZE)]  # of the whole bundle
    content: Annotated[bytes, Wire(4, rows.BUNDLE_CONTENT)]


@dataclass(frozen=True)
class ProgramPart(Message):
    """Manager to unit: some bytes of the program that the unit's heartbeat asks for."""

    TYPE: ClassVar[int] = 29
    rollout: Annotated[int, Wire(1, SEQUENCE)]
    place: Annotated[int, Wire(2, rows.PROGRAM_PLACE)]  # of the first of these bytes
    content: Annotated[bytes, Wire(3, rows.PROGRAM_CONTENT)]


MESSAGE_TYPES: Final[Mapping[int, type[Message]]] = {
    each.TYPE: each
    for each in (
        Hello,
        Welcome,
        Settings,
        Event,
        Ack,
        Award,
        Committed,
        Meters,
        Heartbeat,
        Error,
        State,
        Reversed,
        Swipe,
        Verdict,
        HandCheck,
        CoverAll,
        GoTo,
        Void,
        BundlePart,
        ProgramPart,
    )
}


_EVENT_FIELDS: Final = len(wire_keys(Event))


def decode(payload: bytes) -> Message:
    """The message in one frame's payload, or a ProtocolError."""
    values = profile.decode(payload)
    if type(values) is not dict or TYPE_KEY not in values:
        raise ProtocolError(ErrorCode.MALFORMED, "A message must be a map with its type as key 0.")
    number = values.pop(TYPE_KEY)
    message_type = MESSAGE_TYPES.get(number) if type(number) is int else None
    if message_type is None:
        raise ProtocolError(ErrorCode.UNKNOWN_TYPE, f"There is no message of type {number!r:.40}.")
    message = message_type.from_map(values)
    if isinstance(message, Event) and len(values) == _EVENT_FIELDS:
        message.keep_body_of(payload)
    return message


def hello_in(payload: bytes) -> Hello:
    """The first message of a connection, which must be a hello."""
    message = decode(payload)
    if not isinstance(message, Hello):
        raise ProtocolError(ErrorCode.UNEXPECTED, "The first message must be a hello.")
    return message


def error_for(problem: ProtocolError, sequence: int = 0, claim_number: int = 0) -> Error:
    """The Error message that tells a peer about `problem`."""
    return Error(problem.code, clipped(problem.sentence), sequence, claim_number)
