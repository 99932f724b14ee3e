"""The promises, each broken on purpose in one small place of the shipped code.

A mutation is what a hurried change could do. Each function patches it in through `monkeypatch`;
what must notice it is the storm, which knows nothing of mutations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import pytest

from controller.core.round import lock
from controller.core.round.decide import apply, decide, is_local
from controller.inputs.shuffler import ShufflerWatch
from controller.journal import file as journal_file
from controller.journal.recovery import opening
from controller.journal.side_tables import BesideRecords
from controller.keeper import RoundKeeper
from controller.link import link
from controller.table.answer import Answer
from manager.intake import shuffler_advice, units
from manager.intake.intake import Intake, Outcome
from manager.intake.reversals import Reversals
from manager.intake.succession import Successions
from manager.intake.win_events import WinEvents
from manager.ledger import pricing
from manager.ledger.awards import settling
from manager.ledger.awards.payments import Payments
from manager.ledger.claims import Claims, ClaimState
from manager.ledger.corrections import replacement, reversal, voiding
from manager.ledger.engines.engine import Batch, Fenced, OutcomeUnknown, StorageFailed
from manager.ledger.engines.relations import COUNTERS, ROUNDS, Relation, Row
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.store import accounts, steps
from manager.ledger.store.changes import packed
from manager.ledger.store.commits import Commits
from manager.ledger.store.entries import EventSource
from manager.ledger.store.memory import Memory
from manager.ledger.tails import Tails
from manager.ledger.terms import Jackpot
from manager.link.connection import Connection
from manager.link.group_commit import GroupCommit
from protocol.wire import events
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.framing import frame
from protocol.wire.messages import Ack, Committed, Event, Message
from sim.storage.disk import SimDisk

Patch = pytest.MonkeyPatch


def journal_syncs_less(patch: Patch) -> None:
    """synchronous=NORMAL on the unit: a commit is told before it is on the disk."""
    configure = journal_file._configure

    def mutated(connection: Any) -> None:
        configure(connection)
        connection.pragma("synchronous", "NORMAL")

    patch.setattr(journal_file, "_configure", mutated)


def ledger_syncs_less(patch: Patch) -> None:
    """synchronous=NORMAL on the manager: acknowledged before it is on the disk."""
    prepare = SqliteEngine._prepare

    def mutated(self: SqliteEngine, connection: Any) -> None:
        prepare(self, connection)
        connection.pragma("synchronous", "NORMAL")

    patch.setattr(SqliteEngine, "_prepare", mutated)


def acknowledge_before_commit(patch: Patch) -> None:
    """The receipt leaves as soon as an event has been read."""
    add = GroupCommit.add

    def mutated(self: GroupCommit, connection: Connection, event: Event) -> None:
        add(self, connection, event)
        connection.stream._writer.write(frame(Ack(event.sequence, 0).encode()))

    patch.setattr(GroupCommit, "add", mutated)


def dedupe_off(patch: Patch) -> None:
    """A repeated event does once more what it did."""
    take = Intake._take

    def mutated(self: Intake, unit_id: str, event: Event) -> Outcome:
        unit = self._units.find(unit_id)
        if unit is None or event.sequence > unit.last_sequence:
            return take(self, unit_id, event)
        origin = EventSource(
            unit_id, event.sequence, event.monotonic_ms, event.wall_ms, event.digest
        )
        self._book.store._cause = origin
        outcome = self._apply(unit, origin, event)
        outcome.acked_sequence = unit.last_sequence
        return outcome

    patch.setattr(Intake, "_take", mutated)


def light_before_journal(patch: Patch) -> None:
    """The round changes and the lights show it while the record is still on its way."""

    async def mutated(self: RoundKeeper, rules: Any, command: Any, spoken: str) -> Answer:
        happened, refusal = decide(self.state, rules, command)
        for kind, body in happened:
            apply(self.state, (kind, body))
        self._announce(Answer(True, ""), "")
        await self._make_durable([event for event in happened if not is_local(event[0])])
        return Answer(not refusal, refusal)

    patch.setattr(RoundKeeper, "_decide_and_act", mutated)


def round_forgotten(patch: Patch) -> None:
    """After a power cut the unit starts with an empty table, and its second copy says nothing."""
    restore = RoundKeeper.restore

    async def mutated(self: RoundKeeper) -> None:
        await restore(self)
        self.state.clear_round()

    async def nothing_to_repair(self: RoundKeeper) -> bool:
        return False

    patch.setattr(RoundKeeper, "restore", mutated)
    patch.setattr(RoundKeeper, "_repaired_memory", nothing_to_repair)


def _overlook(patch: Patch, code: ErrorCode) -> None:
    """The manager finds this problem with an event, and takes the event all the same."""
    problem = Intake._sequence_problem

    def mutated(self: Intake, *asked: Any) -> ProtocolError | None:
        found = problem(self, *asked)
        return None if found is not None and found.code == code else found

    patch.setattr(Intake, "_sequence_problem", mutated)


def fork_check_off(patch: Patch) -> None:
    """Whatever comes next in number is believed, whoever wrote it."""
    _overlook(patch, ErrorCode.FORK)
    patch.setattr(units, "_history_problem", lambda hello, known: None)


def disks_lie(patch: Patch) -> None:
    """Every disk says it has synced and has not: a consumer disk."""
    patch.setattr(SimDisk, "sync", lambda self, file: self.changing())


def resend_skipped(patch: Patch) -> None:
    """After a new connection the unit goes on with what is new, not with what is missing."""
    adopt = link.ManagerLink._adopt

    async def mutated(self: link.ManagerLink, welcome: Any) -> None:
        await adopt(self, welcome)
        self._sent_sequence = self._journal.last_sequence

    patch.setattr(link.ManagerLink, "_adopt", mutated)


def gap_check_off(patch: Patch) -> None:
    """The manager takes what comes, and the unit skips what was missing."""
    _overlook(patch, ErrorCode.GAP)
    resend_skipped(patch)


def receipt_priced_anew(patch: Patch) -> None:
    """The receipt of a booked win is made from the meters of the moment."""
    answer = WinEvents.answer

    def mutated(self: WinEvents, claim: Any) -> Message:
        message = answer(self, claim)
        if isinstance(message, Committed):
            lines = tuple(
                line._replace(amount_cents=line.amount_cents + 1) for line in message.lines
            )
            return dataclasses.replace(message, lines=lines)
        return message

    patch.setattr(WinEvents, "answer", mutated)


def wager_booked_again_after_a_cut(patch: Patch) -> None:
    """A unit that comes back in a round tells of its start once more."""
    restore = RoundKeeper.restore

    async def mutated(self: RoundKeeper) -> None:
        await restore(self)
        state = self.state
        if state.round_open:
            number = state.round_number + 1
            body = events.RoundStart(number, tuple(state.accepted), ()).to_body()
            await self._make_durable([(events.ROUND_START, body)])
            apply(state, (events.ROUND_START, body))

    patch.setattr(RoundKeeper, "restore", mutated)


def award_rounded_up(patch: Patch) -> None:
    """A percentage is paid to the next whole cent."""
    percent_of = pricing.percent_of
    patch.setattr(settling, "percent_of", lambda total, ppm: percent_of(total, ppm) + 1)


def answers_not_repeated(patch: Patch) -> None:
    """An award or a receipt is sent once, whether or not it arrived."""
    patch.setattr(Intake, "pending_answers", lambda self, table_id: [])


def starts_offline(patch: Patch) -> None:
    """START looks at everything but the link."""
    why_not = lock._why_not_started

    def mutated(state: Any, rules: Any) -> str:
        rules.link_up = rules.meters_fresh = True
        return str(why_not(state, rules))

    patch.setattr(lock, "_why_not_started", mutated)


def failed_write_acknowledged(patch: Patch) -> None:
    """The manager goes on after its disk could not sync, and waits for no disk any more."""
    take = GroupCommit._take

    def mutated(self: GroupCommit, batch: Any) -> Any:
        failed, self._failed = self._failed, lambda reason: None
        try:
            outcomes = take(self, batch)
        finally:
            self._failed, self._has_failed = failed, False
        if outcomes is None:
            return [Outcome(acked_sequence=event.sequence) for _, event in batch]
        return outcomes

    patch.setattr(GroupCommit, "_take", mutated)
    patch.setattr(Commits, "when_durable", lambda self, then: then())


def shared_award_not_divided(patch: Patch) -> None:
    """Each winner of a shared award is paid all of the meter, one after another."""
    patch.setattr(settling._Settling, "_sharers", lambda self, index: [])


def second_share_taken(patch: Patch) -> None:
    """A winner who was forgotten is paid although the award was divided already."""
    patch.setattr(Payments, "refuse_second_share", lambda *ignored: None)


def measured_on_what_is_left(patch: Patch) -> None:
    """Where everyone is paid in full, the second percentage is of what the first left."""

    def mutated(self: Any, pay: Any) -> int:
        return int(self.meters[pay.meter_id].total_microcents) if pay.percent_ppm else 0

    patch.setattr(settling._Settling, "_basis", mutated)


def earlier_claims_of_the_round_forgotten(patch: Patch) -> None:
    """Where everyone is paid in full, a second claim of the round is measured anew."""
    patch.setattr(Payments, "_in_round", lambda self, table_id, round_number, state: state)


def _taken_for_done(patch: Patch, problem: type[StorageFailed]) -> None:
    """A commit that ends so counts as done."""
    write = Commits._write

    def mutated(self: Commits, batch: Batch) -> None:
        commit = self._engine.commit
        try:
            commit(batch)
        except problem:
            return
        except OutcomeUnknown:
            if not self._engine.resolve(batch):
                write(self, batch)

    patch.setattr(Commits, "_write", mutated)


def fenced_owner_goes_on(patch: Patch) -> None:
    """A manager whose lease is gone acknowledges what it could not write."""
    _taken_for_done(patch, Fenced)


def unknown_outcome_taken_for_done(patch: Patch) -> None:
    """The answer of a commit was lost, and nobody asks what became of it."""
    _taken_for_done(patch, OutcomeUnknown)


def sent_before_durable(patch: Patch) -> None:
    """What rests on a late commit leaves at once."""

    async def at_once(self: Commits, number: int | None = None) -> None:
        return

    patch.setattr(Commits, "until_durable", at_once)
    patch.setattr(Commits, "when_durable", lambda self, then: then())


def tail_of_memory(patch: Patch) -> None:
    """The tail that is signed is that of memory, which a power cut can lose."""
    now = Tails.now

    def mutated(self: Tails) -> Any:
        commits = self._store.commits
        durable, commits._durable = commits._durable, self._store.tail()
        try:
            return now(self)
        finally:
            commits._durable = durable

    patch.setattr(Tails, "now", mutated)


def limit_overlooked(patch: Patch) -> None:
    """A wager goes on the meter although the posted limit is reached."""
    rate = Jackpot.rate

    def mutated(self: Jackpot, shown_microcents: int = 0) -> pricing.Rate:
        return dataclasses.replace(rate(self, shown_microcents), room_microcents=None)

    patch.setattr(Jackpot, "rate", mutated)


def reversal_leaves_the_meter(patch: Patch) -> None:
    """A win that is taken back is made good by the house, and its meter stays as it is."""
    undo = reversal._undo

    def mutated(book: Any, numbers: list[int]) -> Any:
        moved = undo(book, numbers)
        for account in [name for name in moved if accounts.meter_of(name)]:
            moved[accounts.HOUSE_SHORTFALL] += moved.pop(account)
        return moved

    patch.setattr(reversal, "_undo", mutated)


def reversal_not_told(patch: Patch) -> None:
    """A win is taken back in the books, and its table goes on as if it stood."""
    patch.setattr(Reversals, "untold", lambda self, unit: [])


def void_order_not_told(patch: Patch) -> None:
    """Two people order a game to be void, and its table never hears of it."""
    patch.setattr(Intake, "ordered_voids", lambda self, table_id: [])


def void_keeps_the_contribution(patch: Patch) -> None:
    """A void game's contribution stays on the meter, and the house gives the bet back."""
    patch.setattr(
        voiding, "_stays", lambda book, wager, part: bool(accounts.meter_of(part.account))
    )


