"""The errors the wire can carry: one integer code and one sentence for a person.

Codes are part of the protocol: a number is never given a second meaning. Who hears the sentence
and what happens to the connection is decided where the error is caught, not here.
"""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """What went wrong. The comment says who may answer with it."""

    MALFORMED = 1  # not one item of the CBOR profile
    OVERSIZED = 2  # the frame or the encoding is over its limit
    TRAILING = 3  # bytes follow the one item a frame may hold
    UNKNOWN_TYPE = 4  # a message type or event kind this version does not have
    BAD_FIELD = 5  # a field is missing, unknown, or not what it must be
    VERSION = 6  # no protocol version in common
    UNKNOWN_UNIT = 7  # the manager does not know this unit
    FORK = 8  # a sequence number seen before, with another digest: a cloned or restored unit
    GAP = 9  # a sequence number was skipped
    LOCKED = 10  # the unit is locked out until a person releases it
    CLAIM_REFUSED = 11  # the claim does not follow from the round's accepted bets
    CARD_REFUSED = 12  # the card's role is not enough, or the card is not known
    RATE = 13  # more frames than the window or the rate limit allows
    UNEXPECTED = 14  # a valid message that does not belong in this state of the connection
    CUT_OFF = 15  # the stream ended inside a frame
    INTERNAL = 16  # the sender failed; nothing was committed
    COUNTERS = 17  # both ends' counters differ: a person must find out why
    WAGER = 18  # a bet is not booked, or the cents differ
    APPROVAL = 19  # authorised at the table, and waits for two people at the manager
    TAIL = 20  # the manager's ledger is not the one that this unit was told of
    BACKED_OUT = 21  # two people at the manager took a logged claim back before it was booked


class ProtocolError(Exception):
    """A peer's bytes, or our own message, broke the protocol."""

    def __init__(self, code: ErrorCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
