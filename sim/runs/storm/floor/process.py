"""A manager's process in a storm: its ledger may be slow, lose an answer, or be another's now.

It alone knows what a lease is here. On a floor with several managers PostgreSQL decides who may
write; a storm has one file, so the taker closes the old owner's connection and every commit of the
old owner is refused from then on. What the old owner does then is shipped code.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec

from manager.app import Manager
from manager.clock import LedgerClock
from manager.ledger.engines.engine import Batch, Fenced, OutcomeUnknown
from protocol.proof.tail import TailSigner
from sim.floor.fold_watch import WatchedEngine
from sim.floor.late_writer import LateWriter
from sim.floor.manager import SimManager
from sim.runs.storm.floor.clock import now_ms

LOST = "Another manager owns the ledger now."
BEFORE, AFTER = "before", "after"  # when the line broke: before the commit was done, or after


class LedgerLine:
    """The commits of one process on their way to the engine."""

    def __init__(self, engine: WatchedEngine, answers_lost: deque[str]) -> None:
        self._engine = engine
        self._answers_lost = answers_lost
        self.is_fenced = False
        self.found_out: deque[bool] = deque()  # what became of each commit without an answer

    def commit(self, batch: Batch) -> None:
        self._refuse_when_fenced()
        lost = self._answers_lost.popleft() if self._answers_lost else ""
        if lost != BEFORE:
            self._engine.commit(batch)
        if lost:
            raise OutcomeUnknown("The line to the ledger broke in a commit.")

    def resolve(self, batch: Batch) -> bool:
        self._refuse_when_fenced()
        is_done = self._engine.resolve(batch)
        self.found_out.append(is_done)
        return is_done

    def _refuse_when_fenced(self) -> None:
        if self.is_fenced:
            raise Fenced(LOST)


class StormProcess(SimManager):
    def __init__(self, seed: int, wall_ms: Callable[[], int]) -> None:
        """`wall_ms` is what the machine takes for the date, and may jump."""
        self.answers_lost: deque[str] = deque()  # of the next commits
        self._late_ms: Callable[[], float] | None = None  # None: commits take no time
        scalar = int.from_bytes(hashlib.sha256(f"{seed}/tails".encode()).digest()[:31], "big")
        self._tail_key = ec.derive_private_key(scalar + 1, ec.SECP256R1())
        self.line: LedgerLine
        self._wall_ms = wall_ms
        super().__init__(seed, wall_ms)

    @property
    def tail_key(self) -> ec.EllipticCurvePublicKey:
        """With which everybody can tell the manager's word from another's."""
        return self._tail_key.public_key()

    @property
    def is_behind(self) -> bool:
        """Steps stand in memory that are not durable yet."""
        return self.app.store.commits.durable_tail != self.app.store.tail()

    def write_late(self, late_ms: Callable[[], float]) -> None:
        """Each commit takes so long from now on; the manager goes on meanwhile."""
        begins = self._late_ms is None
        self._late_ms = late_ms
        if begins:
            self._write_beside(self.app)

    def take_over(self) -> Manager:
        """Another process owns the ledger; returns the one that thinks it still does."""
        old = self.app
        self.line.is_fenced = True
        old.store.engine.close()
        self.app = self._start()
        return old

    def _start(self) -> Manager:
        # As shipped: a date that jumps is not followed. Without it, time would stand still for as
        # long as the date jumped back, and a lock-out of cards would not end in a storm.
        self._now_ms = clock = LedgerClock(self._wall_ms, now_ms)
        app = super()._start()
        clock.go_on_from(app.store.last_commit_ms)
        commits: Any = app.store.commits
        self.line = LedgerLine(commits._engine, self.answers_lost)  # noqa: SLF001
        commits._engine = self.line  # noqa: SLF001
        app.book.tails.sign_with(TailSigner(self._tail_key))
        if self._late_ms is not None:
            self._write_beside(app)
        return app

    def _write_beside(self, app: Manager) -> None:
        loop = asyncio.get_running_loop()
        app.store.commits.beside(LateWriter(loop, self._delay_ms), app.server.halt)

    def _delay_ms(self) -> float:
        return self._late_ms() if self._late_ms is not None else 0.0
