"""`python -m sim storm`: one storm from a seed, its verdict in words or as JSON; or a campaign.

It reads arguments and prints; exit code 1 means that a promise was broken, and the last line says
how to see it again.
"""

from __future__ import annotations

import argparse
import json
import sys

from sim.storm.campaign import PROCESSES, run_campaign
from sim.storm.marks import FAULTS_MIN
from sim.storm.options import StormOptions
from sim.storm.run import StormResult, run_storm
from sim.storm.tables import draw_floor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", type=int, default=4, help="tables on the floor")
    parser.add_argument("--hours", type=float, default=1.0, help="virtual hours of play")
    parser.add_argument("--seed", type=int, default=1, help="decides everything left to chance")
    parser.add_argument("--json", action="store_true", help="print the result as JSON only")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the whole trace")
    many = parser.add_argument_group("many storms")
    many.add_argument("--campaign", action="store_true", help="a fixed set, then fresh seeds")
    many.add_argument("--seconds", type=float, default=180.0, help="no new storm begins after")
    many.add_argument("--processes", type=int, default=PROCESSES, help="storms at the same time")
    many.add_argument("--fresh-from", type=int, default=None, help="the first fresh seed")


def main(options: argparse.Namespace) -> int:
    if options.campaign:
        return _campaign(options)
    if options.tables < 1 or options.hours <= 0:
        print("A storm needs at least one table and some time.", file=sys.stderr)
        return 2
    drawn = StormOptions.drawn(options.tables, options.hours, options.seed)
    if not options.json:
        print_options(drawn)
    result = run_storm(drawn, keep_all_lines=options.verbose)
    if options.json:
        print(json.dumps(result.as_dict(), indent=2))
    else:
        print_result(result, options.verbose)
    return 0 if result.passed else 1


def _campaign(options: argparse.Namespace) -> int:
    if options.seconds <= 0 or options.processes < 1:
        print("A campaign needs some time and at least one process.", file=sys.stderr)
        return 2
    return run_campaign(options.seconds, options.processes, options.fresh_from)


def print_options(options: StormOptions) -> None:
    print(f"seed {options.seed}, {options.tables} tables, {options.hours:g} hours")
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
