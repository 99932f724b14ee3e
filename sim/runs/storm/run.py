"""One storm from its seed to its verdict.

It alone knows the order of things: open, play while everything goes wrong, stop the faults, let
everything drain, and look once more at all of it.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sim.floor.card_work import least_card_work
from sim.runs.scenario.verdict import describe_error
from sim.runs.storm import marks
from sim.runs.storm.faults.mischief import Mischief
from sim.runs.storm.final import check_all, heal
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.loop import StormLoop
from sim.runs.storm.options import StormOptions
from sim.runs.storm.record import Record, Violation
from sim.time.loop import task_label

LOOK_EVERY_S = 5.0
COLLECT_EVERY_S = 60.0


@dataclass(frozen=True)
class StormResult:
    options: StormOptions
    floor: list[str]
    rounds: int
    wins: int
    events: int
    faults: dict[str, int]
    fault_count: int
    violations: list[Violation]
    marks: dict[str, int]
    trace_sha256: str
    cpu_seconds: float
    lines: list[str]

    @property
    def passed(self) -> bool:
        return not self.violations

    @property
    def marks_required(self) -> bool:
        """Whether a mark that never fired would have failed it."""
        return self.fault_count >= marks.FAULTS_MIN

    def as_dict(self) -> dict[str, Any]:
        options = self.options
        return {
            "seed": options.seed,
            "tables": options.tables,
            "hours": options.hours,
            "depth": options.depth,
            "options": options.as_dict(),
            "floor": self.floor,
            "rounds": self.rounds,
            "wins": self.wins,
            "events": self.events,
            "faults": self.faults,
            "violations": [str(violation) for violation in self.violations],
            "marks": self.marks,
            "marks_required": self.marks_required,
            "trace_sha256": self.trace_sha256,
            "cpu_seconds": round(self.cpu_seconds, 3),
            "table_hours_per_cpu_second": round(
                options.tables * options.hours / max(self.cpu_seconds, 1e-9), 3
            ),
        }


def run_storm(options: StormOptions, keep_all_lines: bool = False) -> StormResult:
    """Runs the storm to its end, or to its first violation."""
    started = time.process_time()
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # a storm is one long warning
    loop = StormLoop()
    try:
        with collected_on_schedule(), least_card_work():
            record = loop.run_until_complete(_storm(options, keep_all_lines))
    finally:
        logging.disable(before)
        _close(loop)
    return StormResult(
        options,
        record.floor,
        record.round_count,
        record.win_count,
        record.event_count,
        dict(sorted(record.faults.items())),
        record.fault_count,
        record.violations,
        record.marks.as_dict(),
        record.trace_sha256,
        time.process_time() - started,
        list(record.lines),
    )


async def _storm(options: StormOptions, keep_all_lines: bool) -> Record:
    record = Record(keep_all_lines)
    floor = StormFloor(options.tables, options.floor_seed, record, options.depth)
    mischief = Mischief(floor, options)
    try:
        await floor.open()
        mischief.start()
        await _play(floor, options.hours * 3600)
        await mischief.stop()
        if not record.violations:
            await heal(floor)
            await check_all(floor)
            look_for_errors(floor)  # also of what fell over after the faults had stopped
        if not record.violations:
            check_marks(record)
    finally:
        await mischief.stop()
        await floor.close()
        _refuse_leftovers(record)
    return record


async def _play(floor: StormFloor, duration_s: float) -> None:
    """Until the time is over or a promise is broken."""
    end_s, collect_s = floor.loop.time() + duration_s, floor.loop.time()
    while floor.loop.time() < end_s and not floor.record.broken.is_set():
        left_s = end_s - floor.loop.time()
        try:
            async with asyncio.timeout(min(left_s, LOOK_EVERY_S)):
                await floor.record.broken.wait()
        except TimeoutError:
            if floor.loop.time() >= collect_s:
                gc.collect()
                collect_s += COLLECT_EVERY_S
            look_for_errors(floor)


@contextmanager
def collected_on_schedule() -> Iterator[None]:
    """Garbage goes at set virtual times, not when this process's history happens to ask for it.

    What a collection finds (a task that nobody holds) is part of the run, and must repeat.
    """
    was_enabled, was_frozen = gc.isenabled(), gc.get_freeze_count() > 0
    gc.collect()
    gc.freeze()  # what was there before the storm need not be looked at again and again
    gc.disable()
    try:
        yield
    finally:
        if not was_frozen:  # as the tests do, for all that they load
            gc.unfreeze()
        if was_enabled:
            gc.enable()


def look_for_errors(floor: StormFloor) -> None:
    for where, error in floor.product_errors():
        floor.record.lines.extend("".join(traceback.format_exception(error)).splitlines())
        floor.record.violate("the program does not fall over", where, describe_error(error))
    for context in floor.loop.unhandled:
        error = context.get("exception") or RuntimeError(context["message"])
        floor.record.violate("the program does not fall over", "floor", describe_error(error))


def check_marks(record: Record) -> None:
    if record.fault_count < marks.FAULTS_MIN:
        return
    for name in record.marks.missing():
        record.violate("the storm was strong enough", "floor", f"it never happened that {name}")


def _refuse_leftovers(record: Record) -> None:
    current = asyncio.current_task()
    left = sorted(task_label(task) for task in asyncio.all_tasks() if task is not current)
    if left and not record.violations:
        record.violate("nothing left behind", "floor", ", ".join(left))


def _close(loop: StormLoop) -> None:
    loop.after_turn = None
    tasks = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    gc.collect()
