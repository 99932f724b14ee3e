"""A roll-out of a new program: ring by ring, and halted by the first failure.

Two people start it. The manager's heartbeats offer the program to each table of a ring, whose unit
says how far it is. The next ring begins when the whole ring before has kept the program for a
while, with its link up and no fault. One unit that refuses it or goes back halts everything. Each
of these is an entry of the chain.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from manager.ledger.alarms import Alarms
from manager.ledger.engines.relations import TRANSACTIONS
from manager.ledger.store.entries import Entry, EventSource, Kind, Reference
from manager.ledger.store.store import Store
from manager.rollouts import words
from manager.rollouts.plan import Plan
from manager.rollouts.progress import Progress, ProgressFile, State, TableRow
from manager.rollouts.shelf import FOLDER, UpdateShelf
from protocol.wire.fields import clipped
from protocol.wire.messages import ProgramPart
from protocol.wire.program_steps import FAILED, Step, step_of
from protocol.wire.rows import PROGRAM_PART_BYTES, ProgramOffer, ProgramReport

_log = logging.getLogger(__name__)

ROLL_OUT: Final = "roll-out"
PARTS_PER_BEAT: Final = 64
FETCHING_MAX: Final = 8  # units at once; the others wait for their turn
LOOK_MS: Final = 1000
SILENT_MS: Final = 10_000  # a unit that said nothing for so long proves nothing
# Written already: no withdrawal reaches it, so its end is still waited for.
TOO_LATE: Final = frozenset({Step.WRITING, Step.INSTALLED, Step.TRIED})

Offers = tuple[ProgramOffer, ...]


class Rollouts:
    """The folder is given by `keep_in`, where the manager has one."""

    def __init__(self, store: Store, alarms: Alarms) -> None:
        self.shelf: UpdateShelf | None = None
        self.progress: Progress | None = None
        self.plan: Plan | None = None
        self.places: dict[str, int] = {}  # by table: how many bytes it has
        self._store = store
        self._alarms = alarms
        self._file: ProgressFile | None = None
        self._heard_ms: dict[str, int] = {}  # by table: when it last said that all is well
        self._fetched_ms: dict[str, int] = {}
        self._looked_ms = 0

    def keep_in(self, data: Path) -> None:
        """Goes on with what an earlier start had begun, if the chain has it."""
        self.shelf = UpdateShelf(data)
        self._file = ProgressFile(data / FOLDER)
        progress = self._file.load()
        plan = self.plan_in(progress.number) if progress else None
        if progress is not None and plan is None:
            _log.error("A roll-out is noted that nobody signed for; it is left alone.")
            return
        self.progress, self.plan = progress, plan

    def begin(self, number: int) -> None:
        """What two people signed for in this entry of the chain begins."""
        self.plan = self.plan_in(number)
        self._heard_ms.clear()
        self.places.clear()
        self.progress = Progress(number, self._store.now_ms)
        self.save()

    @property
    def is_under_way(self) -> bool:
        progress = self.progress
        return progress is not None and progress.state in (State.RUNNING, State.HALTED)

    def plan_in(self, number: int) -> Plan | None:
        """As the chain has it; None when no such entry stands there."""
        row = self._store.get(TRANSACTIONS, number)
        if row is None or row[TRANSACTIONS.place("kind")] != Kind.ACT:
            return None
        return words.plan_in(row[TRANSACTIONS.place("detail")], ROLL_OUT)

    # ---- what units hear and say ----

    def offers(self, table_id: str, unit_id: str) -> Offers:
        """For the next heartbeat to this unit."""
        progress, plan = self.progress, self.plan
        if progress is None or plan is None or not self._is_offered(progress, plan, table_id):
            return ()
        row = progress.tables.get(table_id)
        if row is not None and row.unit_id != unit_id:
            progress.tables[table_id] = TableRow(unit_id, since_ms=self._store.now_ms)
        digest = bytes.fromhex(plan.digest)
        return (ProgramOffer(progress.number, plan.bytes, digest, plan.version),)

    def _is_offered(self, progress: Progress, plan: Plan, table_id: str) -> bool:
        row = progress.tables.get(table_id, TableRow())
        if progress.state is not State.RUNNING:
            return row.step in TOO_LATE
        if row.set_aside:
            return False
        return any(table_id in ring for ring in plan.rings[: progress.ring + 1])

    def heard(
        self, table_id: str, unit_id: str, report: ProgramReport | None, is_well: bool
    ) -> list[ProgramPart]:
        """A heartbeat of this unit; what it is to be sent."""
        progress, plan = self.progress, self.plan
        if progress is None or plan is None:
            return []
        parts: list[ProgramPart] = []
        if report is not None and report.rollout == progress.number:
            step = step_of(report.step)
            self._note_step(progress, table_id, unit_id, step, report)
            if step is Step.KEPT and is_well:
                self._heard_ms[table_id] = self._store.now_ms
            if step is Step.FETCHING and progress.state is State.RUNNING:
                parts = self._parts(plan, progress.number, table_id, report.place)
        # Once a second, however many units there are.
        if progress.state is State.RUNNING and self._store.now_ms - self._looked_ms >= LOOK_MS:
            self._looked_ms = self._store.now_ms
            self._advance(progress, plan)
        return parts

    def _parts(self, plan: Plan, number: int, table_id: str, place: int) -> list[ProgramPart]:
        now_ms = self._store.now_ms
        others = [ms for name, ms in self._fetched_ms.items() if name != table_id]
        if sum(now_ms - ms < SILENT_MS for ms in others) >= FETCHING_MAX or self.shelf is None:
            return []
        self._fetched_ms[table_id] = now_ms
        try:
            content = self.shelf.read(plan.digest, place, PARTS_PER_BEAT * PROGRAM_PART_BYTES)
        except OSError as error:
            self._halt(f"The update cannot be read from this manager's disk: {error.strerror}.")
            return []
        starts = range(0, len(content), PROGRAM_PART_BYTES)
        return [
            ProgramPart(number, place + at, content[at : at + PROGRAM_PART_BYTES]) for at in starts
        ]

    def _note_step(
        self, progress: Progress, table_id: str, unit_id: str, step: Step, report: ProgramReport
    ) -> None:
        self.places[table_id] = report.place
        row = progress.tables.setdefault(table_id, TableRow(unit_id))
        if (row.unit_id, row.step, row.reason) == (unit_id, step, report.reason):
            return
        known = TableRow(unit_id, step, report.reason, self._store.now_ms, row.set_aside)
        progress.tables[table_id] = known
        if not known.is_final:
            return
        sentence = words.outcome(table_id, unit_id, known, self.plan)
        detail = {"rollout": str(progress.number), "step": step.name.lower()}
        with self._store.transaction():
            self._chain(sentence, table_id, **detail)
        self.save()
        if step in FAILED and progress.state is State.RUNNING:
            self._halt(sentence, table_id, unit_id)

    # ---- rings ----

    def _advance(self, progress: Progress, plan: Plan) -> None:
        rows = {name: progress.tables.get(name, TableRow()) for name in plan.rings[progress.ring]}
        rows = {name: row for name, row in rows.items() if not row.set_aside}
        if not rows:  # people went on without them
            self._next_ring(progress, plan)
            return
        if not all(row.is_final for row in rows.values()):
            progress.kept_since_ms = 0
            return
        kept = [name for name, row in rows.items() if row.step == Step.KEPT]
        if not kept:
            self._halt("No unit of this ring has the new program, so nobody knows whether it runs.")
            return
        now_ms = self._store.now_ms
        if not all(now_ms - self._heard_ms.get(name, 0) < SILENT_MS for name in kept):
            progress.kept_since_ms = 0
        elif progress.kept_since_ms == 0:
            progress.kept_since_ms = now_ms
            self.save()
        elif now_ms - progress.kept_since_ms >= plan.hold_ms:
            self._next_ring(progress, plan)

    def _next_ring(self, progress: Progress, plan: Plan) -> None:
        progress.kept_since_ms = 0
        if progress.ring + 1 == len(plan.rings):
            self._end(progress, plan)
        else:
            progress.ring += 1
            number = progress.ring + 1
            self._say(f"Ring {number} of roll-out {progress.number} begins: {plan.version}.")
        self.save()

    def _end(self, progress: Progress, plan: Plan) -> None:
        progress.state = State.DONE
        without = [name for name, row in progress.tables.items() if row.step != Step.KEPT]
        left = f" Without it: {', '.join(without)}." if without else ""
        self._say(f"Roll-out {progress.number} of {plan.version} is done.{left}")

    def _halt(self, why: str, table_id: str = "", unit_id: str = "") -> None:
        progress = self.progress
        if progress is None or progress.state is not State.RUNNING:
            return
        progress.state, progress.why, progress.kept_since_ms = State.HALTED, why, 0
        sentence = clipped(f"Roll-out {progress.number} is halted. {why}")
        with self._store.transaction():
            self._chain(sentence, table_id, rollout=str(progress.number))
            self._alarms.record("ROLLOUT_HALTED", sentence, table_id, EventSource(unit_id))
        self.save()

    def _say(self, sentence: str) -> None:
        with self._store.transaction():
            self._chain(sentence)
            self._alarms.record("ROLLOUT", clipped(sentence))

    # ---- inside ----

    def _chain(self, sentence: str, table_id: str = "", **detail: str) -> None:
        told = {"who": "", "act": "rollout-step", **detail}
        entry = Entry(Kind.ACT, Reference(table_id), clipped(sentence), (), detail=told)
        self._store.append(entry)

    def save(self) -> None:
        if self._file is not None and self.progress is not None:
            try:
                self._file.save(self.progress)
            except OSError as error:
                # The books go on: every unit tells its part again after a restart.
                _log.error("How far the roll-out is cannot be kept: %s", error)