def backed_out_win_stands(patch: Patch) -> None:
    """A claim is backed out in the chain, and is paid all the same when its card comes."""
    save = Claims.save

    def mutated(self: Claims, claim: Any) -> None:
        if claim.state is ClaimState.BACKED_OUT:
            claim = dataclasses.replace(claim, state=ClaimState.OPEN, refusal=None)
        save(self, claim)

    patch.setattr(Claims, "save", mutated)


def counted_without_an_entry(patch: Patch) -> None:
    """What a table has wagered changes in memory and on the disk, and no entry tells of it."""
    put = Memory.put

    def mutated(self: Memory, relation: Relation, row: Row, said: bool = True) -> None:
        put(self, relation, row, said and relation is not COUNTERS)

    patch.setattr(Memory, "put", mutated)


def entry_not_taken(patch: Patch) -> None:
    """An entry tells of a round that ended at another time than memory has it."""
    ended = ROUNDS.place("ended_ms")

    def mutated(changed: Iterable[Any], now_ms: int) -> bytes:
        told = []
        for name, key, before, after in changed:
            if name == ROUNDS.name and after is not None and after[ended]:
                after = (*after[:ended], after[ended] - 1, *after[ended + 1 :])
            told.append((name, key, before, after))
        return packed(told, now_ms)

    patch.setattr(steps, "packed", mutated)


