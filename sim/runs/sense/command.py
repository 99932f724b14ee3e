"""`python -m sim sense`: how often sensing is wrong, case by case, on drawn tables.

It alone knows what is printed and with which exit code: 0 when every requirement holds, 1 when one
is broken, with a sentence for each.
"""

from __future__ import annotations

import argparse
import json
import logging

from hal.ics.kinds import MPR121
from kit.command_line import above_zero, whole
from sim.felt.physics.ranges import RANGES
from sim.runs.sense.matrix import Plan, Result, run_matrix
from sim.runs.sense.sensing_ic import ICS
from sim.runs.sense.tally import CaseFigures

HEAD = (
    f"{'case':34}{'trials':>7}{'regs':>6}{'chips':>7}{'false+':>7}{'missed':>7}"
    f"{'unknown':>8}  in doubt: accepted / refused"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=whole(), default=1, help="decides every table and every act")
    parser.add_argument("--trials", type=whole(1), default=2000, help="shared out over the cases")
    parser.add_argument(
        "--ic", choices=sorted(ICS), default=MPR121, help="the sensing IC under the felt"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument(
        "--register-part",
        type=above_zero(1.0),
        default=0.01,
        help="the part of the trials that goes through registers, bus and lamps",
    )


def main(options: argparse.Namespace) -> int:
    # Tables with dead pads and dead buses are the point here; their log is not.
    logging.disable(logging.ERROR)
    try:
        return _run(options)
    finally:
        logging.disable(logging.NOTSET)


def _run(options: argparse.Namespace) -> int:
    plan = Plan(options.seed, options.trials, options.register_part, ic=options.ic)
    if options.json:
        result = run_matrix(plan)
        print(json.dumps(report(result), indent=1))
    else:
        print(f"sense seed {plan.seed}, {plan.trials} trials, {plan.ic}")
        print(HEAD)
        result = run_matrix(plan, lambda tally: print(line(tally), flush=True))
        print(_ranges(result))
        print(_summary(result))
    return 1 if result.broken() else 0


def line(tally: CaseFigures) -> str:
    doubt = ""
    if tally.doubtful:
        refused = tally.doubtful - tally.doubtful_accepted - tally.doubtful_silent
        doubt = f"  {tally.doubtful_accepted} / {refused}"
        if tally.doubtful_silent:
            doubt += f", {tally.doubtful_silent} silent"
    return (
        f"{tally.case.name:34}{tally.trials:>7}{tally.through_registers:>6}{tally.chips:>7}"
        f"{tally.false_accepts:>7}{tally.missed:>7}{tally.refused:>8}{doubt}"
    )


def report(result: Result) -> dict[str, object]:
    return {
        "seed": result.plan.seed,
        "ic": result.plan.ic,
        "trials": sum(tally.trials for tally in result.tallies),
        "trials_through_registers": sum(tally.through_registers for tally in result.tallies),
        "fast_trials_per_cpu_second": round(result.trials_per_cpu_s),
        "cases": [tally.to_json() for tally in result.tallies],
        "broken": result.broken(),
    }


def _ranges(result: Result) -> str:
    """Every figure that was drawn, with the range it was drawn from."""
    used = sorted(set().union(*(tally.used for tally in result.tallies)))
    drawn = [f"  {name}: {RANGES[name][0]:g} to {RANGES[name][1]:g}" for name in used]
    return "\n".join(["drawn from:", *drawn])


def _summary(result: Result) -> str:
    chips = sum(tally.chips for tally in result.tallies)
    missed = sum(tally.missed for tally in result.tallies)
    sentences = result.broken() or ["Every requirement holds."]
    return "\n".join(
        [
            f"{missed} of {chips} centred chips missed; "
            f"{result.trials_per_cpu_s:.0f} trials per CPU second on the short way.",
            *sentences,
        ]
    )
