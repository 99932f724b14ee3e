"""What the page shows of updates: those that are kept, and how far the roll-out is."""

from __future__ import annotations

from typing import Any

from manager.ledger.alarms import Alarms
from manager.ledger.store.store import Store
from manager.rollouts.plan import MINUTE_MS, Plan
from manager.rollouts.progress import Progress, TableRow
from manager.rollouts.rollouts import Rollouts
from manager.rollouts.shelf import Kept, UpdateShelf
from manager.rollouts.words import reason_word, step_word
from protocol.wire.program_steps import FAILED, Step

View = dict[str, Any]


class UpdatesView:
    def __init__(self, rollouts: Rollouts, store: Store, alarms: Alarms) -> None:
        self._rollouts = rollouts
        self._store = store
        self._alarms = alarms

    @property
    def shelf(self) -> UpdateShelf | None:
        return self._rollouts.shelf

    @property
    def now_ms(self) -> int:
        return self._store.now_ms

    def kept(self) -> list[View]:
        return [_kept(each) for each in self.shelf.all()] if self.shelf else []

    def rollout(self) -> View | None:
        """The one that is under way, or the last one."""
        progress, plan = self._rollouts.progress, self._rollouts.plan
        if progress is None or plan is None:
            return None
        return {
            "number": progress.number,
            "version": plan.version,
            "state": str(progress.state),
            "why": progress.why,
            "begun_ms": progress.begun_ms,
            "hold_minutes": plan.hold_ms // MINUTE_MS,
            "kept_since_ms": progress.kept_since_ms,
            "is_under_way": self._rollouts.is_under_way,
            "rings": [
                {
                    "number": number + 1,
                    "is_now": number == progress.ring and self._rollouts.is_under_way,
                    "tables": [self._table(progress, plan, name) for name in ring],
                }
                for number, ring in enumerate(plan.rings)
            ],
        }

    def changes(self, unit_id: str) -> list[View]:
        """The last ten changes of a unit's program, newest first."""
        found = self._alarms.program_changes(unit_id)
        return [{"at_ms": each.commit_ms, "line": each.sentence} for each in found]

    def _table(self, progress: Progress, plan: Plan, table_id: str) -> View:
        row = progress.tables.get(table_id, TableRow())
        is_asked = table_id in progress.tables
        come = self._rollouts.places.get(table_id, 0)
        return {
            "table": table_id,
            "unit": row.unit_id,
            "word": step_word(row.step) if is_asked else "",
            "percent": come * 100 // plan.bytes if row.step == Step.FETCHING else None,
            "reason": reason_word(row.reason),
            "since_ms": row.since_ms,
            "mark": "bad" if row.step in FAILED else "calm" if row.step == Step.KEPT else "warn",
            "set_aside": row.set_aside,
        }


def _kept(kept: Kept) -> View:
    return {
        "digest": kept.digest,
        "version": kept.version,
        "board": kept.board,
        "megabytes": max(1, kept.bytes >> 20),
        "by": kept.brought_by,
        "brought_ms": kept.brought_ms,
    }
