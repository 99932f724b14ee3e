"""What the events of a win do to the books: claim, award, commit, pay, and what is taken back."""

from __future__ import annotations

from dataclasses import replace

from manager.intake.context import EventContext, Handler
from manager.intake.counters import TableCounters
from manager.intake.handed_out import HandedOut
from manager.intake.numbering import Numbering
from manager.intake.reversals import Reversals
from manager.intake.shuffler_advice import ShufflerAdvice
from manager.ledger.book import Book
from manager.ledger.claims import ClaimRecord, ClaimState
from manager.ledger.corrections import late_entry
from manager.ledger.errors import BookingRefused
from protocol.wire import events
from protocol.wire.messages import Award, Committed, Message
from protocol.wire.rows import MeterValue


class WinEvents:
    def __init__(self, book: Book) -> None:
        self._book = book
        self._counters = TableCounters(book.store)
        self._numbering = Numbering(book)
        self._handed_out = HandedOut(book)
        self._reversals = Reversals(book)
        self._shuffler = ShufflerAdvice(book.store)
        self.handlers: dict[int, Handler] = {
            events.CLAIM: self._claim,
            events.AWARDED: self._awarded,
            events.CANCEL: self._cancel,
            events.COMMIT: self._commit,
            events.SETTLED: self._settled,
            events.PAID: self._paid,
            events.TAKEN_BACK: self._taken_back,
            events.REVERSED: self._reversed,
            events.DEALT: self._dealt,
            events.SHOWN: self._only_kept,
            events.CHECKED: self._only_kept,
        }

    def answer(self, claim: ClaimRecord) -> Message:
        """The Award or the Committed that belongs to the claim as it stands."""
        if claim.state is not ClaimState.COMMITTED:
            return Award(claim.number, claim.lines, claim.envy, claim.role, claim.frozen)
        meter_ids = self._book.tables.rules(claim.table_id).meter_ids
        meters = tuple(
            MeterValue(meter_id, self._book.jackpots.state(meter_id).shown_cents)
            for meter_id in meter_ids
        )
        return Committed(claim.number, claim.win_number, claim.lines, claim.envy, meters)

    def _claim(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Claim)
        claim = late_entry.claim(self._book, context.rules, body, context.origin)
        return [*self._shuffler.check(context.unit, context.rules, body), self.answer(claim)]

    def _awarded(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Awarded)
        claim = self._book.claims.get(context.rules.table_id, body.claim_number)
        said = (body.lines, body.envy, body.role, body.frozen)
        if said != (claim.lines, claim.envy, claim.role, claim.frozen):
            raise BookingRefused(
                f"The unit shows other amounts for claim {claim.number} than it was sent."
            )
        self._book.claims.save(replace(claim, awarded=True))
        return []

    def _cancel(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Cancel)
        self._book.cancel(context.rules, body.round_number, body.claim_number, context.origin)
        return []

    def _commit(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Commit)
        return [self.answer(late_entry.commit(self._book, context.rules, body, context.origin))]

    def _settled(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Settled)
        claim = self._book.claims.get(context.rules.table_id, body.claim_number)
        said = (body.win_number, body.lines, body.envy)
        if claim.win_number == 0 or said != (claim.win_number, claim.lines, claim.envy):
            raise BookingRefused(
                f"The unit settled claim {claim.number} with other amounts than booked."
            )
        self._book.claims.save(replace(claim, settled=True))
        if not claim.settled:
            lines = sum(line.amount_cents for line in body.lines)
            envy = sum(line.amount_cents for line in body.envy)
            self._counters.count_win(context.rules.table_id, lines + envy)
        return []

    def _paid(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Paid)
        self._handed_out.check(context.unit, body)
        return []

    def _taken_back(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.TakenBack)
        self._handed_out.check_back(context.unit, body)
        return []

    def _reversed(self, context: EventContext, body: events.EventBody) -> list[Message]:
        """The unit knows; a receipt may come twice."""
        assert isinstance(body, events.Reversed)
        table_id, number = context.rules.table_id, body.round_number
        if number and late_entry.taken_up(self._book, table_id, number) is None:
            self._numbering.check_latest(table_id, number)
        wrong = self._reversals.check(context.unit, body)
        if wrong:
            raise BookingRefused(wrong)
        return []

    def _dealt(self, context: EventContext, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Dealt)
        return list(self._shuffler.column(body))

    def _only_kept(self, context: EventContext, body: events.EventBody) -> list[Message]:
        """Advice of a shuffler, and its receipt: they stay beside the win and ask for nothing."""
        return []
