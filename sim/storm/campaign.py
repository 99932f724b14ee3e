"""Many storms: a fixed set of seeds, then fresh ones for as long as there is time.

Each storm is a process of its own, started with the very command that repeats it. It knows what a
campaign proves beyond its storms: every mark must have fired in one of them. What a storm is made
of, and what it promises, is decided elsewhere.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from sim.storm.marks import MUST_FIRE
from sim.storm.options import StormOptions

ROOT = Path(__file__).resolve().parents[2]

PROCESSES = 2
# Small floors meet faults more often than they meet each other; large ones fill a manager.
SIZES = ((2, 0.05), (4, 0.05), (3, 0.1), (10, 0.02))
FIXED_SEEDS = range(1, 17)
FRESH_SEED_MAX = 1 << 31
# A storm ends by itself; one that takes this long hangs, and that is a failure like any other.
STORM_MAX_S = 600.0


@dataclass(frozen=True)
class Verdict:
    """What one storm of a campaign said."""

    options: StormOptions
    passed: bool
    says: str  # its last words, when it failed
    figures: dict[str, Any]


@dataclass
class Tally:
    """What a campaign has seen so far."""

    storms: int = 0
    failed: list[Verdict] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)
    table_hours: float = 0.0
    cpu_seconds: float = 0.0

    def add(self, verdict: Verdict) -> None:
        self.storms += 1
        self.marks.update(verdict.figures.get("marks", {}))
        self.faults.update(verdict.figures.get("faults", {}))
        self.table_hours += verdict.options.tables * verdict.options.hours
        self.cpu_seconds += verdict.figures.get("cpu_seconds", 0.0)
        for name in ("rounds", "wins", "events"):
            self.sums[name] += verdict.figures.get(name, 0)
        if not verdict.passed:
            self.failed.append(verdict)

    def missing(self) -> list[str]:
        return [name for name in MUST_FIRE if not self.marks[name]]


def run_campaign(seconds: float, processes: int = PROCESSES, fresh_from: int | None = None) -> int:
    """Runs the fixed set, then fresh seeds until the time is over. 1 when anything failed."""
    first_fresh = secrets.randbelow(FRESH_SEED_MAX) if fresh_from is None else fresh_from
    end_s = time.monotonic() + seconds
    print(f"storms for {seconds:g} s; fresh seeds begin at {first_fresh}", flush=True)
    tally = Tally()
    for verdict in _verdicts(_planned(first_fresh, end_s), processes):
        tally.add(verdict)
        _print_storm(verdict)
    return _conclude(tally)


def _planned(first_fresh: int, end_s: float) -> Iterator[StormOptions]:
    """The fixed storms whatever they take, and fresh ones only while there is time."""
    for number, seed in enumerate(chain(FIXED_SEEDS, count(first_fresh))):
        if number >= len(FIXED_SEEDS) and time.monotonic() >= end_s:
            return
        tables, hours = SIZES[number % len(SIZES)]
        yield StormOptions.drawn(tables, hours, seed)


def _verdicts(planned: Iterable[StormOptions], processes: int) -> Iterator[Verdict]:
    """As they end, so many at a time."""
    with ThreadPoolExecutor(processes, thread_name_prefix="storm") as pool:
        running: set[Future[Verdict]] = set()
        for options in planned:
            running.add(pool.submit(run_apart, options))
            if len(running) >= processes:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (each.result() for each in ended)
        yield from (each.result() for each in as_completed(running))


def run_apart(options: StormOptions) -> Verdict:
    """One storm in a process of its own."""
    words = options.command.split()
    process = subprocess.Popen(
        [sys.executable, *words[1:], "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=STORM_MAX_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Verdict(options, passed=False, says=f"no end after {STORM_MAX_S:g} s", figures={})
    try:
        figures = json.loads(output)
    except ValueError:  # it fell over before it could say anything
        return Verdict(options, passed=False, says=output[-2000:], figures={})
    return Verdict(options, process.returncode == 0, "; ".join(figures["violations"]), figures)


def _print_storm(verdict: Verdict) -> None:
    options, figures = verdict.options, verdict.figures
    print(
        f"{'ok  ' if verdict.passed else 'FAIL'} seed {options.seed}: {options.tables} tables,"
        f" {options.hours:g} h, {figures.get('rounds', 0)} rounds, {figures.get('wins', 0)} wins,"
        f" {sum(figures.get('faults', {}).values())} faults",
        flush=True,
    )
    if not verdict.passed:
        print(f"  {verdict.says}\n  to see it again: {options.command}", flush=True)


def _conclude(tally: Tally) -> int:
    sums = tally.sums
    print(
        f"{tally.storms} storms, {tally.table_hours:.2f} table-hours, {sums['rounds']} rounds,"
        f" {sums['wins']} wins, {sum(tally.faults.values())} faults, {sums['events']} events,"
        f" {tally.cpu_seconds:.0f} CPU seconds"
    )
    for name in MUST_FIRE:
        print(f"{tally.marks[name]:7d}  {name}")
    missing = tally.missing()
    for name in missing:
        print(f"FAIL it never happened that {name}")
    for verdict in tally.failed:
        print(f"FAIL to see it again: {verdict.options.command}")
    if missing or tally.failed:
        return 1
    print("every promise was kept")
    return 0
