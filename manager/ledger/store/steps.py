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
from manager.ledger.engines.relations import EVENTS, TRANSACTIONS, Key, Relation, Row, Where
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


class Steps(Ledger):
    """The books in memory, changed step by step."""

    def __init__(
        self, reader: Reader, memory: Memory, commits: Commits, clock_ms: Callable[[], int]
    ) -> None:
        super().__init__(reader)
        self._memory = memory
        self._commits = commits
        self._tail = commits.durable_tail
        self._clock_ms = clock_ms
        self.last_commit_ms = 0  # of the newest step, 0 before the first
        self._step_ms: int | None = None  # of the one under way
        self._entries: list[Recorded] = []
        self._cause = BY_THE_MANAGER
        self._event = NO_EVENT
        self._depth = 0  # of transactions inside one another

    @property
    def now_ms(self) -> int:
        """One moment for all of a step, and never before an earlier one."""
        if self._step_ms is None:
            return max(self._clock_ms(), self.last_commit_ms)
        return self._step_ms

    @property
    def is_in_step(self) -> bool:
        return self._depth > 0

    def transaction(self) -> AbstractContextManager[None]:
        """One step, all or nothing; inside another one, all or nothing of the inner part."""
        return _Part(self) if self._depth else _Step(self)

    def take_in(self, origin: EventSource, journal_id: bytes, kind: int, body: bytes) -> None:
        """The step under way takes this event in: its last transaction keeps it."""
        self._cause, self._event = origin, (journal_id, kind, body)
        _, sequence, *clocks, digest = origin
        place = (origin.unit_id, journal_id, sequence, kind, body)
        self._memory.add(EVENTS, (*place, *clocks, digest, self.now_ms))

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
        return self._memory.find(relation, where, newest, below)

    def get(self, relation: Relation, *key: Any) -> Row | None:
        return self._memory.get(relation, *key)

    def newest(self, relation: Relation, **where: Any) -> Row | None:
        """The row with the highest key, kept at hand."""
        return self._memory.newest(relation, **where)

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
        """For `transaction` alone, as the three below."""
        self._commits.check()
        self._step_ms = self.now_ms

    def chain_step(self) -> None:
        """Everything of the step was done: it stands."""
        entries, cause, tail = self._entries, self._cause, self._tail
        changes = packed(self._memory.changed(), self.now_ms)
        if not entries and (changes or cause is not BY_THE_MANAGER):
            entries.append(_note(tail.number + 1, self.now_ms, cause))
            self._memory.add(TRANSACTIONS, row_of(entries[0], b""))
        for recorded in entries[:-1]:
            tail = _chained(self._memory, tail, recorded, NO_EVENT)
        if entries:
            last = entries[-1]._replace(changes=changes) if changes else entries[-1]
            assert cause is BY_THE_MANAGER or last.origin == cause, "its event would be lost"
            tail = _chained(self._memory, tail, last, self._event)
        self._tail, self.last_commit_ms = tail, self.now_ms
        self._memory.end_step()

    def end_step(self, stands: bool) -> None:
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
    """A part of a step: taken back when it is refused, whatever becomes of the rest."""

    __slots__ = ("_mark", "_steps")

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def __enter__(self) -> None:
        self._mark = self._steps.begin_part()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._steps.end_part(self._mark, stands=kind is None)


class _Step:
    """A whole step: chained when it is done, taken back when it or its chaining is refused."""

    __slots__ = ("_mark", "_steps")

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def __enter__(self) -> None:
        self._steps.begin_step()
        self._mark = self._steps.begin_part()

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
            self._steps.end_part(self._mark, stands)
            self._steps.end_step(stands)


def _note(number: int, now_ms: int, cause: EventSource) -> Recorded:
    """Moves no money: it carries what a step changed beside it, or that an event came."""
    kind = "NOTE" if cause is BY_THE_MANAGER else "EVENT"
    return Recorded(number, kind, _NOWHERE, "", "", now_ms, cause, ())


def _chained(memory: Memory, tail: Tail, recorded: Recorded, taken: Taken) -> Tail:
    """The next link; its row stands there already, without its digest."""
    digest = next_digest(tail.digest, recorded)
    memory.complete(TRANSACTIONS, row_of(recorded, digest, taken))
    return Tail(recorded.number, digest)


def row_of(recorded: Recorded, digest: bytes, taken: Taken = NO_EVENT) -> Row:
    number, kind, reference, sentence, detail, commit_ms, origin, _, changes = recorded
    place, said = (number, kind, *reference), (sentence, detail, commit_ms)
    return (*place, *said, *origin, *taken, changes, digest)
