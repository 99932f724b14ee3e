"""Takes in the units' events, each exactly once.

One SQLite transaction holds the check against repeats, the money, the audit record and how far the
unit's journal has been taken: they commit together or not at all. An event that makes no sense is
kept, acknowledged and answered with an error, so that the stream goes on and nothing is lost; a
fork or a gap is not taken in. Sending the answers is the server's part, after the commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from manager.counters import CounterWatch, TableCounters
from manager.ledger.book import Book
from manager.ledger.claims import Claim, ClaimState, Refusal
from manager.ledger.entries import Origin
from manager.ledger.errors import Refused
from manager.steps import Step, Steps
from manager.units import Unit, Units
from protocol import events, profile
from protocol.chain import event_digest
from protocol.errors import ErrorCode, ProtocolError
from protocol.fields import clipped
from protocol.messages import Error, Event, Hello, Message, error_for
from protocol.rows import Counters


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
        self._steps = Steps(book, units)
        self._counters = TableCounters(book.store)
        self._watch = CounterWatch(self._counters, book.alarms)

    def take(self, batch: Sequence[tuple[str, Event]]) -> list[Outcome]:
        """Takes in (unit, event) pairs in order, in one durable transaction."""
        with self._book.store.transaction():
            return [self._take_one(unit_id, event) for unit_id, event in batch]

    def counters_for(self, unit: Unit) -> tuple[Counters, ...]:
        """What this unit must have counted, too, up to its last event here; none when it is new."""
        if self._units.successions.awaits_restored(unit):
            return ()
        return (self._counters.of(unit.table_id),)

    def greeted(self, unit: Unit, hello: Hello) -> list[Message]:
        """What a unit is told right after its welcome: a difference, or where its table stands."""
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
        answers = [self._steps.answer(claim) for claim in claims.unanswered(table_id)]
        newest = claims.find(table_id, claims.last_number(table_id))
        latest = self._book.rounds.latest(table_id)
        if newest is None or newest.refusal is None:
            return answers
        is_past = latest is not None and newest.round_number < latest.number
        if newest.state in (ClaimState.OPEN, ClaimState.REFUSED) and not is_past:
            answers.append(_refusal_message(newest.refusal, newest.number))
        return answers

    # -- exactly once ------------------------------------------------------------------------

    def _take_one(self, unit_id: str, event: Event) -> Outcome:
        unit = self._units.find(unit_id)
        if unit is None:  # another unit has taken its table over
            sentence = f"Unit {unit_id} serves no table any more."
            return Outcome(problem=ProtocolError(ErrorCode.UNKNOWN_UNIT, sentence))
        origin = Origin(unit_id, event.sequence, event.monotonic_ms, event.wall_ms, event.digest)
        problem = self._sequence_problem(unit, event)
        if problem is not None:
            self._note_problem(unit, problem, origin)
            return Outcome(problem=problem)
        if event.sequence <= unit.last_sequence:
            return Outcome(acked_sequence=unit.last_sequence)
        outcome = self._apply(Step(unit, self._book.tables.rules(unit.table_id), origin), event)
        self._keep(unit, event)
        self._units.advance(unit, event)
        outcome.acked_sequence = event.sequence
        problem_of_counting = self._watch.reached(unit, event.sequence)
        if problem_of_counting is not None:
            outcome.answers.append(problem_of_counting)
        return outcome

    def _sequence_problem(self, unit: Unit, event: Event) -> ProtocolError | None:
        if unit.locked:
            sentence = f"Unit {unit.unit_id} is locked: {unit.lock_sentence}"
            return ProtocolError(ErrorCode.LOCKED, sentence)
        if event.sequence > unit.last_sequence + 1:
            sentence = f"Event {event.sequence} came where {unit.last_sequence + 1} is next."
            return ProtocolError(ErrorCode.GAP, sentence)
        try:
            if self._expected_digest(unit, event) == event.digest:
                return None
        except ProtocolError as problem:  # a body that fits a frame but no journal
            return problem
        sentence = (
            f"Event {event.sequence} of unit {unit.unit_id} does not belong to the journal known"
            " here: its card was copied or restored."
        )
        return ProtocolError(ErrorCode.FORK, sentence)

    def _note_problem(self, unit: Unit, problem: ProtocolError, origin: Origin) -> None:
        if problem.code == ErrorCode.FORK:
            self._units.lock(unit, problem.sentence, origin)
        else:
            self._book.alarms.record_once(
                problem.code.name, problem.sentence, unit.table_id, origin
            )

    def _expected_digest(self, unit: Unit, event: Event) -> bytes | None:
        """The digest this event must have: the one that is kept, or the next in the chain."""
        if event.sequence > unit.last_sequence:
            return event_digest(
                unit.last_digest,
                event.sequence,
                event.kind,
                event.body,
                event.monotonic_ms,
                event.wall_ms,
            )
        row = self._book.store.row(
            "SELECT digest FROM events WHERE unit_id = ? AND journal_id = ? AND sequence = ?",
            (unit.unit_id, unit.journal_id, event.sequence),
        )
        return row[0] if row else None

    def _keep(self, unit: Unit, event: Event) -> None:
        self._book.store.execute(
            "INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?)",
            (
                unit.unit_id,
                unit.journal_id,
                event.sequence,
                event.kind,
                profile.encode(dict(event.body)),
                event.monotonic_ms,
                event.wall_ms,
                event.digest,
                self._book.store.now_ms,
            ),
        )

    # -- what an event does ------------------------------------------------------------------

    def _apply(self, step: Step, event: Event) -> Outcome:
        try:
            body = event.parse_body()
            if self._units.successions.has_taken(step.unit, event.body):
                return Outcome()  # it was taken in from the journal before this one
        except ProtocolError as problem:
            return self._refuse(step, None, problem.code, problem.sentence)
        try:
            with self._book.store.transaction():  # a refusal half-way leaves nothing behind
                answers = self._steps.run(step, body)
        except Refused as refused:
            return self._refuse(step, body, refused.code, refused.sentence)
        moved = event.kind in (events.ROUND_START, events.COMMIT)
        return Outcome(answers=answers, money_moved=moved)

    def _refuse(
        self, step: Step, body: events.EventBody | None, code: ErrorCode, sentence: str
    ) -> Outcome:
        table_id = step.rules.table_id
        self._book.alarms.record(code.name, sentence, table_id, step.origin)
        number = getattr(body, "claim_number", 0)
        refusal = Refusal(code, clipped(sentence), step.origin.sequence)
        if number:
            self._note_refusal(step, body, number, refusal)
        return Outcome(answers=[_refusal_message(refusal, number)])

    def _note_refusal(
        self, step: Step, body: events.EventBody | None, number: int, refusal: Refusal
    ) -> None:
        """Keeps the refusal with its claim; a refused new claim still uses up its number."""
        claims, table_id = self._book.claims, step.rules.table_id
        claim = claims.find(table_id, number)
        if isinstance(body, events.Claim):
            if claim is None and number > claims.last_number(table_id):
                claim = Claim(table_id, number, body.round_number, ClaimState.REFUSED)
                claims.save(replace(claim, refusal=refusal))
        elif claim is not None and claim.state is ClaimState.OPEN:
            claims.save(replace(claim, refusal=refusal))


def _refusal_message(refusal: Refusal, claim_number: int) -> Error:
    problem = ProtocolError(ErrorCode(refusal.code), refusal.sentence)
    return error_for(problem, refusal.sequence, claim_number)
