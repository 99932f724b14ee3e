"""What each kind of event does to the books, once it is known to be new and in order.

One handler per kind. A handler returns the answers that belong to it, or raises `Refused` when the
event makes no sense; repeats, gaps and forks were sorted out before (`events`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from manager.counters import TableCounters
from manager.identity.seal_book import SealBook
from manager.late_chips import LateChips
from manager.ledger.book import Book
from manager.ledger.claims import Claim, ClaimState
from manager.ledger.entries import Origin
from manager.ledger.errors import Refused
from manager.ledger.rules import TableRules
from manager.units import Unit, Units
from protocol import events
from protocol.errors import ErrorCode
from protocol.fields import clipped
from protocol.messages import Award, Committed, Message
from protocol.rows import MeterValue

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Step:
    """One event's context: who sent it, under which rules, and the unit's own clocks."""

    unit: Unit
    rules: TableRules
    origin: Origin


class Steps:
    def __init__(self, book: Book, units: Units) -> None:
        self._book = book
        self._units = units
        self._seals = SealBook(book.store)
        self._counters = TableCounters(book.store)
        self._late_chips = LateChips(book.store)
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
        }

    def run(self, step: Step, body: events.EventBody) -> list[Message]:
        return self._handlers[body.KIND](step, body)

    def answer(self, claim: Claim) -> Message:
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
        accepted, joined = body.accepted, body.joined
        self._book.wagers(step.rules, body.round_number, accepted, step.origin, joined)
        self._count_wagers(step)
        return []

    def _count_wagers(self, step: Step) -> None:
        booked = self._book.rounds.latest(step.rules.table_id)
        assert booked is not None
        wagers = [step.rules.game(sensor).wager_cents for sensor in booked.accepted]
        self._counters.count_wagers(step.rules.table_id, booked.number, wagers)

    def _late_change(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.LateChange)
        latest = self._book.rounds.latest(step.rules.table_id)
        accepted = latest.accepted if latest and latest.number == body.round_number else ()
        sentence = self._late_chips.sentence(step.unit, step.origin, body, tuple(accepted))
        if sentence:
            self._book.alarms.record("LATE_CHIP", sentence, step.rules.table_id, step.origin)
        return []

    def _hand(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Hand)
        self._book.check_hand(step.rules, body.round_number, body.sensor, body.hand)
        return []

    def _claim(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Claim)
        claim = self._book.claim(step.rules, body, step.origin)
        return [self.answer(claim)]

    def _awarded(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Awarded)
        claim = self._book.claims.get(step.rules.table_id, body.claim_number)
        said = (body.lines, body.envy, body.role, body.frozen)
        if said != (claim.lines, claim.envy, claim.role, claim.frozen):
            raise Refused(
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
        self._refuse_expired_card(step, body)
        return [self.answer(self._book.commit(step.rules, body, step.origin))]

    def _refuse_expired_card(self, step: Step, body: events.Commit) -> None:
        """By the manager's own clock: the unit's may be wrong, and an older unit does not look."""
        settings, today = step.rules.settings, self._book.store.now_ms // DAY_MS
        for card, last_day in zip(settings.cards, settings.card_last_days, strict=False):
            if card.digest == body.card_digest and last_day and today > last_day:
                sentence = f"The card {card.label} has expired."
                raise Refused(sentence, ErrorCode.CARD_REFUSED)

    def _settled(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.Settled)
        claim = self._book.claims.get(step.rules.table_id, body.claim_number)
        said = (body.win_number, body.lines, body.envy)
        if claim.win_number == 0 or said != (claim.win_number, claim.lines, claim.envy):
            raise Refused(f"The unit settled claim {claim.number} with other amounts than booked.")
        self._book.claims.save(replace(claim, settled=True))
        if not claim.settled:
            lines = sum(line.amount_cents for line in body.lines)
            envy = sum(line.amount_cents for line in body.envy)
            self._counters.count_win(step.rules.table_id, lines + envy)
        return []

    def _round_end(self, step: Step, body: events.EventBody) -> list[Message]:
        assert isinstance(body, events.RoundEnd)
        self._book.end_round(step.rules, body.round_number, step.origin)
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
        self._units.successions.note_restored(step.unit)
        lost = f", {body.unreadable} could not be read" if body.unreadable else ""
        sentence = (
            f"The table goes on in round {body.round_number}: {body.salvaged} records were"
            f" salvaged{lost}."
        )
        self._book.alarms.record("RESTORED", sentence, step.rules.table_id, step.origin)
        return []
