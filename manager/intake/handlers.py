"""What each kind of event does to the books, once it is known to be new and in order.

One handler per kind. A handler returns the answers that belong to it, or raises `BookingRefused`
when the event makes no sense; repeats, gaps and forks were sorted out before (`intake`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from manager.intake.counters import TableCounters
from manager.intake.handed_out import HandedOut
from manager.intake.late_chips import LateChips
from manager.intake.numbering import Numbering, check_restored
from manager.intake.pace import Pace
from manager.intake.reversals import Reversals
from manager.intake.seals import SealBook
from manager.intake.shuffler_advice import ShufflerAdvice
from manager.intake.units import Unit, Units
from manager.ledger.book import Book
from manager.ledger.claims import ClaimRecord, ClaimState
from manager.ledger.corrections import late_entry
from manager.ledger.corrections.voiding import check_reopening, is_voided, void_round
from manager.ledger.errors import BookingRefused
from manager.ledger.rules import TableRules
from manager.ledger.store.entries import EventSource
from manager.money import text_from_cents
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.fields import clipped
from protocol.wire.messages import Award, Committed, Error, Message
from protocol.wire.rows import MeterValue


class Step(NamedTuple):
    """One event's context: who sent it, under which rules, and the unit's own clocks."""

    unit: Unit
    rules: TableRules
    origin: EventSource
    lost_max: int = 0  # records that may be missing before it


class Steps:
    def __init__(self, book: Book, units: Units) -> None:
        self._book = book
        self._units = units
        self._seals = SealBook(book.store)
        self._counters = TableCounters(book.store)
        self._late_chips = LateChips(book.store)
        self._numbering = Numbering(book)
        self._pace = Pace(book)
        self._handed_out = HandedOut(book)
        self._reversals = Reversals(book)
        self._shuffler = ShufflerAdvice(book.store)
        # Up to which event a unit says that it was acknowledged before.
        self.again_until: dict[str, int] = {}
        self._handlers: dict[int, Callable[[Step, events.EventBody], list[Message]]] = {
            events.BOOT: self._boot,
            events.ROUND_START: self._round_start,
            events.LATE_CHANGE: self._late_change,
            events.HAND: self._hand,
            events.CLAIM: self._claim,
            events.AWARDED: self._awarded,
            events.CANCEL: self._cancel,
            events.COMMIT: self._commit,
            events.SETTLED: self._settled,
            events.ROUND_END: self._round_end,
            events.FAULT: self._fault,
            events.CONFIG: self._config,
            events.REFUSED: self._refused,
            events.SEAL: self._seal,
            events.SERVICE: self._service,
            events.RESTORED: self._restored,
            events.PAID: self._paid,
            events.TAKEN_BACK: self._taken_back,
            events.REVERSED: self._reversed,
            events.REOPENED: self._reopened,
            events.VOIDED: self._voided,
            events.LATE_ENTRY: self._late_entry,
            events.DEALT: self._dealt,
            events.SHOWN: self._only_kept,
            events.CHECKED: self._only_kept,
            events.DIVERGED: self._diverged,
        }

    def run(self, step: Step, body: events.EventBody) -> list[Message]:
        return self._handlers[body.KIND](step, body)

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

    def _boot(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Boot)
        self._units.note_software(step.unit, body.software)
        return []

    def _round_start(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.RoundStart)
        self._numbering.check_start(step.rules.table_id, body.round_number, step.lost_max)
        # What was salvaged, or is sent to a restored ledger once more, comes all at once.
        is_again = step.origin.sequence <= self.again_until.get(step.unit.unit_id, 0)
        if not step.lost_max and not is_again:
            self._pace.check(step.rules, body.round_number)
        self._book.start_round(step.rules, body, step.origin)
        return self._wager_news(step, body, self._count_wagers(step))

    def _count_wagers(self, step: Step) -> int:
        """What the booked bets cost together, in cents."""
        booked = self._book.rounds.latest(step.rules.table_id)
        assert booked is not None
        wagers = [step.rules.game(sensor).wager_cents for sensor in booked.accepted]
        self._counters.count_wagers(step.rules.table_id, booked.number, wagers)
        return sum(wagers)

    def _wager_news(self, step: Step, body: events.RoundStart, booked_cents: int) -> list[Message]:
        """Where bets or cents differ from what the unit says, the table hears of it at once."""
        booked = self._book.rounds.get(step.rules.table_id, body.round_number).accepted
        missing = [sensor for sensor in body.accepted if sensor not in booked]
        if not missing and body.wagered_cents == booked_cents:
            return []
        sentence = _wager_sentence(body, booked_cents, missing)
        if not missing:  # each of those has its alarm already
            self._book.alarms.record("WAGER", sentence, step.rules.table_id, step.origin)
        return [Error(ErrorCode.WAGER, clipped(sentence), step.origin.sequence)]

    def _late_change(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.LateChange)
        self._numbering.check_latest(step.rules.table_id, body.round_number)
        accepted = self._book.rounds.get(step.rules.table_id, body.round_number).accepted
        sentence = self._late_chips.sentence(step.unit, step.origin, body, accepted)
        if sentence:
            self._book.alarms.record("LATE_CHIP", sentence, step.rules.table_id, step.origin)
        return []

    def _hand(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Hand)
        self._book.check_hand(step.rules, body.round_number, body.sensor, body.hand)
        return []

    def _claim(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Claim)
        claim = late_entry.claim(self._book, step.rules, body, step.origin)
        return [*self._shuffler.check(step.unit, step.rules, body), self.answer(claim)]

    def _awarded(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Awarded)
        claim = self._book.claims.get(step.rules.table_id, body.claim_number)
        said = (body.lines, body.envy, body.role, body.frozen)
        if said != (claim.lines, claim.envy, claim.role, claim.frozen):
            raise BookingRefused(
                f"The unit shows other amounts for claim {claim.number} than it was sent."
            )
        self._book.claims.save(replace(claim, awarded=True))
        return []

    def _cancel(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Cancel)
        self._book.cancel(step.rules, body.round_number, body.claim_number, step.origin)
        return []

    def _commit(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Commit)
        return [self.answer(late_entry.commit(self._book, step.rules, body, step.origin))]

    def _settled(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Settled)
        claim = self._book.claims.get(step.rules.table_id, body.claim_number)
        said = (body.win_number, body.lines, body.envy)
        if claim.win_number == 0 or said != (claim.win_number, claim.lines, claim.envy):
            raise BookingRefused(
                f"The unit settled claim {claim.number} with other amounts than booked."
            )
        self._book.claims.save(replace(claim, settled=True))
        if not claim.settled:
            lines = sum(line.amount_cents for line in body.lines)
            envy = sum(line.amount_cents for line in body.envy)
            self._counters.count_win(step.rules.table_id, lines + envy)
        return []

    def _round_end(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.RoundEnd)
        late_entry.end(self._book, step.rules, body.round_number, step.origin)
        return []

    def _paid(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Paid)
        self._handed_out.check(step.unit, body)
        return []

    def _taken_back(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.TakenBack)
        self._handed_out.check_back(step.unit, body)
        return []

    def _reversed(self, step: Step, body: events.EventBody) -> list[Message]:
        """The unit knows; a receipt may come twice."""
        assert isinstance(body, events.Reversed)
        table_id, number = step.rules.table_id, body.round_number
        if number and late_entry.taken_up(self._book, table_id, number) is None:
            self._numbering.check_latest(table_id, number)
        wrong = self._reversals.check(step.unit, body)
        if wrong:
            raise BookingRefused(wrong)
        return []

    def _reopened(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Reopened)
        if is_voided(self._book.store, step.rules.table_id, body.round_number):
            raise BookingRefused(f"Round {body.round_number} is void and stays so.")
        check_reopening(self._book, step.rules, body)
        self._book.reopen_round(step.rules, body.round_number, step.origin)
        return []

    def _diverged(self, step: Step, body: events.EventBody) -> list[Message]:
        """What the table really did while a copy spoke for it: kept, told, and booked by people."""
        assert isinstance(body, events.Diverged)
        sentence = self._units.successions.describe_diverged(step.unit, body)
        if sentence:
            self._book.alarms.record("DIVERGED", sentence, step.rules.table_id, step.origin)
        return []

    def _voided(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Voided)
        void_round(self._book, step.rules, body, step.origin)
        return []

    def _late_entry(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.LateEntry)
        late_entry.take_up(self._book, step.rules, body, step.origin)
        return []

    def _dealt(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Dealt)
        return list(self._shuffler.column(body))

    def _only_kept(self, step: Step, body: events.EventBody) -> list[Message]:
        """Advice of a shuffler, and its receipt: they stay beside the win and ask for nothing."""
        return []

    def _fault(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Fault)
        sentence = body.sentence if body.raised else f"Cleared: {body.sentence}"
        where = f"{body.part}: " if body.part else ""
        alarms, table_id = self._book.alarms, step.rules.table_id
        alarms.record(body.code, clipped(where + sentence), table_id, step.origin)
        return []

    def _config(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Config)
        self._units.note_settings(step.unit, body.digest)
        if body.digest != step.rules.settings.digest():
            sentence = "The unit adopted settings that are not the ones of its table."
            self._book.alarms.record("SETTINGS", sentence, step.rules.table_id, step.origin)
        return []

    def _refused(self, step: Step, body: events.EventBody) -> list[Message]:
        """Refused input at the table is evidence in the audit trail and asks for no action."""
        assert isinstance(body, events.Refused)
        return []

    def _seal(self, step: Step, body: events.EventBody) -> list[Message]:
        """A seal that proves nothing is kept like a good one, and someone is told."""
        assert isinstance(body, events.Seal)
        unit, alarms = step.unit, self._book.alarms
        problem = self._seals.problem_with(unit.unit_id, unit.journal_id, body)
        if problem:
            alarms.record_once("SEAL", problem, step.rules.table_id, step.origin)
        for seen in body.tail:
            objection = self._book.tails.objection(seen)
            if objection:
                alarms.record_once("TAIL", objection, step.rules.table_id, step.origin)
        return []

    def _service(self, step: Step, body: events.EventBody) -> list[Message]:
        """Someone opened, tested or released the unit: worth a look, whoever it was."""
        assert isinstance(body, events.Service)
        who = body.tech or "Nobody in particular"
        sentence = clipped(f"{who} used {body.function}: {body.result}")
        self._book.alarms.record("SERVICE", sentence, step.rules.table_id, step.origin)
        return []

    def _restored(self, step: Step, body: events.EventBody) -> list[Message]:
        """The unit stands where the table stands; what it salvaged follows."""
        assert isinstance(body, events.Restored)
        check_restored(self._units.successions.told_to(step.unit), body)
        self._units.successions.note_restored(step.unit)
        late_entry.leave(self._book, step.rules.table_id)
        lost = f", {body.unreadable} could not be read" if body.unreadable else ""
        sentence = (
            f"The table goes on in round {body.round_number}: {body.salvaged} records were"
            f" salvaged{lost}."
        )
        self._book.alarms.record("RESTORED", sentence, step.rules.table_id, step.origin)
        return []


def _wager_sentence(body: events.RoundStart, booked_cents: int, missing: list[str]) -> str:
    number = body.round_number
    said, took = text_from_cents(body.wagered_cents), text_from_cents(booked_cents)
    if missing:
        names = ", ".join(missing)
        return f"Round {number}: {said} was wagered, {took} is booked, without {names}."
    return f"Round {number}: the table says {said} was wagered, {took} is booked."
