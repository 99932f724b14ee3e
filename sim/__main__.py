"""The simulator's commands: play scenarios, run the bench, test the simulated board, measure."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from kit.command_line import run_command, told, whole

# Commands with a module of their own; only the one that is asked for is loaded. All of them
# together take a second of computing, and a campaign starts thousands of processes.
COMMANDS = {
    "sense": "how often sensing is wrong, case by case",
    "storm": "a floor under every fault at once, checked",
    "evening": "rounds dealt by the rules, entered and booked",
    "floor": "hundreds of real links on one manager, measured",
    "tech": "the technician's tool against a simulated unit",
    "diagnose": "put a fault into a table, and name it again",
    "hardware": "docs/hardware.md, from the board files",
}


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    options = _parser(words[0] if words else "").parse_args(words)
    return told(lambda: int(options.run(options)), name="sim")


def _parser(asked: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sim", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="play scenario files in virtual time")
    run.add_argument("files", nargs="+", type=Path, metavar="FILE")
    run.add_argument("--seed", type=whole(), default=1, help="decides what is left to chance")
    run.add_argument("--quiet", action="store_true", help="print failures and the count only")
    run.add_argument("-v", "--verbose", action="store_true", help="print each line and the log")
    run.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="leave the manager's data folder there"
    )
    run.set_defaults(run=_run)
    perf = commands.add_parser("perf", help="measure, and print each figure beside its bound")
    perf.add_argument("--json", type=Path, default=None, metavar="FILE")
    perf.add_argument("--only", default="", help="groups whose title contains this")
    perf.add_argument("--keep", default="", metavar="LABEL", help="keep this run and plot all kept")
    perf.add_argument("--note", default="", help="about the machine, beside the kept run")
    perf.set_defaults(run=_perf)
    replay = commands.add_parser("replay", help="a recorded round through the shipped sensing")
    replay.add_argument("file", type=Path, metavar="FILE")
    replay.set_defaults(run=_replay)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name == asked:
            module = import_module(f"sim.runs.{name}.command")
            module.add_arguments(command)
            command.set_defaults(run=module.main)
    bench = commands.add_parser("bench", help="a manager, a table and the bench page")
    bench.add_argument("--table", default="four-card-touch")
    bench.add_argument("--data", type=Path, required=True)
    bench.add_argument("--fresh", action="store_true", help="forget earlier data")
    bench.set_defaults(run=_bench)
    pictures = commands.add_parser("pictures", help="photograph the dealer's guide on the bench")
    pictures.add_argument("--folder", type=Path, default=Path("docs/pictures"))
    pictures.set_defaults(run=_pictures)
    return parser


def _run(options: argparse.Namespace) -> int:
    from sim.runs.scenario.command import run_files

    return run_files(options.files, options.seed, options.quiet, options.verbose, options.keep)


def _perf(options: argparse.Namespace) -> int:
    from sim.runs.perf.command import run_perf

    return run_perf(options.json, options.only, options.keep, options.note)


def _replay(options: argparse.Namespace) -> int:
    from sim.runs.replay import replay_file

    return replay_file(options.file)


def _pictures(options: argparse.Namespace) -> int:
    from sim.runs.pictures import make_pictures

    return make_pictures(options.folder)


def _bench(options: argparse.Namespace) -> int:
    from sim.runs.bench.run import bench

    return bench(options.table, options.data, options.fresh)


if __name__ == "__main__":
    run_command(main)
