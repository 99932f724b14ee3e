"""The kinds of journal event and what each one's body holds.

An event is a fact the unit made durable before it acted on it. This module checks that a body is
well formed; whether the fact makes sense in the round is for the controller and the manager.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Self

# Each name is exported again: where events are handled, a kind reads `events.BOOT`.
from protocol.numbers import AWARDED as AWARDED
from protocol.numbers import BOOT as BOOT
from protocol.numbers import CANCEL as CANCEL
from protocol.numbers import CHECKED as CHECKED
from protocol.numbers import CLAIM as CLAIM
from protocol.numbers import COMMIT as COMMIT
from protocol.numbers import DEALT as DEALT
from protocol.numbers import DIVERGED as DIVERGED
from protocol.numbers import FAULT as FAULT
from protocol.numbers import HAND as HAND
from protocol.numbers import LATE_CHANGE as LATE_CHANGE
from protocol.numbers import LATE_ENTRY as LATE_ENTRY
from protocol.numbers import METHOD_CARD as METHOD_CARD
from protocol.numbers import METHOD_DEALER as METHOD_DEALER
from protocol.numbers import METHOD_KEY as METHOD_KEY
from protocol.numbers import METHOD_MANAGER as METHOD_MANAGER
from protocol.numbers import PAID as PAID
from protocol.numbers import REFUSED as REFUSED
from protocol.numbers import REOPENED as REOPENED
from protocol.numbers import RESTORED as RESTORED
from protocol.numbers import REVERSED as REVERSED
from protocol.numbers import ROLE_EXECUTIVE as ROLE_EXECUTIVE
from protocol.numbers import ROLE_SUPERVISOR as ROLE_SUPERVISOR
from protocol.numbers import ROUND_END as ROUND_END
from protocol.numbers import ROUND_START as ROUND_START
from protocol.numbers import SEAL as SEAL
from protocol.numbers import SERVICE as SERVICE
from protocol.numbers import SETTINGS as SETTINGS
from protocol.numbers import SETTLED as SETTLED
from protocol.numbers import SHOWN as SHOWN
from protocol.numbers import TAKEN_BACK as TAKEN_BACK
from protocol.numbers import VOIDED as VOIDED
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import Blob, Bool, Bytes, Text, Uint, Wire
from protocol.wire.record import Record
from protocol.wire.rows import (
    AWARD_LINES,
    CARDS,
    CENTS,
    CENTS_MAX,
    CHECKED_HANDS,
    CLAIMED_HANDS,
    COUNT,
    COUNTERS,
    DIGEST,
    ENVY_LINES,
    HAND_COUNT,
    HAND_ID_OR_NONE,
    JOINED_SEATS,
    POSITION,
    ROLE,
    SEAT,
    SEEN_TAIL_OR_NONE,
    SENSOR,
    SENSORS,
    SEQUENCE,
    SHUFFLER_MODE,
    TIME_MS,
    AwardLine,
    CheckedHand,
    ClaimedHand,
    Counters,
    EnvyLine,
    SeenTail,
)

# An event with the largest body still fits one frame together with its own fields.
BODY_MAX_BYTES: Final = 3840
# The body of a record that stands in a Diverged, beside where it was.
DIVERGED_BODY_MAX_BYTES: Final = 3720


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
    boot_number: Annotated[int, Wire(1, COUNT)]
    software: Annotated[str, Wire(2, Text(64))]
    key_position: Annotated[str, Wire(3, Text(8))]  # "" on a table without a key switch


@dataclass(frozen=True)
class RoundStart(EventBody):
    KIND: ClassVar[int] = ROUND_START
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    accepted: Annotated[tuple[str, ...], Wire(2, SENSORS)]
    refused: Annotated[tuple[str, ...], Wire(3, SENSORS)]
    # Groups of seats that one player holds: nobody gets envy from himself.
    joined: Annotated[tuple[tuple[int, ...], ...], Wire(4, JOINED_SEATS)] = ()
    wagered_cents: Annotated[int, Wire(5, CENTS)] = 0  # all accepted bets, at the table's prices


@dataclass(frozen=True)
class LateChange(EventBody):
    """A chip added or removed after the lock: evidence, never a bet."""

    KIND: ClassVar[int] = LATE_CHANGE
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    sensor: Annotated[str, Wire(2, SENSOR)]
    present: Annotated[bool, Wire(3, Bool())]
    offset_ms: Annotated[int, Wire(4, TIME_MS)]  # since the lock


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
    ticket: Annotated[bytes, Wire(4, Bytes((0, 16)))]  # of the Verdict; b"" without a card
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
class Settings(EventBody):
    """Settings with this digest were adopted; their bytes are kept beside the journal."""

    KIND: ClassVar[int] = SETTINGS
    digest: Annotated[bytes, Wire(1, DIGEST)]


@dataclass(frozen=True)
class Refused(EventBody):
    """Input that was refused: it is logged, never ignored."""

    KIND: ClassVar[int] = REFUSED
    command: Annotated[str, Wire(1, Text(64))]
    sentence: Annotated[str, Wire(2, Text())]


@dataclass(frozen=True)
class Seal(EventBody):
    """The unit's signature over its chain up to an earlier event (`protocol.proof.seal`)."""

    KIND: ClassVar[int] = SEAL
    sealed_sequence: Annotated[int, Wire(1, SEQUENCE)]
    reason: Annotated[str, Wire(2, Text(32, bytes_min=1))]  # "claim" or "day"
    signature: Annotated[bytes, Wire(3, Bytes((64,)))]
    # The ledger's tail that the unit was told last, countersigned with it; none before the first.
    tail: Annotated[tuple[SeenTail, ...], Wire(64, SEEN_TAIL_OR_NONE)] = ()


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
    last_sequence: Annotated[int, Wire(2, COUNT)]  # as far as the manager had taken it in
    round_number: Annotated[int, Wire(3, COUNT)]
    claim_number: Annotated[int, Wire(4, COUNT)]
    counters: Annotated[Counters, Wire(5, COUNTERS)]
    salvaged: Annotated[int, Wire(6, COUNT)]  # records that follow and were not delivered before
    unreadable: Annotated[int, Wire(7, COUNT)]  # records known to be missing between those


