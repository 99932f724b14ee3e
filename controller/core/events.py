"""Builds the events that the core emits: (kind, body), the body a map with the protocol's keys.

It alone knows which field has which number. It does not decide when an event happens, and it does
not journal, encode or send one.
"""

from controller.core import kinds

MYPY = False
if MYPY:
    from typing import Any

    from controller.core.shapes import AwardLine, EnvyLine, Event, Pair


# Fields that came with a later minor version of the protocol are numbered from 64.
JOINED_KEY = 64


def _event(kind: int, *values: "Any") -> "Event":
    return kind, {number + 1: values[number] for number in range(len(values))}


def fields(body: "dict[int, Any]", count: int) -> "list[Any]":
    """The body's first fields in the order of their numbers."""
    return [body[number + 1] for number in range(count)]


def round_start(
    round_number: int,
    accepted: "list[str]",
    refused: "list[str]",
    joined: "list[list[int]] | None" = None,
) -> "Event":
    """The groups of seats that one player holds are told only where there are any."""
    kind, body = _event(kinds.ROUND_START, round_number, accepted, refused)
    if joined:
        body[JOINED_KEY] = [list(group) for group in joined]
    return kind, body


def late_change(round_number: int, sensor: str, present: bool, offset_ms: int) -> "Event":
    return _event(kinds.LATE_CHANGE, round_number, sensor, present, offset_ms)


def hand(round_number: int, sensor: str, hand_id: str) -> "Event":
    return _event(kinds.HAND, round_number, sensor, hand_id)


def claim(round_number: int, claim_number: int, lines: "list[Pair]", frozen: bool) -> "Event":
    return _event(kinds.CLAIM, round_number, claim_number, lines, frozen)


def awarded(
    claim_number: int, lines: "list[AwardLine]", envy: "list[EnvyLine]", role: int, frozen: bool
) -> "Event":
    return _event(kinds.AWARDED, claim_number, lines, envy, role, frozen)


def cancel(round_number: int, claim_number: int) -> "Event":
    return _event(kinds.CANCEL, round_number, claim_number)


def commit(
    round_number: int, claim_number: int, method: int, card_digest: bytes, role: int
) -> "Event":
    return _event(kinds.COMMIT, round_number, claim_number, method, card_digest, role)


def settled(
    claim_number: int, win_number: int, lines: "list[AwardLine]", envy: "list[EnvyLine]"
) -> "Event":
    return _event(kinds.SETTLED, claim_number, win_number, lines, envy)


def round_end(round_number: int) -> "Event":
    return _event(kinds.ROUND_END, round_number)


def joined(groups: "list[list[int]]") -> "Event":
    """Local: the seats that one player will hold in the next round."""
    return _event(kinds.JOINED, groups)


def entry(seat: int, letter: str, hand_id: str) -> "Event":
    """Local: the seat selected on a touch table, or the hand that waits for its seat."""
    return _event(kinds.ENTRY, seat, letter, hand_id)


def blink(sensors: "list[str]") -> "Event":
    """Local: the spots that blink because a START without any bet found them in transition."""
    return _event(kinds.BLINK, sensors)
