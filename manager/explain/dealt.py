"""The cards beside a win: what the shuffler recognised at each paid spot, and what was made of it.

It reads the unit's own events back, from the one that paid the win to the START of its round. They
are evidence and explain no cent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from manager.ledger.store.entries import Kind
from manager.ledger.store.ledger import Ledger
from manager.ledger.wins import Win
from protocol.numbers import HAND_AGREES
from protocol.proof.chain import decode_body
from protocol.sensor_id import seat_of
from protocol.wire import events

READ_AT_ONCE = 64
READ_MAX = 2048  # more events than any round has


@dataclass(frozen=True)
class DealtHand:
    sensor: str
    cards: tuple[str, ...]
    verdict: str  # "agrees", "differs", or "" when nobody could tell
    seen: str  # the hand that the cards are paid as, "" for none


def dealt_hands(store: Ledger, win: Win) -> tuple[DealtHand, ...]:
    """One for each paid spot whose cards were recognised."""
    cards: dict[int, tuple[str, ...]] = {}
    checks: dict[str, tuple[str, str]] = {}
    deal = 0
    for body in _told_before_payment(store, win):
        if isinstance(body, events.Shown):
            deal = deal or body.deal_number
            if body.deal_number == deal:
                cards.setdefault(body.seat, body.cards)
        elif isinstance(body, events.Checked) and body.claim_number == win.claim_number:
            for hand in body.hands:
                verdict = "agrees" if hand.verdict == HAND_AGREES else "differs"
                checks.setdefault(hand.sensor, (verdict, hand.seen))
    return tuple(
        DealtHand(line.sensor, cards[seat_of(line.sensor)], *checks.get(line.sensor, ("", "")))
        for line in win.lines
        if seat_of(line.sensor) in cards
    )


def _told_before_payment(store: Ledger, win: Win) -> Iterator[events.EventBody]:
    """What the shuffler and its check came to in this round, newest first."""
    found = store.newest_everywhere(
        "SELECT e.unit_id, e.journal_id, e.sequence FROM transactions t"
        " JOIN events e ON e.unit_id = t.unit_id AND e.sequence = t.event_sequence"
        " AND e.digest = t.event_digest"
        " WHERE t.table_id = ? AND t.round_number = ? AND t.claim_number = ? AND t.kind = ?"
        " ORDER BY t.number DESC LIMIT 1",
        (win.table_id, win.round_number, win.claim_number, Kind.AWARD),
        1,
    )
    if not found:
        return  # entered by people at the manager: no table told anything of it
    ((unit_id, journal_id, before),) = found
    for _ in range(READ_MAX // READ_AT_ONCE):
        rows = store.newest_everywhere(
            "SELECT sequence, kind, body FROM events WHERE unit_id = ? AND journal_id = ?"
            " AND sequence < ? ORDER BY sequence DESC LIMIT ?",
            (unit_id, journal_id, before, READ_AT_ONCE),
            READ_AT_ONCE,
        )
        for _sequence, kind, encoded in rows:
            if kind == events.ROUND_START:
                return
            if kind in (events.SHOWN, events.CHECKED):
                yield events.parse(kind, decode_body(encoded))
        if len(rows) < READ_AT_ONCE:
            return
        before = rows[-1][0]
