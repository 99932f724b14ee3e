"""What a technician is told of the link: bounded, in words, and without any secret."""

from __future__ import annotations

import pytest

from controller.link.history import (
    CHANGES_KEPT,
    FRAMES_KEPT,
    REASON_MAX,
    REASONS_MAX,
    LinkHistory,
)
from protocol.wire import events, messages
from protocol.wire.messages import Event, Message
from tests.kit.message_samples import SETTINGS_IN_FULL

TICKET = bytes(range(16))


def history() -> LinkHistory:
    clock = iter(range(1, 10_000))
    return LinkHistory(lambda: next(clock))


def event(body: events.EventBody) -> Event:
    return Event(1, body.KIND, body.to_body(), 5, 6, bytes(32))


def test_each_change_has_its_time_and_each_loss_is_counted() -> None:
    told = history()
    for up in (True, False, True, False):
        told.changed(up)
    view = told.view()
    assert view["changes"] == [[1, True], [2, False], [3, True], [4, False]]
    assert (view["losses"], told.loss_count) == (2, 2)


def test_the_oldest_changes_and_frames_go_first() -> None:
    told = history()
    for _ in range(CHANGES_KEPT + 3):
        told.changed(False)
    assert len(told.view()["changes"]) == CHANGES_KEPT
    assert told.view()["losses"] == CHANGES_KEPT + 3, "counted all the same"
    for number in range(1, FRAMES_KEPT + 3):
        told.received(messages.Ack(number, 0))
    frames = told.frames()
    assert len(frames) == FRAMES_KEPT
    assert frames[0]["hex"] == messages.Ack(3, 0).encode().hex()


def test_endings_are_counted_by_reason_and_no_peer_can_fill_the_memory() -> None:
    """Catches: a reason for each call, each as long as somebody else likes."""
    told = history()
    for number in range(REASONS_MAX + 5):
        told.ended(f"{number:03}" + "x" * REASON_MAX)
        told.ended(f"{number:03}" + "x" * REASON_MAX)
    endings = told.view()["endings"]
    assert len(endings) == REASONS_MAX
    assert set(endings.values()) == {2}
    assert {len(reason) for reason in endings} == {REASON_MAX}


def test_frames_are_told_with_their_bytes_and_who_sent_them() -> None:
    told = history()
    ack, round_end = messages.Ack(7, 0), event(events.RoundEnd(1))
    told.received(ack)
    told.sent(messages.Heartbeat(1, "open"))
    told.sent(round_end)
    assert told.frames() == [
        {"wall_ms": 1, "sent": False, "message": "Ack", "hex": ack.encode().hex()},
        {"wall_ms": 2, "sent": True, "message": "Event", "hex": round_end.encode().hex()},
    ]


@pytest.mark.parametrize(
    "message",
    [
        messages.Settings(SETTINGS_IN_FULL.digest(), SETTINGS_IN_FULL.encode()),
        messages.Swipe(1, 1, bytes(32)),
        messages.Verdict(1, 1, 2, "Executive 2", TICKET, False, ""),
        event(events.Commit(1, 1, 2, TICKET, 2)),
        event(events.Voided(1, 2, 1, "misdeal", TICKET)),
        event(events.Reopened(1, 2, 1, TICKET)),
    ],
    ids=lambda message: type(message).__name__,
)
def test_what_could_authorise_anything_is_named_and_has_no_bytes(message: Message) -> None:
    """Catches: a ticket in a bundle because the event says other things beside it."""
    told = history()
    told.sent(message)
    (frame,) = told.frames()
    assert (frame["message"], frame["hex"]) == (type(message).__name__, "")
