"""The portable core repeats the protocol's numbers because it imports nothing; here they meet."""

from __future__ import annotations

import re
from typing import Any

import pytest

from controller.core import events as core_events
from controller.core import kinds
from protocol import events as wire_events
from protocol import rows, settings

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
        core_events.round_start(7, ["2A", "5A"], ["6A"]),
        wire_events.RoundStart(7, ("2A", "5A"), ("6A",)),
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
]


def test_every_kind_has_the_same_name_and_number() -> None:
    for name, kind in KIND_NAMES.items():
        assert (getattr(kinds, name), getattr(wire_events, name)) == (kind, kind), name


def test_a_kind_of_the_core_alone_can_never_be_taken_for_one_of_the_wire() -> None:
    assert max(wire_events.EVENT_TYPES) < kinds.LOCAL_KIND_MIN
    for event in (core_events.entry(3, "", ""), core_events.blink(["3A"])):
        assert kinds.is_local(event[0])


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
    outside = {kinds.BOOT, kinds.FAULT, kinds.CONFIG, kinds.REFUSED, kinds.SEAL, kinds.SERVICE}
    outside |= {kinds.RESTORED}  # it names the round and the claim that a new journal goes on from
    assert built | outside == set(wire_events.EVENT_TYPES)


def test_roles_methods_and_kinds_of_pay_are_the_protocols() -> None:
    assert (kinds.METHOD_DEALER, kinds.METHOD_CARD, kinds.METHOD_KEY) == (
        wire_events.METHOD_DEALER,
        wire_events.METHOD_CARD,
        wire_events.METHOD_KEY,
    )
    assert (kinds.ROLE_DEALER, kinds.ROLE_SUPERVISOR, kinds.ROLE_EXECUTIVE) == (
        rows.ROLE_DEALER,
        rows.ROLE_SUPERVISOR,
        rows.ROLE_EXECUTIVE,
    )
    assert (kinds.SOURCE_TRAY, kinds.SOURCE_METER) == (rows.SOURCE_TRAY, rows.SOURCE_METER)
    assert (kinds.PAY_PERCENT, kinds.PAY_FOR_ONE) == (settings.PAY_PERCENT, settings.PAY_FOR_ONE)
    assert (kinds.WORKFLOW_TOUCH, kinds.WORKFLOW_KEYPAD) == (
        settings.WORKFLOW_TOUCH,
        settings.WORKFLOW_KEYPAD,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
