"""`python -m sim storm`: one storm from a seed, its verdict in words or as JSON; or a campaign.

It reads arguments and prints; exit code 1 means that a promise was broken, and the last line says
how to see it again.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from kit.command_line import above_zero, whole
from sim.runs.storm.campaign.campaign import PROCESSES, run_campaign
from sim.runs.storm.campaign.soak import run_soak
from sim.runs.storm.draw.tables import draw_floor
from sim.runs.storm.faults.deck import KINDS
from sim.runs.storm.marks import FAULTS_MIN
from sim.runs.storm.options import DEEP, DEPTHS, StormOptions
from sim.runs.storm.run import StormResult, run_storm

HOURS_MAX = 10_000.0
SECONDS_MAX = 1_000_000.0
SOAK_FOLDER = Path("build/soak")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", type=whole(1, 1000), default=4, help="tables on the floor")
    parser.add_argument(
        "--hours", type=above_zero(HOURS_MAX), default=1.0, help="virtual hours of play"
    )
    parser.add_argument("--seed", type=whole(), default=1, help="decides everything left to chance")
    parser.add_argument(
        "--depth", choices=DEPTHS, default=DEEP, help="through the sensing ICs, or above them"
    )
    parser.add_argument(
        "--without", action="append", choices=KINDS, default=[], help="leaves out a kind of fault"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON only")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the whole trace")
    many = parser.add_argument_group("many storms")
    many.add_argument("--campaign", action="store_true", help="a fixed set, then fresh seeds")
    many.add_argument(
        "--seconds", type=above_zero(SECONDS_MAX), default=180.0, help="no new storm begins after"
    )
    many.add_argument("--processes", type=whole(1, 64), help="storms at the same time")
    many.add_argument("--fresh-from", type=whole(), help="the first fresh seed")
    many.add_argument(
        "--soak", type=above_zero(HOURS_MAX), metavar="HOURS", help="fresh seeds on all cores"
    )
    many.add_argument("--folder", type=Path, default=SOAK_FOLDER, help="where a soak goes on")


def main(options: argparse.Namespace) -> int:
    if options.campaign or options.soak is not None:
        return _many(options)
    drawn = StormOptions.drawn(options.tables, options.hours, options.seed, options.depth)
    drawn = drawn.without_kinds(options.without)
    if not options.json:
        print_options(drawn)
    result = run_storm(drawn, keep_all_lines=options.verbose)
    if options.json:
        lines = {"lines": result.lines} if options.verbose else {}
        print(json.dumps(result.as_dict() | lines, indent=2))
    else:
        print_result(result, options.verbose)
    return 0 if result.passed else 1


def _many(options: argparse.Namespace) -> int:
    if options.soak is not None:
        return run_soak(options.soak, options.folder, options.processes)
    return run_campaign(options.seconds, options.processes or PROCESSES, options.fresh_from)


def print_options(options: StormOptions) -> None:
    numbers = f"{options.tables} tables, {options.hours:g} hours"
    print(f"seed {options.seed}, {numbers}, {options.depth}")
    for name, value in options.as_dict().items():
        print(f"  {name}: {value}")
    for plan in draw_floor(options.tables, options.floor_seed):
        print(f"  {plan.says}")
    sys.stdout.flush()


def print_result(result: StormResult, verbose: bool = False) -> None:
    figures = result.as_dict()
    if verbose or not result.passed:
        print("\n".join(f"  | {line}" for line in result.lines))
    for name in ("rounds", "wins", "events", "cpu_seconds", "table_hours_per_cpu_second"):
        print(f"{name}: {figures[name]}")
    for title in ("faults", "marks"):
        print(f"{title}:")
        for name, count in figures[title].items():
            print(f"  {count:6d}  {name}")
    if not result.marks_required:
        print(f"  (fewer than {FAULTS_MIN} faults: too short a storm to ask for every mark)")
    print(f"trace_sha256: {result.trace_sha256}")
    if result.passed:
        print("every promise was kept")
        return
    for violation in result.violations:
        print(f"VIOLATION {violation}")
    print(f"to see it again: {result.options.command}")
