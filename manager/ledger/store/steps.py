"""Steps: what one event or one act does to the books, all of it or nothing.

It alone knows the step under way: its moment, its cause, its entries. A step that is refused is
taken back; one that stands becomes transactions of the hash chain, and every row that it changed
beside the money goes with its last transaction. What makes it durable is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from manager.ledger.engines.engine import Reader, Tail
from manager.ledger.engines.relations import (
    EVENTS,
    POSTINGS,
    TRANSACTIONS,
    Key,
    Relation,
    Row,
    Where,
)
from manager.ledger.store.chain import NO_EVENT, Recorded, Taken, next_digest
from manager.ledger.store.changes import packed
from manager.ledger.store.commits import Commits
from manager.ledger.store.entries import (
    BY_THE_MANAGER,
    EventSource,
    Reference,
    check_texts,
)
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.memory import Memory

_NOWHERE = Reference()
_tuple = tuple.__new__  # a named tuple's own way costs twice, and every event makes several


class Steps(Ledger):
    """The books in memory, changed step by step."""

    def __init__(
        self, reader: Reader, memory: Memory, commits: Commits, clock_ms: Callable[[], int]
    ) -> None:
        super().__init__(reader)
        self._memory = memory
        self.newest_at = memory.newest_at  # for who asks for a newest row again and again
        self.held_rows = memory.held_rows
        self._commits = commits
        self._tail = commits.durable_tail
        self._clock_ms = clock_ms
        self.last_commit_ms = 0  # of the newest step, 0 before the first
        self._step_ms: int | None = None  # of the one under way
        self._entries: list[Recorded] = []
        self._cause = BY_THE_MANAGER
        self._event = NO_EVENT
        self._depth = 0  # of transactions inside one another
        self._step, self._part = _Step(self), _Part(self)

    @property
    def now_ms(self) -> int:
        """One moment for all of a step, and never before an earlier one."""
        now_ms = self._step_ms
        return max(self._clock_ms(), self.last_commit_ms) if now_ms is None else now_ms

    @property
    def is_in_step(self) -> bool:
        return self._depth > 0

    def transaction(self) -> AbstractContextManager[None]:
        """One step, all or nothing; inside another one, all or nothing of the inner part."""
        return self._part if self._depth else self._step

    def take_in(self, origin: EventSource, journal_id: bytes, kind: int, body: bytes) -> None:
        """The step under way takes this event in: its last transaction keeps it."""
        self._cause, self._event = origin, (journal_id, kind, body)

    # -- rows --------------------------------------------------------------------------------

    def put(self, relation: Relation, row: Row, said: bool = True) -> None:
        """Another row or value; `said` is False when the chain tells it in another way."""
        check_texts(row)
        if self._depth:  # one change needs no savepoint of its own: it is made or it is not
            self._memory.put(relation, row, said)
            return
        with self.transaction():
            self._memory.put(relation, row, said)

    def remove(self, relation: Relation, *key: Any) -> None:
        with self.transaction():
            self._memory.remove(relation, key)

    def update(self, relation: Relation, key: Key, said: bool = True, **values: Any) -> None:
        """Other values in some columns of a row that is there."""
        check_texts(values.values())
        if self._depth:
            self._memory.update(relation, key, said, **values)
            return
        with self.transaction():
            self._memory.update(relation, key, said, **values)

    def find(
        self,
        relation: Relation,
        where: Where,
        newest: int | None = None,
        below: int | None = None,
    ) -> list[Row]:
        found = self._memory.find(relation, where, newest, below)
        own = self._own_rows(relation) if self._depth else []
        if not own:
            return found
        last = relation.key_count - 1
        within = [row for row in own if below is None or row[last] < below]
        found += [row for row in within if relation.matches(row, where)]
        found.sort(key=relation.key_of, reverse=newest is not None)
        return found[:newest]

    def get(self, relation: Relation, *key: Any) -> Row | None:
        if self._depth and relation.append_only:
            for row in self._own_rows(relation):
                if relation.key_of(row) == key:
                    return row
        return self._memory.get(relation, *key)

    def newest(self, relation: Relation, **where: Any) -> Row | None:
        """The row with the highest key; the relation says by which columns it may be asked for."""
        return self.newest_at(relation, (tuple(where), tuple(where.values())))

    def live(self, relation: Relation) -> list[Row]:
        return self._memory.live(relation)

    def tail(self) -> Tail:
        """The newest transaction's number and digest; 0 and the genesis digest at first."""
        return self._tail

    # -- inside ------------------------------------------------------------------------------

    @property
    def _next_number(self) -> int:
        return self._tail.number + len(self._entries) + 1

    def begin_step(self) -> None:
        """For `transaction` alone, as the four below."""
        self._commits.check()
        self._step_ms = self.now_ms
        self._depth = 1

    def chain_step(self) -> None:
        """Everything of the step was done: it stands."""
        entries, cause, now_ms = self._entries, self._cause, self.now_ms
        changes = packed(self._memory.changed(), now_ms)
        if not entries and (changes or cause is not BY_THE_MANAGER):
            entries.append(_note(self._tail.number + 1, now_ms, cause))
        added: tuple[tuple[Relation, list[Row]], ...] = ()
        if entries:
            if changes:
                entries[-1] = _tuple(Recorded, (*entries[-1][:-1], changes))
            assert cause is BY_THE_MANAGER or entries[-1].origin == cause, "its event would be lost"
            postings, events = self._own_rows(POSTINGS), self._own_rows(EVENTS)
            chained = _chained(self._tail.digest, entries, self._event)
            self._tail = _tuple(Tail, (chained[-1][0], chained[-1][-1]))
            added = ((TRANSACTIONS, chained), (POSTINGS, postings), (EVENTS, events))
        self.last_commit_ms = now_ms
        self._memory.end_step(added)

    def _own_rows(self, relation: Relation) -> list[Row]:
        """What the step under way adds to the history, in the order of the keys.

        Put together when it is asked for, or when the step stands: a round's own step never asks.
        """
        if relation is POSTINGS:
            return [
                (entry[0], position, account, moved)
                for entry in self._entries
                for position, (account, moved) in enumerate(entry.postings, start=1)
            ]
        if relation is TRANSACTIONS:
            return [row_of(entry, b"") for entry in self._entries]
        if relation is EVENTS and self._event is not NO_EVENT:
            unit_id, sequence, monotonic_ms, wall_ms, digest = self._cause
            said = (sequence, *self._event[1:], monotonic_ms, wall_ms, digest, self.now_ms)
            return [(unit_id, self._event[0], *said)]
        return []

    def end_step(self, stands: bool) -> None:
        self._depth = 0
        if not stands:
            self._memory.back_to(0)
        self._entries, self._step_ms = [], None
        self._cause, self._event = BY_THE_MANAGER, NO_EVENT
        if stands:
            self._commits.stands(self._tail)

    def begin_part(self) -> tuple[int, int]:
        self._depth += 1
        return self._memory.mark(), len(self._entries)

    def end_part(self, mark: tuple[int, int], stands: bool) -> None:
        self._depth -= 1
        if not stands:
            self._memory.back_to(mark[0])
            del self._entries[mark[1] :]