def restore_forgets_the_undelivered(patch: Patch) -> None:
    """A new journal begins without what the damaged one had recorded and not delivered."""
    patch.setattr(BesideRecords, "salvage", lambda self: [])


def restore_forgets_the_round(patch: Patch) -> None:
    """A new journal begins without what the manager told of the round under way."""
    entries = opening.restored_entries

    def mutated(state: Any, told: Any, salvaged: Any, now: Any) -> Any:
        return entries(state, (), salvaged, now)

    patch.setattr(opening, "restored_entries", mutated)


def restored_records_count_again(patch: Patch) -> None:
    """The manager does not recognise what it took in from the damaged journal."""
    patch.setattr(Successions, "has_taken", lambda self, unit, body: False)


def shuffler_shows_another_seat(patch: Patch) -> None:
    """A hand that the shuffler showed is recorded for the seat beside."""
    event = ShufflerWatch._event

    def mutated(self: ShufflerWatch, message: Any) -> Any:
        body = event(self, message)
        if isinstance(body, events.Shown):
            return dataclasses.replace(body, seat=body.seat + 1)
        return body

    patch.setattr(ShufflerWatch, "_event", mutated)


def every_hand_agrees(patch: Patch) -> None:
    """The table is told that the cards agree with whatever was entered."""
    check = shuffler_advice.check_hand

    def mutated(*asked: Any) -> Any:
        found = check(*asked)
        return found and dataclasses.replace(found, agrees=True)

    patch.setattr(shuffler_advice, "check_hand", mutated)


def recorded_again_as_of_today(patch: Patch) -> None:
    """A win that is recorded again is drawn from the meter as it is, not as it was."""
    patch.setattr(
        replacement, "meters_before", lambda book, rules, n: book.jackpots.states(rules.meter_ids)
    )
