"""What a shuffler tells a table's unit over its serial line: how many hands, and which cards.

The messages have the form and the strictness of the link's (`messages`), with types of their own.
They are advice: what a unit does without them it does with them. Nothing is sent to a shuffler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from protocol.wire import profile
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import Wire
from protocol.wire.messages import TYPE_KEY
from protocol.wire.record import Record
from protocol.wire.rows import CARDS, HAND_COUNT, POSITION, SEQUENCE, SHUFFLER_MODE


@dataclass(frozen=True)
class ShufflerMessage(Record):
    TYPE: ClassVar[int] = 0

    def encode(self) -> bytes:
        return profile.encode({TYPE_KEY: self.TYPE, **self.to_map()})


@dataclass(frozen=True)
class Dealt(ShufflerMessage):
    """A deal is complete: so many hands, the dealer's among them."""

    TYPE: ClassVar[int] = 1
    deal_number: Annotated[int, Wire(1, SEQUENCE)]
    hand_count: Annotated[int, Wire(2, HAND_COUNT)]
    mode: Annotated[
        str, Wire(3, SHUFFLER_MODE)
    ]  # what the shuffler is set to, "" for nothing special


@dataclass(frozen=True)
class Shown(ShufflerMessage):
    """The cards of one hand of a deal, as the shuffler recognised them."""

    TYPE: ClassVar[int] = 2
    deal_number: Annotated[int, Wire(1, SEQUENCE)]
    seat: Annotated[int, Wire(2, POSITION)]  # 0 is the dealer
    cards: Annotated[tuple[str, ...], Wire(3, CARDS)]


SHUFFLER_TYPES: Final[Mapping[int, type[ShufflerMessage]]] = {
    each.TYPE: each for each in (Dealt, Shown)
}


def decode(payload: bytes) -> ShufflerMessage:
    """The message in one frame's payload, or a ProtocolError."""
    values = profile.decode(payload)
    if type(values) is not dict or TYPE_KEY not in values:
        raise ProtocolError(ErrorCode.MALFORMED, "A message must be a map with its type as key 0.")
    number = values.pop(TYPE_KEY)
    message_type = SHUFFLER_TYPES.get(number) if type(number) is int else None
    if message_type is None:
        raise ProtocolError(ErrorCode.UNKNOWN_TYPE, f"There is no message of type {number!r:.40}.")
    return message_type.from_map(values)
