"""What a shuffler told of the round under way: hands, cards, and what the manager made of them.

It is advice, kept for people's eyes: no decision of the round reads it. After a power cut it comes
back from the journal, as far as the journal has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from controller.journal.record_table import RecordTable
from protocol.wire import events
from protocol.wire.messages import CoverAll
from protocol.wire.rows import CheckedHand, ColumnRow

CHECKS_RESTORED_MAX = 16


class DealtHands:
    def __init__(self) -> None:
        self.trouble = ""  # what is wrong with the feed, for people
        self.forget()

    def forget(self) -> None:
        """Another round: nothing was dealt in it yet."""
        self.round_number = 0
        self.deal_number = 0
        self.hand_count = 0  # 0: nobody told
        self.cards: dict[int, tuple[str, ...]] = {}  # by seat, 0 is the dealer
        self.column: tuple[ColumnRow, ...] = ()
        self.checks: dict[int, tuple[CheckedHand, ...]] = {}  # by claim

    def take(self, body: events.EventBody) -> None:
        """An event that is durable."""
        if isinstance(body, events.Dealt):
            self._begin(body.round_number, body.deal_number)
            self.hand_count = body.hand_count
        elif isinstance(body, events.Shown):
            self._begin(body.round_number, body.deal_number)
            self.cards[body.seat] = body.cards
        elif isinstance(body, events.Checked):
            self.checks[body.claim_number] = body.hands

    def knows(self, body: events.EventBody) -> bool:
        """Whether it says nothing new: a shuffler may repeat itself."""
        if isinstance(body, events.Dealt):
            told = (body.round_number, body.deal_number, body.hand_count)
            return told == (self.round_number, self.deal_number, self.hand_count)
        if isinstance(body, events.Shown):
            is_same_deal = (body.round_number, body.deal_number) == (
                self.round_number,
                self.deal_number,
            )
            return is_same_deal and self.cards.get(body.seat) == body.cards
        return False

    def use_column(self, column: CoverAll) -> None:
        """What Cover All pays; an answer about a deal that is over by now is no help."""
        if (column.round_number, column.hand_count) == (self.round_number, self.hand_count):
            self.column = tuple(column.rows)

    def _begin(self, round_number: int, deal_number: int) -> None:
        if (round_number, deal_number) == (self.round_number, self.deal_number):
            return
        checks = self.checks if round_number == self.round_number else {}
        self.forget()
        self.round_number, self.deal_number, self.checks = round_number, deal_number, checks


def told_in(records: RecordTable, round_number: int) -> list[events.EventBody]:
    """What the journal holds of this round's deal, oldest first. For the disk's worker."""
    found: list[tuple[int, events.EventBody]] = []
    for kind in (events.DEALT, events.SHOWN):
        for record in records.newest_first(kind):
            body = events.parse(kind, record.body)
            if getattr(body, "round_number", 0) != round_number:
                break
            found.append((record.sequence, body))
    # Which claims are of this round is known where they are shown.
    for record in islice(records.newest_first(events.CHECKED), CHECKS_RESTORED_MAX):
        found.append((record.sequence, events.parse(events.CHECKED, record.body)))
    return [body for _sequence, body in sorted(found, key=lambda each: each[0])]


def restored(bodies: Iterable[events.EventBody], hands: DealtHands) -> None:
    for body in bodies:
        hands.take(body)