class _Part:
    """A part of a step: taken back when it is refused, whatever becomes of the rest.

    One for all parts of all steps, because every event has one: they end in turn.
    """

    __slots__ = ("_marks", "_steps")

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._marks: list[tuple[int, int]] = []  # of the parts under way, the innermost last

    def __enter__(self) -> None:
        self._marks.append(self._steps.begin_part())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._steps.end_part(self._marks.pop(), kind is None)


class _Step:
    """A whole step: chained when it is done, taken back when it or its chaining is refused."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def __enter__(self) -> None:
        self._steps.begin_step()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        stands = False
        try:
            if kind is None:
                self._steps.chain_step()
                stands = True
        finally:
            self._steps.end_step(stands)


def _note(number: int, now_ms: int, cause: EventSource) -> Recorded:
    """Moves no money: it carries what a step changed beside it, or that an event came."""
    kind = "NOTE" if cause is BY_THE_MANAGER else "EVENT"
    return Recorded(number, kind, _NOWHERE, "", "", now_ms, cause, ())


def _chained(digest: bytes, entries: list[Recorded], event: Taken) -> list[Row]:
    """The next links of the chain as rows; the last one keeps the event."""
    rows: list[Row] = []
    last = entries[-1]
    for recorded in entries:
        digest = next_digest(digest, recorded)
        rows.append(row_of(recorded, digest, event if recorded is last else NO_EVENT))
    return rows


def row_of(recorded: Recorded, digest: bytes, taken: Taken = NO_EVENT) -> Row:
    number, kind, reference, sentence, detail, commit_ms, origin, _, changes = recorded
    said = (sentence, detail, commit_ms)
    return (number, kind, *reference, *said, *origin, *taken, changes, digest)
