"""The simulator's commands: play scenarios, run the bench, test the simulated board, measure."""

from __future__ import annotations

import argparse
from pathlib import Path

from protocol.command_line import run_command


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    result: int = options.run(options)
    return result


def _parser() -> argparse.ArgumentParser:
    from sim.evening import command as evening_command
    from sim.sense import command as sense_command
    from sim.storm import command as storm_command

    parser = argparse.ArgumentParser(prog="python -m sim", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="play scenario files in virtual time")
    run.add_argument("files", nargs="+", type=Path, metavar="FILE")
    run.add_argument("--seed", type=int, default=1, help="decides what is left to chance")
    run.add_argument("--quiet", action="store_true", help="print failures and the count only")
    run.add_argument("-v", "--verbose", action="store_true", help="print each line and the log")
    run.set_defaults(run=_run)
    perf = commands.add_parser("perf", help="measure, and print each figure beside its bound")
    perf.add_argument("--json", type=Path, default=None, metavar="FILE")
    perf.add_argument("--only", default="", help="groups whose title contains this")
    perf.set_defaults(run=_perf)
    replay = commands.add_parser("replay", help="a recorded round through the shipped sensing")
    replay.add_argument("file", type=Path, metavar="FILE")
    replay.set_defaults(run=_replay)
    sense = commands.add_parser("sense", help="how often sensing is wrong, case by case")
    sense_command.add_arguments(sense)
    sense.set_defaults(run=sense_command.main)
    storm = commands.add_parser("storm", help="a floor under every fault at once, checked")
    storm_command.add_arguments(storm)
    storm.set_defaults(run=storm_command.main)
    evening = commands.add_parser("evening", help="rounds dealt by the rules, entered and booked")
    evening_command.add_arguments(evening)
    evening.set_defaults(run=evening_command.main)
    bench = commands.add_parser("bench", help="a manager, a table and the bench page")
    bench.add_argument("--table", default="four-card-touch")
    bench.add_argument("--data", type=Path, required=True)
    bench.add_argument("--fresh", action="store_true", help="forget earlier data")
    bench.set_defaults(run=_bench)
    return parser


def _run(options: argparse.Namespace) -> int:
    from sim.scenario.command import run_files

    return run_files(options.files, options.seed, options.quiet, options.verbose)


def _perf(options: argparse.Namespace) -> int:
    from sim.perf.command import run_perf

    return run_perf(options.json, options.only)


def _replay(options: argparse.Namespace) -> int:
    from sim.replay import replay_file

    return replay_file(options.file)


def _bench(options: argparse.Namespace) -> int:
    from sim.bench.run import bench

    return bench(options.table, options.data, options.fresh)


if __name__ == "__main__":
    run_command(main)
