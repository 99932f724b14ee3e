"""Takes in the units' events, each exactly once.

One step holds the check against repeats, the money, the audit record and how far the unit's journal
has been taken: they are taken in together or not at all, and a batch of steps is made durable at
once. An event that makes no sense is kept, acknowledged and answered with an error, so that the
stream goes on and nothing is lost; a fork or a gap is not taken in. Sending the answers is the
server's part, after the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from manager.intake.context import EventContext
from manager.intake.counters import CounterWatch, TableCounters
from manager.intake.handlers import Handlers
from manager.intake.numbering import Numbering
from manager.intake.reversals import Reversals
from manager.intake.shuffler_advice import ShufflerAdvice
from manager.intake.units import Unit, Units
from manager.ledger.book import Book
from manager.ledger.claims import ClaimRecord, ClaimState, Refusal
from manager.ledger.corrections.voiding import ordered_void
from manager.ledger.engines.relations import EVENTS
from manager.ledger.errors import BookingRefused
from manager.ledger.store.entries import EventSource
from protocol.proof import lineage
from protocol.proof.chain import encoded_event_digest
from protocol.wire import events
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import clipped
from protocol.wire.messages import Error, Event, Hello, Message, error_for
from protocol.wire.rows import Counters

_tuple = tuple.__new__  # a named tuple's own way costs twice
# After a restore of the ledger units send again what it lost, faster than people deal.
SENT_AGAIN_WITHIN_MS = 24 * 3_600_000

_UNPAID = (ClaimState.OPEN, ClaimState.OWED)
# After these a table may be able to void its round that could not before.
_MAKES_ROOM = (events.CANCEL, events.REVERSED, events.TAKEN_BACK)


@dataclass(slots=True)
class Outcome:
    """What became of one event."""

    acked_sequence: int = 0  # 0: not taken in
    answers: list[Message] = field(default_factory=list)
    problem: ProtocolError | None = None  # ends the connection
    money_moved: bool = False


class Intake:
    def __init__(self, book: Book, units: Units) -> None:
        self._book = book
        self._units = units
        self._handlers = Handlers(book, units)
        self._counters = TableCounters(book.store)
        self._watch = CounterWatch(self._counters, book.alarms)
        self._numbering = Numbering(book)
        self.reversals = Reversals(book)
        self._shuffler = ShufflerAdvice(book.store)

    def take(self, batch: Sequence[tuple[str, Event]]) -> list[Outcome]:
        """Takes in (unit, event) pairs in order, as one batch; `when_durable` says when it is."""
        with self._book.store.commits.batch():
            return [self._take_one(unit_id, event) for unit_id, event in batch]

    def when_durable(self, then: Callable[[], None]) -> None:
        """Calls it as soon as everything that was taken in is durable."""
        self._book.store.commits.when_durable(then)

    def counters_for(self, unit: Unit, hello: Hello) -> tuple[Counters, ...]:
        """What this unit must have counted, too, up to its last event here.

        None when its journal is new, or when the ledger went back behind what it was acknowledged:
        a unit keeps no counters of so long ago.
        """
        is_behind = hello.acked_sequence > unit.last_sequence
        if is_behind or self._units.successions.awaits_restored(unit):
            return ()
        return (self._counters.of(unit.table_id),)

    def greeted(self, unit: Unit, hello: Hello) -> list[Message]:
        """What a unit is told right after its welcome: a difference, or where its table stands."""
        fresh = self._book.tails.was_restored_within(SENT_AGAIN_WITHIN_MS)
        self._handlers.rounds.again_until[unit.unit_id] = hello.acked_sequence if fresh else 0
        state = self._units.successions.state_for(unit)
        if state:
            self._watch.forget(unit)
            return state
        with self._book.store.transaction():
            problem = self._watch.told(unit, hello)
        return [problem] if problem else []

    def pending_answers(self, table_id: str) -> list[Message]:
        """What the unit may have missed: sent again after each welcome until it is confirmed."""
        claims = self._book.claims
        answers = [self._handlers.wins.answer(claim) for claim in claims.unanswered(table_id)]
        newest = claims.find(table_id, claims.last_number(table_id))
        latest = self._book.rounds.latest(table_id)
        if newest is None or newest.refusal is None:
            return answers
        is_past = latest is not None and newest.round_number < latest.number
        told_again = (*_UNPAID, ClaimState.REFUSED, ClaimState.BACKED_OUT)
        if newest.state in told_again and not is_past:
            answers.append(_refusal_message(newest.refusal, newest.number))
        return answers

    def ordered_voids(self, table_id: str) -> list[Message]:
        """That the round under way is to be void, until the unit has said that it is."""
        order = ordered_void(self._book, table_id)
        return [order] if order else []

    def untold_advice(self, unit: Unit) -> list[Message]:
        """What a shuffler's news of the last round come to, as far as the unit may not have it."""
        latest = self._book.rounds.latest(unit.table_id)
        if latest is None:
            return []
        claims = self._book.claims
        # Only its own: a win that two people recorded again is no claim that the table knows.
        last = claims.last_number(unit.table_id)
        own = [e for e in claims.of_round(unit.table_id, latest.number) if e.number <= last]
        standing = [each for each in own if each.state in (*_UNPAID, ClaimState.COMMITTED)]
        return self._shuffler.untold(unit, self._book.tables.rules(unit.table_id), standing)

    # -- exactly once ------------------------------------------------------------------------

    def _take_one(self, unit_id: str, event: Event) -> Outcome:
        with self._book.store.transaction():
            return self._take(unit_id, event)

    def _take(self, unit_id: str, event: Event) -> Outcome:
        unit = self._units.find(unit_id)
        if unit is None:  # another unit has taken its table over
            sentence = f"Unit {unit_id} serves no table any more."
            return Outcome(problem=ProtocolError(ErrorCode.UNKNOWN_UNIT, sentence))
        clocks = (event.monotonic_ms, event.wall_ms)
        origin = _tuple(EventSource, (unit_id, event.sequence, *clocks, event.digest))
        encoded, problem = b"", None
        try:
            encoded = event.encoded_body
        except ProtocolError as refused:  # a body that fits a frame but no journal
            problem = refused
        problem = self._sequence_problem(unit, event, encoded, problem)
        if problem is not None:
            self._note_problem(unit, problem, origin)
            return Outcome(problem=problem)
        if event.sequence <= unit.last_sequence:
            return Outcome(acked_sequence=unit.last_sequence)
        # Its unit's own chain proves an event, and the transaction that it causes names it.
        self._book.store.take_in(origin, unit.journal_id, event.kind, encoded)
        outcome = self._apply(unit, origin, event)
        self._units.advance(unit, event)
        outcome.acked_sequence = event.sequence
        problem_of_counting = self._watch.reached(unit, event.sequence)
        if problem_of_counting is not None:
            outcome.answers.append(problem_of_counting)
        return outcome

    def _sequence_problem(
        self, unit: Unit, event: Event, encoded: bytes, problem: ProtocolError | None
    ) -> ProtocolError | None:
        if unit.lock_sentence:
            return unit.lock_problem()
        if event.sequence > unit.last_sequence + 1:
            sentence = f"Event {event.sequence} came where {unit.last_sequence + 1} is next."
            return ProtocolError(ErrorCode.GAP, sentence)
        if problem is not None or self._expected_digest(unit, event, encoded) == event.digest:
            return problem
        sentence = (
            f"Event {event.sequence} of unit {unit.unit_id} does not belong to the journal known"
            " here: its disk was copied or restored."
        )
        return ProtocolError(ErrorCode.FORK, sentence)

    def _note_problem(self, unit: Unit, problem: ProtocolError, origin: EventSource) -> None:
        if problem.code == ErrorCode.FORK:
            self._units.lock(unit, problem.sentence, origin)
        else:
            self._book.alarms.record_once(
                problem.code.name, problem.sentence, unit.table_id, origin
            )

    def _expected_digest(self, unit: Unit, event: Event, encoded: bytes) -> bytes | None:
        """The digest this event must have: the one that is kept, or the next in the chain."""
        if event.sequence > unit.last_sequence:
            return encoded_event_digest(
                unit.last_digest,
                event.sequence,
                event.kind,
                encoded,
                event.monotonic_ms,
                event.wall_ms,
            )
        row = self._book.store.get(EVENTS, unit.unit_id, unit.journal_id, event.sequence)
        return row[EVENTS.place("digest")] if row else None

    # -- what an event does ------------------------------------------------------------------

    def _apply(self, unit: Unit, origin: EventSource, event: Event) -> Outcome:
        rules = self._book.tables.rules(unit.table_id)
        try:
            body = event.parse_body()
            lost_max = 0
            if lineage.EARLIER_PLACES_KEY in event.body:  # it was recorded before
                if self._units.successions.has_taken(unit, event.body):
                    return Outcome()  # it was taken in from the journal before this one
                lost_max = self._numbering.lost_max(unit, event.body)
            context = _tuple(EventContext, (unit, rules, origin, lost_max))
        except ProtocolError as problem:
            context = EventContext(unit, rules, origin)
            return self._refuse(context, None, problem.code, problem.sentence)
        try:
            with self._book.store.transaction():  # a refusal half-way leaves nothing behind
                answers = self._handlers.by_kind[event.kind](context, body)
                if event.kind in _MAKES_ROOM:
                    answers = [*answers, *self.ordered_voids(unit.table_id)]
        except BookingRefused as refused:
            return self._refuse(context, body, refused.code, refused.sentence)
        moved = event.kind in (events.ROUND_START, events.COMMIT, events.VOIDED)
        return Outcome(answers=answers, money_moved=moved)

    def _refuse(
        self, context: EventContext, body: events.EventBody | None, code: ErrorCode, sentence: str
    ) -> Outcome:
        table_id = context.rules.table_id
        self._book.alarms.record(code.name, sentence, table_id, context.origin)
        number = getattr(body, "claim_number", 0)
        refusal = Refusal(code, clipped(sentence), context.origin.sequence)
        if number:
            self._note_refusal(context, body, number, refusal)
        told = self.ordered_voids(table_id) if isinstance(body, events.Claim) else []
        return Outcome(answers=[_refusal_message(refusal, number), *told])

    def _note_refusal(
        self, context: EventContext, body: events.EventBody | None, number: int, refusal: Refusal
    ) -> None:
        """Keeps the refusal with its claim; a refused new claim still uses up its number."""
        claims, table_id = self._book.claims, context.rules.table_id
        claim = claims.find(table_id, number)
        if isinstance(body, events.Claim):
            if claim is None and self._numbering.uses_up(table_id, number, context.lost_max):
                claim = ClaimRecord(table_id, number, body.round_number, ClaimState.REFUSED)
                claims.save(replace(claim, refusal=refusal))
        elif claim is not None and claim.state in _UNPAID:
            claims.save(replace(claim, refusal=refusal))


def _refusal_message(refusal: Refusal, claim_number: int) -> Error:
    problem = ProtocolError(ErrorCode(refusal.code), refusal.sentence)
    return error_for(problem, refusal.sequence, claim_number)
