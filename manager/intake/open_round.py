"""What still matters of a round that is under way, of everything that was recorded about it.

A unit that replays these events stands exactly where the round stands. Hands that were turned off,
claims that were taken back and chips that moved again are history; they stay in the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocol.wire import events
from protocol.wire.messages import Event

_OF_A_CLAIM = (events.CLAIM, events.AWARDED, events.COMMIT, events.CANCEL, events.SETTLED)
# The receipt of a settled win says it all; an open claim needs each step it has taken.
_WHEN_SETTLED = (events.CLAIM, events.SETTLED)


def replayable_events(round_events: Sequence[Event]) -> list[Event]:
    """The events to replay, in order."""
    ends = {
        _claim_number(event): event.kind
        for event in round_events
        if event.kind in (events.CANCEL, events.SETTLED)
    }
    # Later events about a subject replace earlier ones, and a dict keeps the last.
    newest = {_subject(event): event for event in round_events}
    return [
        event for event in round_events if newest[_subject(event)] is event and _counts(event, ends)
    ]


def _subject(event: Event) -> tuple[object, ...]:
    """Events about the same subject replace one another."""
    if event.kind == events.HAND:
        return event.kind, event.body[2]
    if event.kind == events.LATE_CHANGE:
        return event.kind, event.body[2], event.body[3]  # coming and going each leave a mark
    if event.kind in (events.PAID, events.TAKEN_BACK):
        return event.kind, event.sequence  # each tick counts
    if event.kind == events.REVERSED:
        return event.kind, event.body[2]
    if event.kind in _OF_A_CLAIM:
        return event.kind, _claim_number(event)
    return (event.kind,)


def _counts(event: Event, ends: dict[int, int]) -> bool:
    if event.kind == events.HAND:
        return bool(event.body[3])
    if event.kind not in _OF_A_CLAIM:
        return True
    end = ends.get(_claim_number(event))
    if end == events.SETTLED:
        return event.kind in _WHEN_SETTLED
    return end != events.CANCEL


def _claim_number(event: Event) -> int:
    body = event.parse_body()
    number: int = getattr(body, "claim_number", 0)
    return number