@dataclass(frozen=True)
class Paid(EventBody):
    """The dealer ticked: this much was handed to this seat."""

    KIND: ClassVar[int] = PAID
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    seat: Annotated[int, Wire(2, SEAT)]
    amount_cents: Annotated[int, Wire(3, Uint(1, CENTS_MAX))]
    offset_ms: Annotated[int, Wire(4, TIME_MS)]  # since the lock


@dataclass(frozen=True)
class Reversed(EventBody):
    """The unit's durable receipt of a Reversed: it knows that this win was taken back."""

    KIND: ClassVar[int] = REVERSED
    round_number: Annotated[int, Wire(1, COUNT)]  # 0: not of the round under way
    win_number: Annotated[int, Wire(2, SEQUENCE)]


@dataclass(frozen=True)
class Reopened(EventBody):
    """The last round is on again: bets, joined seats, wins and ticks as they were."""

    KIND: ClassVar[int] = REOPENED
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    method: Annotated[int, Wire(2, Uint(METHOD_DEALER, METHOD_KEY))]
    role: Annotated[int, Wire(3, ROLE)]
    ticket: Annotated[bytes, Wire(4, Bytes((0, 16)))]  # of the Verdict; empty but by card


@dataclass(frozen=True)
class Voided(EventBody):
    """A supervisor voided the round: every wager of it is given back."""

    KIND: ClassVar[int] = VOIDED
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    method: Annotated[int, Wire(2, Uint(METHOD_CARD, METHOD_MANAGER))]
    role: Annotated[int, Wire(3, Uint(ROLE_SUPERVISOR, ROLE_EXECUTIVE))]
    reason: Annotated[str, Wire(4, Text(40, bytes_min=1))]
    # Of the card, or of the manager's Void; none with the key.
    ticket: Annotated[bytes, Wire(5, Bytes((0, 16)))]


