"""What the events of a round do to the books: wagers, late chips, its end, its second beginning."""

from __future__ import annotations

from kit.words.numbers import money
from manager.intake.context import EventContext, Handler
from manager.intake.counters import TableCounters
from manager.intake.late_chips import LateChips
from manager.intake.numbering import Numbering
from manager.intake.pace import Pace
from manager.ledger.book import Book
from manager.ledger.corrections import late_entry
from manager.ledger.corrections.voiding import (
    check_reopening,
    is_voided,
    lapse_order,
    void_round,
)
from manager.ledger.errors import BookingRefused
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.fields import clipped
from protocol.wire.messages import Error, Message


class RoundEvents:
    def __init__(self, book: Book) -> None:
        self._book = book
        self._counters = TableCounters(book.store)
        self._late_chips = LateChips(book.store)
        self._numbering = Numbering(book)
        self._pace = Pace(book)
        # Up to which event a unit says that it was acknowledged before.
        self.again_until: dict[str, int] = {}
        self.handlers: dict[int, Handler] = {
            events.ROUND_START: self._round_start,
            events.LATE_CHANGE: self._late_change,
            events.HAND: self._hand,
            events.ROUND_END: self._round_end,
            events.REOPENED: self._reopened,
            events.VOIDED: self._voided,
            events.LATE_ENTRY: self._late_entry,
        }

    def _round_start(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.RoundStart)
        self._numbering.check_start(context.rules.table_id, body.round_number, context.lost_max)
        # What was salvaged, or is sent to a restored ledger once more, comes all at once.
        is_again = context.origin.sequence <= self.again_until.get(context.unit.unit_id, 0)
        if not context.lost_max and not is_again:
            self._pace.check(context.rules, body.round_number)
        booked = self._book.start_round(context.rules, body, context.origin)
        wagers_cents = [game.wager_cents for game in booked.values()]
        self._counters.count_wagers(context.rules.table_id, body.round_number, wagers_cents)
        missing = [sensor for sensor in body.accepted if sensor not in booked]
        return self._wager_news(context, body, sum(wagers_cents), missing)

    def _wager_news(
        self,
        context: EventContext,
        body: events.RoundStart,
        booked_cents: int,
        missing: list[str],
    ) -> list[Message]:
        """Where bets or cents differ from what the unit says, the table hears of it at once."""
        if not missing and body.wagered_cents == booked_cents:
            return []
        sentence = _wager_sentence(body, booked_cents, missing)
        if not missing:  # each of those has its alarm already
            self._book.alarms.record("WAGER", sentence, context.rules.table_id, context.origin)
        return [Error(ErrorCode.WAGER, clipped(sentence), context.origin.sequence)]

    def _late_change(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.LateChange)
        self._numbering.check_latest(context.rules.table_id, body.round_number)
        accepted = self._book.rounds.get(context.rules.table_id, body.round_number).accepted
        sentence = self._late_chips.sentence(context.unit, context.origin, body, accepted)
        if sentence:
            self._book.alarms.record("LATE_CHIP", sentence, context.rules.table_id, context.origin)
        return []

    def _hand(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Hand)
        self._book.check_hand(context.rules, body.round_number, body.sensor, body.hand)
        return []

    def _round_end(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.RoundEnd)
        if lapse_order(self._book, context.rules.table_id, body.round_number):
            sentence = (
                f"Round {body.round_number} was over before its table could void it, as it was"
                " told to. Its bets stand."
            )
            self._book.alarms.record(
                "VOID_LAPSED", sentence, context.rules.table_id, context.origin
            )
        late_entry.end(self._book, context.rules, body.round_number, context.origin)
        return []

    def _reopened(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Reopened)
        if is_voided(self._book.store, context.rules.table_id, body.round_number):
            raise BookingRefused(f"Round {body.round_number} is void and stays so.")
        check_reopening(self._book, context.rules, body)
        self._book.reopen_round(context.rules, body.round_number, context.origin)
        return []

    def _voided(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Voided)
        void_round(self._book, context.rules, body, context.origin)
        return []

    def _late_entry(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.LateEntry)
        late_entry.take_up(self._book, context.rules, body, context.origin)
        return []


def _wager_sentence(body: events.RoundStart, booked_cents: int, missing: list[str]) -> str:
    number = body.round_number
    said, took = money(body.wagered_cents), money(booked_cents)
    if missing:
        names = ", ".join(missing)
        return f"Round {number}: {said} was wagered, {took} is booked, without {names}."
    return f"Round {number}: the table says {said} was wagered, {took} is booked."
