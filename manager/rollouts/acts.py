"""What people do about updates: bring one, roll it out, go on after a failure, stop, remove.

Each act is written into the chain first and done afterwards: whoever only looks at what it would do
has it written and taken back again, and nothing is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from manager.ledger.corrections.reasons import Signed
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import Entry, Kind, Reference
from manager.ledger.store.store import Store
from manager.rollouts.plan import plan_of
from manager.rollouts.progress import Progress, State, TableRow
from manager.rollouts.rollouts import ROLL_OUT, TOO_LATE, Rollouts
from manager.rollouts.shelf import UpdateShelf
from protocol.wire.fields import clipped
from protocol.wire.program_steps import Step

GO_ON: Final = "go-on-roll-out"
STOP: Final = "stop-roll-out"
ADD: Final = "add-update"
REMOVE: Final = "remove-update"
COMMANDS: Final = (ROLL_OUT, GO_ON, STOP, ADD, REMOVE)
NO_FOLDER: Final = "This manager has no folder to keep updates in."
NONE: Final = "No roll-out is under way."

Request = Mapping[str, str]


class RolloutActs:
    """`tables_with_units` are the tables that can be in a plan, in the order of the house."""

    def __init__(
        self, rollouts: Rollouts, store: Store, tables_with_units: Callable[[], list[str]]
    ) -> None:
        self._rollouts = rollouts
        self._store = store
        self._tables_with_units = tables_with_units
        self._recorded = 0  # the entry of the last act; a look at it makes one, too

    def record(self, request: Request, signed: Signed) -> str:
        """Writes an act into the ledger, or refuses it; nothing is done yet."""
        act = {
            ROLL_OUT: self._record_start,
            GO_ON: self._record_go_on,
            STOP: self._record_stop,
            ADD: self._record_add,
            REMOVE: self._record_remove,
        }
        return act[request["command"]](request, signed)

    def apply(self, request: Request) -> None:
        """Does what is in the ledger now."""
        command, progress = request.get("command"), self._rollouts.progress
        if command == ROLL_OUT:
            self._rollouts.begin(self._recorded)
        elif command == REMOVE:
            self._shelf().remove(request["bundle"])
        elif command == GO_ON and progress is not None:
            self._set_aside(progress)
            progress.state, progress.why, progress.kept_since_ms = State.RUNNING, "", 0
            self._rollouts.save()
        elif command == STOP and progress is not None:
            progress.state, progress.why = State.STOPPED, request.get("reason", "")
            self._rollouts.save()

    def _record_start(self, request: Request, signed: Signed) -> str:
        signed.require_two("A roll-out")
        if self._rollouts.is_under_way:
            raise LedgerError("Another roll-out is under way; stop it first.")
        kept = self._shelf().find(request.get("bundle", ""))
        if kept is None:
            raise LedgerError("That update is not kept here.")
        plan = plan_of(request, kept, self._tables_with_units())
        sentence = plan.sentence()
        self._note(signed, ROLL_OUT, sentence, plan=plan.text())
        return sentence

    def _record_go_on(self, request: Request, signed: Signed) -> str:
        signed.require_two("Going on after a failure")
        progress = self._under_way()
        is_halted = progress.state is State.HALTED
        whom = "that failed" if is_halted else "of this ring that have not kept it"
        sentence = f"Roll-out {progress.number} goes on without the tables {whom}."
        self._note(signed, GO_ON, sentence, reason=request.get("reason", ""))
        return sentence

    def _record_stop(self, request: Request, signed: Signed) -> str:
        progress = self._under_way()
        sentence = f"Roll-out {progress.number} is stopped. Tables that have the program keep it."
        self._note(signed, STOP, sentence, reason=request.get("reason", ""))
        return sentence

    def _record_add(self, request: Request, signed: Signed) -> str:
        kept = self._shelf().find(request.get("bundle", ""))
        if kept is None:
            raise LedgerError("That update is not kept here.")
        sentence = f"Update {kept.version} for {kept.board} is kept, {kept.bytes >> 20} MB."
        self._note(signed, ADD, sentence, bundle=kept.digest)
        return sentence

    def _record_remove(self, request: Request, signed: Signed) -> str:
        kept = self._shelf().find(request.get("bundle", ""))
        if kept is None:
            raise LedgerError("That update is not kept here.")
        plan = self._rollouts.plan
        if self._rollouts.is_under_way and plan is not None and plan.digest == kept.digest:
            raise LedgerError("That update is being rolled out; stop the roll-out first.")
        sentence = f"Update {kept.version} is removed."
        self._note(signed, REMOVE, sentence, bundle=kept.digest)
        return sentence

    def _note(self, signed: Signed, act: str, sentence: str, **detail: str) -> None:
        told = {"who": signed.operator, "second": signed.second, "act": act, **detail}
        text = clipped(f"{signed.names}: {sentence}")
        self._recorded = self._store.append(Entry(Kind.ACT, Reference(), text, (), detail=told))

    def _set_aside(self, progress: Progress) -> None:
        """Halted: what failed. Running: what has not answered, or not come to an end."""
        plan = self._rollouts.plan
        ring = plan.rings[progress.ring] if plan else ()
        for name in {*ring, *progress.tables}:
            row = progress.tables.setdefault(name, TableRow())
            is_over = row.is_final or (progress.state is State.RUNNING and name in ring)
            row.set_aside = row.set_aside or (
                is_over and row.step != Step.KEPT and row.step not in TOO_LATE
            )

    def _under_way(self) -> Progress:
        progress = self._rollouts.progress
        if progress is None or not self._rollouts.is_under_way:
            raise LedgerError(NONE)
        return progress

    def _shelf(self) -> UpdateShelf:
        shelf = self._rollouts.shelf
        if shelf is None:
            raise LedgerError(NO_FOLDER)
        return shelf
