"""One Game Manager in a storm: its process, disk, clock and network, and the watchers on them.

It alone knows how the manager dies and comes back. It halts, is killed, or loses power with its
machine; each time a new process starts on what the disk has kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING, Any, Protocol

from manager.app import Manager
from manager.audit.audit import audit
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.errors import LedgerError
from manager.ledger.store.ledger import Ledger
from manager.ledger.store.store import Store
from sim.network.network import Connection, SimNetwork
from sim.runs.storm import marks
from sim.runs.storm.checks.ledger_watch import LedgerWatch
from sim.runs.storm.checks.tail_watch import TailWatch
from sim.runs.storm.checks.terms import read_terms
from sim.runs.storm.checks.unit_view import Event
from sim.runs.storm.checks.wire_watch import WireWatch
from sim.runs.storm.draw.tables import TablePlan
from sim.runs.storm.floor.clock import MachineClock
from sim.runs.storm.floor.process import LOST, StormProcess
from sim.runs.storm.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.runs.storm.floor.table import StormTable


class Inspector(Protocol):
    """Whom to tell that something may have been committed."""

    def dirty(self, who: Any) -> None: ...


class StormManager:
    def __init__(self, name: str, record: Record, seed: str, inspector: Inspector) -> None:
        self.name = name
        self.record = record
        self.inspector = inspector
        # This word decides the draws: changed, every seed that found something is another storm.
        self.chance = random.Random(f"{seed}/office")
        self.clock = MachineClock()
        self.network = SimNetwork()
        self.process = StormProcess(self.chance.randrange(1 << 30), self.clock)
        self.tables: list[StormTable] = []
        self.listeners: list[Callable[[StormManager, str, Event], None]] = []
        self.ledger = LedgerWatch(name, record, self._knows_event, self._is_copied, self._committed)
        self.errors: list[BaseException] = []
        self.tails = TailWatch(record, self.process.tail_key, self.ledger.digest_at)
        self.wire = WireWatch(self, record, self.tails)
        self._dirty = False
        self._down = asyncio.Event()
        self._funeral: list[asyncio.Task[None]] = []
        self._had_unacknowledged = False
        self._old_owners: list[Manager] = []
        self.disk = self.process.disk
        self.disk.on_cut = self._disk_lost_power
        self.disk.on_change = self._disk_changed
        self.network.tap = self.wire.written
        self.network.listen(self._serve)

    @property
    def running(self) -> bool:
        return self.process.running

    @property
    def halted(self) -> bool:
        return self.process.app.server.halted.is_set()

    @property
    def must_start_anew(self) -> bool:
        """It has halted, or will at its next event: a commit failed, or the ledger is another's."""
        try:
            self.process.app.store.commits.check()
        except StorageFailed:
            return True
        return self.halted or self.process.line.is_fenced

    def open_table(self, plan: TablePlan) -> None:
        self.ledger.open_table(read_terms(plan.text))
        self.process.open_table(plan.text)
        self.look()

    # -- life and death ----------------------------------------------------------------------

    def kill(self, silent: bool) -> None:
        """Now, whatever is going on. Silent: the whole machine, so no unit is told."""
        if not self.running:
            return
        self._note_what_is_open()
        self.process.running = False
        self.disk.cut_power()
        arrives = self.chance.random() < 0.5
        self._funeral = self.network.crash(silent, in_flight_arrives=arrives)
        self._down.set()

    async def goes_down(self, patience_s: float) -> bool:
        """Waits for a kill that is on its way."""
        try:
            async with asyncio.timeout(patience_s):
                await self._down.wait()
        except TimeoutError:
            return False
        return True

    async def restart(self) -> None:
        """Ends with the manager serving, or dead again, or with a violation."""
        if self.running:
            return
        await asyncio.gather(*self._funeral, return_exceptions=True)
        self._funeral = []
        self._down.clear()
        try:
            self.process.restart()
        except (LedgerError, StorageFailed) as error:
            if self.disk.powered:
                self.record.violate("the ledger can be read", self.name, str(error))
            return
        more = self._follow()
        if more or self._had_unacknowledged:
            self.record.marks.fire(marks.UNACKNOWLEDGED_COMMIT_SURVIVED)
        self.record.note("restart", self.name)
        self.network.listen(self._serve)

    async def is_taken_over(self, notices_s: float) -> None:
        """Another process has the ledger now; the old one serves its units until it notices."""
        if not self.running or self.is_writing() or self.halted or self.disk.failing:
            return  # what a failing disk holds is nobody's ledger until its machine was off
        behind = self.process.is_behind
        try:
            old = self.process.take_over()
        except (LedgerError, StorageFailed) as error:
            if self.disk.powered:
                self.record.violate("the ledger can be read", self.name, str(error))
            return
        self._old_owners.append(old)
        self.record.note("taken over", self.name)
        self.record.marks.fire(marks.LEASE_TAKEN_OVER)
        if behind:
            self.record.marks.fire(marks.STEPS_LOST_WITH_LEASE)
        self._follow()
        try:
            await asyncio.sleep(notices_s)
        finally:
            old.server.halt(LOST)

    async def is_fenced(self, notices_s: float) -> None:
        """The ledger's engine says that the lease is gone; the manager ends when it notices."""
        app = self.process.app
        self.process.line.is_fenced = True
        await asyncio.sleep(notices_s)
        if self.running and app is self.process.app:
            app.server.halt(LOST)
            self.kill(silent=False)

    def _follow(self) -> bool:
        """A new process has loaded what was there. True when more is there than was seen."""
        self._dirty = False
        has_more = self.ledger.restarted(self._durable())
        self.compare_with_log()
        return has_more

    def _durable(self) -> Ledger:
        """What the file holds, and not what memory is ahead of it.

        Raises StorageFailed after a commit that failed: nobody knows then what the file holds.
        """
        self.process.app.store.commits.check()
        return Ledger(self.process.app.store.engine.reader())

    def compare_with_log(self) -> None:
        """What is in memory is the fold of the log: looked at once more, in all of it."""
        with contextlib.suppress(StorageFailed):  # its disk fails: the next start will tell
            differs = self.process.difference()
            if differs:
                self.record.violate("state is a fold of the log", self.name, differs)

    def audit(self) -> None:
        """The shipped audit accuses nobody: whatever happened here was booked as it should be."""
        with contextlib.suppress(StorageFailed):
            finding = audit(self._durable())
            if not finding.sound:
                self.record.violate("an audit finds the books sound", self.name, finding.sentence)

    async def close(self) -> None:
        await asyncio.gather(*self._funeral, return_exceptions=True)
        await self.network.close()
        for old in self._old_owners:
            await old.close()
        await self.process.close()

    def _disk_lost_power(self) -> None:
        if self.running:
            self.kill(silent=True)

    def _note_what_is_open(self) -> None:
        if self.ledger.open_claims():
            self.record.marks.fire(marks.MANAGER_RESTARTED_WITH_CLAIM)
        self._had_unacknowledged = any(
            table.unit.alive
            and table.unit.journal is not None
            and self.ledger.last_sequence(table.unit_id) > table.unit.journal.outbox.acked_sequence
            for table in self.tables
        )

    async def _serve(self, reader: asyncio.StreamReader, writer: Any) -> None:
        try:
            await self.process.serve(reader, writer)
        except Exception as error:
            if self.running:
                self.errors.append(error)
            raise

    # -- watching ----------------------------------------------------------------------------

    def unit_on(self, connection: Connection) -> StormTable:
        return next(table for table in self.tables if table.cable is connection.cable)

    def is_writing(self) -> bool:
        return self.running and in_transaction(self.process.app.store)

    def _disk_changed(self) -> None:
        self._dirty = True
        self.inspector.dirty(self)

    def look(self) -> None:
        """Takes in what the ledger committed since the last look."""
        if self._dirty and self.running and not self.is_writing():
            self._dirty = False
            with contextlib.suppress(StorageFailed):  # its disk fails: the next start will tell
                self.ledger.look(self._durable())
            differs = self.process.found_difference
            if differs:
                self.record.violate("state is a fold of the log", self.name, differs)
        self._note_found_out()

    def _note_found_out(self) -> None:
        found_out = self.process.line.found_out
        while found_out:
            is_done = found_out.popleft()
            self.record.marks.fire(
                marks.UNKNOWN_COMMIT_DONE if is_done else marks.UNKNOWN_COMMIT_REPEATED
            )

    def _knows_event(self, unit_id: str, sequence: int, digest: bytes) -> bool:
        for table in self.tables:
            if table.unit_id == unit_id:
                table.look()
                if table.journal.knows(sequence, digest):
                    return True
        return False

    def _is_copied(self, unit_id: str) -> bool:
        return any(table.unit_id == unit_id and table.original for table in self.tables)

    def _committed(self, unit_id: str, event: Event) -> None:
        for listener in list(self.listeners):
            listener(self, unit_id, event)


def in_transaction(store: Store) -> bool:
    engine = store.engine
    return isinstance(engine, SqliteEngine) and bool(engine.connection.in_transaction)
