"""The events that the portable core builds are events of the wire, field by field."""

from __future__ import annotations

import re
from typing import Any

import pytest

from controller.core.round import events as core_events
from protocol import numbers
from protocol.wire import events as wire_events
from protocol.wire import rows

# RoundStart is ROUND_START, and so on.
KIND_NAMES = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event_type.__name__).upper(): kind
    for kind, event_type in wire_events.EVENT_TYPES.items()
}
LINES = [["6A", "four-of-a-kind", 30_000, "", 0], ["5A", "four-aces", 800_075, "main", 1]]
ENVY = [["2A", 11_000], ["5A", 1_000]]
CARD = bytes(range(16))

# Each event that the core can build, and the record that the wire must make of it.
EVENTS: list[tuple[Any, wire_events.EventBody]] = [
    (
        core_events.round_start(7, ["2A", "5A"], ["6A"], [[2, 5]], 200),
        wire_events.RoundStart(7, ("2A", "5A"), ("6A",), ((2, 5),), 200),
    ),
    (
        core_events.late_change(7, "4A", True, 1_250),
        wire_events.LateChange(7, "4A", True, 1_250),
    ),
    (core_events.hand(7, "5A", "four-aces"), wire_events.Hand(7, "5A", "four-aces")),
    (core_events.hand(7, "5A", ""), wire_events.Hand(7, "5A", "")),
    (
        core_events.claim(7, 3, [["5A", "four-aces"]], True),
        wire_events.Claim(7, 3, (rows.ClaimedHand("5A", "four-aces"),), True),
    ),
    (
        core_events.awarded(3, LINES, ENVY, 2, True),
        wire_events.Awarded(
            3,
            tuple(rows.AwardLine(*line) for line in LINES),
            tuple(rows.EnvyLine(*line) for line in ENVY),
            2,
            True,
        ),
    ),
    (core_events.cancel(7, 3), wire_events.Cancel(7, 3)),
    (core_events.commit(7, 3, 2, CARD, 2), wire_events.Commit(7, 3, 2, CARD, 2)),
    (core_events.commit(7, 3, 1, b"", 0), wire_events.Commit(7, 3, 1, b"", 0)),
    (
        core_events.settled(3, 41, LINES, ENVY),
        wire_events.Settled(
            3,
            41,
            tuple(rows.AwardLine(*line) for line in LINES),
            tuple(rows.EnvyLine(*line) for line in ENVY),
        ),
    ),
    (core_events.round_end(7), wire_events.RoundEnd(7)),
    (core_events.paid(7, 5, 800_075, 4_000), wire_events.Paid(7, 5, 800_075, 4_000)),
    (core_events.reversed_win(7, 41), wire_events.Reversed(7, 41)),
    (core_events.reopened(7, 1, 0, b""), wire_events.Reopened(7, 1, 0, b"")),
    (core_events.voided(7, 2, 1, "misdeal", CARD), wire_events.Voided(7, 2, 1, "misdeal", CARD)),
    (core_events.taken_back(7, 5, 10_000, 900), wire_events.TakenBack(7, 5, 10_000, 900)),
    (
        core_events.late_entry(1, CARD, [7, "misread", ["5A", "3A"], [[3, 5]], ["3A"]]),
        wire_events.LateEntry(7, 1, CARD, "misread", ("5A", "3A"), ((3, 5),), ("3A",)),
    ),
]


def test_every_kind_is_called_as_its_record_is() -> None:
    for name, kind in KIND_NAMES.items():
        assert (getattr(numbers, name), getattr(wire_events, name)) == (kind, kind), name


def test_a_kind_of_the_core_alone_can_never_be_taken_for_one_of_the_wire() -> None:
    assert max(wire_events.EVENT_TYPES) < numbers.LOCAL_KIND_MIN
    local = (
        core_events.entry(3, "", ""),
        core_events.blink(["3A"]),
        core_events.joined([[1, 2]]),
        core_events.end_asked(),
        core_events.reopen_asked(),
        core_events.void_asked("misdeal"),
        core_events.late_asked(7, "misread", ["5A"], [], []),
    )
    assert len({kind for kind, _body in local}) == len(local)
    for kind, _body in local:
        assert core_events.is_local(kind)


@pytest.mark.parametrize(
    ("event", "expected"), EVENTS, ids=[type(body).__name__ for _, body in EVENTS]
)
def test_an_event_of_the_core_is_an_event_of_the_wire(
    event: Any, expected: wire_events.EventBody
) -> None:
    kind, body = event
    assert kind == expected.KIND
    parsed = wire_events.parse(kind, body)
    assert parsed == expected
    # And back: what the journal gives the core at a restart is what the core made.
    again = parsed.to_body()
    assert list(again) == list(body)
    assert _plain(again) == _plain(body)


def test_the_core_builds_every_event_that_changes_a_round() -> None:
    """The others are recorded outside of the core and change no round."""
    built = {event[0] for event, _ in EVENTS}
    outside = {
        numbers.BOOT,
        numbers.FAULT,
        numbers.SETTINGS,
        numbers.REFUSED,
        numbers.SEAL,
        numbers.SERVICE,
        numbers.DEALT,
        numbers.SHOWN,
        numbers.CHECKED,
        numbers.DIVERGED,
    }
    outside |= {
        numbers.RESTORED
    }  # it names the round and the claim that a new journal goes on from
    assert built | outside == set(wire_events.EVENT_TYPES)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
