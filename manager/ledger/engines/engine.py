"""What a storage engine does for the books: the whole interface, and nothing of any database.

The books live in memory. An engine makes a batch of their rows durable, all or nothing, gives them
back at a start, and looks up rows that memory does not hold. One manager writes at a time: it holds
the lease. Calls block until they are done. `commit` and `resolve` run on a writer's thread while
`find` and the readers are asked on another, over connections of their own; the rest is called while
nothing is under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from manager.ledger.engines.relations import Key, Relation, Row, Where


class StorageFailed(Exception):  # noqa: N818
    """The engine could not read or write. Final: the manager halts, and the units send again."""


class Fenced(StorageFailed):
    """Somebody else holds the lease now. Final: nothing of the batch was written by this call."""


class OutcomeUnknown(StorageFailed):
    """The answer to a commit was lost on its way: `resolve` finds out what became of it."""


NEVER = 1 << 62  # a number that no transaction reaches


class Tail(NamedTuple):
    """Where the chain ends: the newest transaction's number and digest.

    A signature over these two is what a unit or a report needs to hold the ledger to its word.
    """

    number: int
    digest: bytes


class LeaseWatcher:
    """Hears of the lease, on a thread of the engine's own. Whoever needs to know overrides it."""

    gave_up = False  # a commit without an answer is then resolved by nobody here

    def lost(self) -> None:
        """Somebody else has it, or may have: it could not be renewed in time."""

    def wanted(self, name: str) -> None:
        """A person asked to move the ledger to the manager of this name."""


class Owner(NamedTuple):
    """Whose lease it is, who hears of it, and where the owner keeps a database's archives.

    `tenancy_file` tells the next process whether this one has died; None where several serve in
    turn, for there another one may have the lease soon.
    """

    name: str = ""
    watcher: LeaseWatcher | None = None
    archive_folder: Path | None = None
    tenancy_file: Path | None = None


ALONE = Owner()


@dataclass(slots=True)
class Batch:
    """Rows that become durable together, and the step of the chain that they are.

    Each relation's rows stand once by key, with their last value, in the order of their first
    change; None says that the row goes. Rows of append-only relations are new, and never None.
    """

    previous: Tail
    newest: Tail
    rows: Mapping[str, Mapping[Key, Row | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the engine holds when a manager starts."""

    ledger_id: bytes
    tail: Tail | None  # None: no transaction yet
    rows: Mapping[str, Sequence[Row]]  # of relations held in memory: all, or the live ones


Rows = Callable[[str, Sequence[Any]], Iterator[Row]]


class Part(NamedTuple):
    """Where a reader finds a range of the chain: in itself, or in an archive."""

    rows: Rows
    prefix: str  # before a table's name
    first: int
    last: int


class Reader(Protocol):
    """A connection beside the writer's that can change nothing, for audits, reports and pages.

    It sees only what is durable. Queries are plain SQL that every engine
    understands, over the relations by their names, with `?` for each value.
    """

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]: ...

    def sources(self) -> Sequence[Rows]:
        """Who must be asked for all transactions, postings and events, oldest first.

        The last one is `rows` itself. Others are files with archived days that the database cannot
        read for itself.
        """

    def parts(self) -> Sequence[Part]:
        """The chain's ranges, oldest first; the last one is the ledger's own and has no end."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Everything that is read inside is of one moment."""

    def damage(self) -> str:
        """What the database itself finds wrong with its storage, "" when nothing; takes long."""

    def close(self) -> None: ...


class Engine(Protocol):
    def acquire(self) -> int | None:
        """Takes the lease: the new epoch, or None while somebody else holds it.

        Nothing else but `reader` may be called before. The epoch is greater each time where
        several processes can hold the lease in turn, and every commit is fenced by it.
        """

    def load(self) -> Loaded:
        """Everything that the books keep in memory, as of the last commit."""

    def commit(self, batch: Batch) -> None:
        """Makes the batch durable, all or nothing; returns only when a power cut cannot lose it.

        Refuses a batch whose `previous` is not the tail. Raises `Fenced` or `StorageFailed`, which
        are final, or `OutcomeUnknown`, after which only `resolve` may be called.
        """

    def resolve(self, batch: Batch) -> bool:
        """After `OutcomeUnknown`: True, the batch is durable; False, it is not and never will be.

        Found out by writing, so that a late commit of the lost connection fails. After False the
        same batch may be committed again.
        """

    def find(
        self,
        relation: Relation,
        where: Where,
        newest: int | None = None,
        below: int | None = None,
    ) -> list[Row]:
        """Durable rows in the order of their keys, or the `newest` ones, newest first.

        `below` bounds the last column of the key. For the few lookups that memory cannot answer.
        A commit under way on another thread is seen whole or not at all, and never waited for.
        """

    def reader(self) -> Reader: ...

    def close(self) -> None:
        """Gives the lease back. What was committed stays; nothing else is said to be."""
