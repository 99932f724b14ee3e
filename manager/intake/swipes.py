"""Judges a swiped card from the proof that only its number can make, for what it was swiped for.

A right card gets a ticket, which the COMMIT then names. After too many wrong ones none is judged at
that table for a while; a restart of either end forgives none of them. The unit has its own count,
but whoever speaks with a unit's certificate need not keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manager.intake.units import Unit
from manager.ledger.book import Book
from manager.ledger.claims import ClaimState
from manager.ledger.corrections.late_entry import check_can_be_taken_up
from manager.ledger.corrections.voiding import check_can_be_void
from manager.ledger.errors import BookingRefused
from manager.ledger.rules import TableRules
from manager.ledger.store.entries import EventSource
from manager.ledger.swipes import SwipedCard
from manager.ledger.table_authority import CardKey
from protocol.numbers import (
    SWIPE_CABINET,
    SWIPE_CLAIM,
    SWIPE_LATE_ENTRY,
    SWIPE_TRAINING,
    SWIPE_VOID,
)
from protocol.secrets.cards import TICKET_BYTES, swipe_proof
from protocol.wire.messages import Swipe, Verdict

DAY_MS = 86_400_000
# Where a house sets no limit at its tables, trying cards over the wire still has this one.
WRONG_MAX, WITHIN_S, LOCKOUT_S = 20, 600, 600

UNKNOWN = "This card is not known at this table."
DISABLED = "This card is disabled."
EXPIRED = "This card has expired."


class SwipeJudge:
    def __init__(self, book: Book, random_bytes: Callable[[int], bytes]) -> None:
        self._book = book
        self._random_bytes = random_bytes

    def judge(self, unit: Unit, swipe: Swipe) -> Verdict:
        """In a transaction of its own: the ticket is durable before anybody hears of it."""
        rules = self._book.tables.rules(unit.table_id)
        with self._book.store.transaction():
            if unit.locked:
                return _no(swipe, unit.lock_problem().sentence)
            wait_s = self._wait_s(rules)
            if wait_s:
                return _no(swipe, f"Too many wrong cards. Wait {wait_s} s.")
            try:
                return self._judged(rules, unit, swipe, self._content(unit, swipe))
            except BookingRefused as refused:
                return _no(swipe, refused.sentence)

    def _judged(self, rules: TableRules, unit: Unit, swipe: Swipe, content: Any) -> Verdict:
        def proof_by(key: bytes) -> bytes:
            return swipe_proof(key, unit.unit_id, swipe.purpose, swipe.number, content)

        card = rules.authority.find(swipe.proof, proof_by)
        wrong = self._what_is_wrong(card)
        if card is None or wrong:
            self._note_wrong(unit, f"{card.label}: {wrong}" if card else wrong)
            return _no(swipe, wrong, is_wrong=True)
        if swipe.purpose == SWIPE_VOID:
            check_can_be_void(self._book, unit.table_id, swipe.number)
        ticket = self._random_bytes(TICKET_BYTES)
        given = SwipedCard(card.label, card.role)
        self._book.swipes.give(unit.table_id, swipe.purpose, swipe.number, given, ticket)
        return Verdict(swipe.purpose, swipe.number, card.role, card.label, ticket, False, "")

    def _content(self, unit: Unit, swipe: Swipe) -> Any:
        """What the table shows while the card is swiped; the proof covers it."""
        if swipe.purpose == SWIPE_CLAIM:
            claim = self._book.claims.get(unit.table_id, swipe.number)
            if claim.state not in (ClaimState.OPEN, ClaimState.OWED) or not claim.awarded:
                raise BookingRefused(f"Claim {claim.number} waits for no card.")
            return [[list(line) for line in claim.lines], [list(line) for line in claim.envy]]
        if swipe.purpose in (SWIPE_CABINET, SWIPE_TRAINING):
            return []
        if swipe.purpose == SWIPE_VOID:
            self._book.rounds.on(unit.table_id, swipe.number)
            return []
        if swipe.purpose == SWIPE_LATE_ENTRY:
            check_can_be_taken_up(self._book, unit.table_id, swipe.number)
            return []
        latest = self._book.rounds.latest(unit.table_id)
        if latest is None or latest.number != swipe.number or latest.is_on:
            raise BookingRefused(f"Round {swipe.number} is not the one that ended last.")
        return []

    def _what_is_wrong(self, card: CardKey | None) -> str:
        if card is None:
            return UNKNOWN
        if not card.enabled:
            return DISABLED
        is_past = card.last_day and self._book.store.now_ms // DAY_MS > card.last_day
        return EXPIRED if is_past else ""

    def _note_wrong(self, unit: Unit, sentence: str) -> None:
        self._book.swipes.note_wrong(unit.table_id)
        self._book.alarms.record("CARD", sentence, unit.table_id, EventSource(unit.unit_id))

    def _wait_s(self, rules: TableRules) -> int:
        """How long no card is judged any more, 0 when cards are judged."""
        settings = rules.settings
        limit = settings.wrong_cards_max or WRONG_MAX
        within_ms = (settings.wrong_cards_within_s or WITHIN_S) * 1000
        lockout_ms = (settings.card_lockout_s or LOCKOUT_S) * 1000
        wrong_ms = self._book.swipes.newest_wrong_ms(rules.table_id, limit)
        if len(wrong_ms) < limit or wrong_ms[0] - wrong_ms[-1] >= within_ms:
            return 0
        left_ms = wrong_ms[0] + lockout_ms - self._book.store.now_ms
        return max(0, (left_ms + 999) // 1000)


def _no(swipe: Swipe, sentence: str, is_wrong: bool = False) -> Verdict:
    return Verdict(swipe.purpose, swipe.number, 0, "", b"", is_wrong, sentence)