@dataclass(frozen=True)
class TakenBack(EventBody):
    """The dealer ticked: this much came back from this seat, after its win was reversed."""

    KIND: ClassVar[int] = TAKEN_BACK
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    seat: Annotated[int, Wire(2, SEAT)]
    amount_cents: Annotated[int, Wire(3, Uint(1, CENTS_MAX))]
    offset_ms: Annotated[int, Wire(4, TIME_MS)]  # since the lock


@dataclass(frozen=True)
class LateEntry(EventBody):
    """A supervisor takes an earlier round up again, for a win that was forgotten in it."""

    KIND: ClassVar[int] = LATE_ENTRY
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    role: Annotated[int, Wire(2, Uint(ROLE_SUPERVISOR, ROLE_EXECUTIVE))]
    ticket: Annotated[bytes, Wire(3, Bytes((16,)))]  # of the card
    reason: Annotated[str, Wire(4, Text(40, bytes_min=1))]
    accepted: Annotated[tuple[str, ...], Wire(5, SENSORS)]
    joined: Annotated[tuple[tuple[int, ...], ...], Wire(6, JOINED_SEATS)]
    settled: Annotated[tuple[str, ...], Wire(7, SENSORS)]  # bets that have a win already


@dataclass(frozen=True)
class Dealt(EventBody):
    """A shuffler told how many hands it dealt in this round. Advice: nothing rests on it."""

    KIND: ClassVar[int] = DEALT
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    deal_number: Annotated[int, Wire(2, SEQUENCE)]  # the shuffler's own count
    hand_count: Annotated[int, Wire(3, HAND_COUNT)]  # the dealer's is one of them
    mode: Annotated[str, Wire(4, SHUFFLER_MODE)]


@dataclass(frozen=True)
class Shown(EventBody):
    """The cards of one hand as the shuffler recognised them."""

    KIND: ClassVar[int] = SHOWN
    round_number: Annotated[int, Wire(1, SEQUENCE)]
    deal_number: Annotated[int, Wire(2, SEQUENCE)]
    seat: Annotated[int, Wire(3, POSITION)]  # 0 is the dealer
    cards: Annotated[tuple[str, ...], Wire(4, CARDS)]


@dataclass(frozen=True)
class Checked(EventBody):
    """The unit's durable receipt of a HandCheck: what people at the table were shown."""

    KIND: ClassVar[int] = CHECKED
    claim_number: Annotated[int, Wire(1, SEQUENCE)]
    hands: Annotated[tuple[CheckedHand, ...], Wire(2, CHECKED_HANDS)]


@dataclass(frozen=True)
class Diverged(EventBody):
    """A record of the journal before, in whose place the manager took in a copy's: evidence."""

    KIND: ClassVar[int] = DIVERGED
    journal_id: Annotated[bytes, Wire(1, Bytes((16,)))]
    sequence: Annotated[int, Wire(2, SEQUENCE)]
    digest: Annotated[bytes, Wire(3, DIGEST)]
    kind: Annotated[int, Wire(4, SEQUENCE)]
    body: Annotated[bytes, Wire(5, Blob(DIVERGED_BODY_MAX_BYTES))]  # as it was recorded
    monotonic_ms: Annotated[int, Wire(6, TIME_MS)]
    wall_ms: Annotated[int, Wire(7, TIME_MS)]


# Every kind above.
EVENT_TYPES: Final[Mapping[int, type[EventBody]]] = {
    each.KIND: each for each in EventBody.__subclasses__()
}


def parse(kind: int, body: Mapping[int, Any]) -> EventBody:
    """The checked body of an event of this kind."""
    event_type = EVENT_TYPES.get(kind)
    if event_type is None:
        raise ProtocolError(ErrorCode.UNKNOWN_TYPE, f"There is no event of kind {kind}.")
    return event_type.from_map(body)
