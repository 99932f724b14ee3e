"""Builds the events that the core emits: (kind, body), the body a map with the protocol's keys.

It alone knows which field has which number, and the kinds that are the core's own: they change what
the dealer has half entered, and are no records. It does not decide when an event happens, and it
does not journal, encode or send one.
"""

from protocol import numbers

MYPY = False
if MYPY:
    from typing import Any

    from controller.core.round.types import AwardLine, EnvyLine, Event, Pair


ENTRY = numbers.LOCAL_KIND_MIN  # what the dealer has pressed so far: 1 seat, 2 letter, 3 hand
BLINK = numbers.LOCAL_KIND_MIN + 1  # spots refused although no round began: 1 sensors
JOINED = numbers.LOCAL_KIND_MIN + 2  # seats of one player in the next round: 1 groups of seats
REOPEN_ASKED = numbers.LOCAL_KIND_MIN + 4  # REOPEN waits for a supervisor's card
VOID_ASKED = numbers.LOCAL_KIND_MIN + 5  # VOID waits for a supervisor
END_ASKED = numbers.LOCAL_KIND_MIN + 3  # END was refused once; pressed again, it ends the game
LATE_ASKED = numbers.LOCAL_KIND_MIN + 6  # a forgotten win waits for a supervisor's card


def is_local(kind: int) -> bool:
    """True for an event that is no record: nobody but this unit ever hears of it."""
    return kind >= numbers.LOCAL_KIND_MIN


def _event(kind: int, *values: "Any") -> "Event":
    return kind, {number + 1: values[number] for number in range(len(values))}


def fields(body: "dict[int, Any]", count: int) -> "list[Any]":
    """The body's first fields in the order of their numbers."""
    return [body[number + 1] for number in range(count)]


def round_start(
    round_number: int,
    accepted: "list[str]",
    refused: "list[str]",
    joined: "list[list[int]]",
    wagered_cents: int,
) -> "Event":
    """It also says what was wagered: prices may change later, what was recorded may not."""
    groups = [list(group) for group in joined]
    return _event(numbers.ROUND_START, round_number, accepted, refused, groups, wagered_cents)


class RoundStart:
    """What a round's start says, read back from its body."""

    __slots__ = ("accepted", "joined", "refused", "round_number", "wagered_cents")

    def __init__(self, body: "dict[int, Any]") -> None:
        self.round_number, accepted, refused, joined, self.wagered_cents = fields(body, 5)
        self.accepted: "list[str]" = list(accepted)
        self.refused: "list[str]" = list(refused)
        self.joined: "list[list[int]]" = [list(group) for group in joined]


def late_change(round_number: int, sensor: str, present: bool, offset_ms: int) -> "Event":
    return _event(numbers.LATE_CHANGE, round_number, sensor, present, offset_ms)


def hand(round_number: int, sensor: str, hand_id: str) -> "Event":
    return _event(numbers.HAND, round_number, sensor, hand_id)


def claim(round_number: int, claim_number: int, lines: "list[Pair]", frozen: bool) -> "Event":
    return _event(numbers.CLAIM, round_number, claim_number, lines, frozen)


def awarded(
    claim_number: int, lines: "list[AwardLine]", envy: "list[EnvyLine]", role: int, frozen: bool
) -> "Event":
    return _event(numbers.AWARDED, claim_number, lines, envy, role, frozen)


def cancel(round_number: int, claim_number: int) -> "Event":
    return _event(numbers.CANCEL, round_number, claim_number)


def commit(round_number: int, claim_number: int, method: int, ticket: bytes, role: int) -> "Event":
    return _event(numbers.COMMIT, round_number, claim_number, method, ticket, role)


def settled(
    claim_number: int, win_number: int, lines: "list[AwardLine]", envy: "list[EnvyLine]"
) -> "Event":
    return _event(numbers.SETTLED, claim_number, win_number, lines, envy)


def round_end(round_number: int) -> "Event":
    return _event(numbers.ROUND_END, round_number)


def paid(round_number: int, seat: int, amount_cents: int, offset_ms: int) -> "Event":
    return _event(numbers.PAID, round_number, seat, amount_cents, offset_ms)


def taken_back(round_number: int, seat: int, amount_cents: int, offset_ms: int) -> "Event":
    return _event(numbers.TAKEN_BACK, round_number, seat, amount_cents, offset_ms)


def reversed_win(round_number: int, win_number: int) -> "Event":
    """Round 0: the win is not of the round under way."""
    return _event(numbers.REVERSED, round_number, win_number)


def reopened(round_number: int, method: int, role: int, ticket: bytes) -> "Event":
    return _event(numbers.REOPENED, round_number, method, role, ticket)


def voided(round_number: int, method: int, role: int, reason: str, ticket: bytes) -> "Event":
    return _event(numbers.VOIDED, round_number, method, role, reason, ticket)


def late_entry(role: int, ticket: bytes, asked: "list[Any]") -> "Event":
    """`asked` has the game's number, the reason, its bets, its joined seats, the bets that won."""
    number, reason, accepted, groups, settled = asked
    return _event(numbers.LATE_ENTRY, number, role, ticket, reason, accepted, groups, settled)


def joined(groups: "list[list[int]]") -> "Event":
    """Local: the seats that one player will hold in the next round."""
    return _event(JOINED, groups)


def entry(seat: int, letter: str, hand_id: str) -> "Event":
    """Local: the seat selected on a touch table, or the hand that waits for its seat."""
    return _event(ENTRY, seat, letter, hand_id)


def end_asked() -> "Event":
    """Local: END was pressed with something left to do, and the dealer was told."""
    return _event(END_ASKED)


def reopen_asked() -> "Event":
    """Local: the dealer asked to open the last game again, too late to do it alone."""
    return _event(REOPEN_ASKED)


def void_asked(reason: str) -> "Event":
    """Local: somebody asked to void the game, and a supervisor has to say so."""
    return _event(VOID_ASKED, reason)


def late_asked(
    round_number: int,
    reason: str,
    accepted: "list[str]",
    groups: "list[list[int]]",
    settled: "list[str]",
) -> "Event":
    """Local: somebody wants to enter a win of an earlier game; a supervisor has to say so."""
    return _event(LATE_ASKED, round_number, reason, accepted, groups, settled)


def blink(sensors: "list[str]") -> "Event":
    """Local: the spots that blink because a START without any bet found them in transition."""
    return _event(BLINK, sensors)
