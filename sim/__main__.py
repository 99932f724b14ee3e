"""The simulator's commands: play scenarios, run the bench, test the simulated board, measure."""

from __future__ import annotations

import argparse
from pathlib import Path

from kit.command_line import run_command, told, whole


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    return told(lambda: int(options.run(options)), name="sim")


def _parser() -> argparse.ArgumentParser:
    from sim.runs.diagnose import command as diagnose_command
    from sim.runs.evening import command as evening_command
    from sim.runs.floor import command as floor_command
    from sim.runs.hardware import command as hardware_command
    from sim.runs.sense import command as sense_command
    from sim.runs.storm import command as storm_command
    from sim.runs.tech import command as tech_command

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
    sense = commands.add_parser("sense", help="how often sensing is wrong, case by case")
    sense_command.add_arguments(sense)
    sense.set_defaults(run=sense_command.main)
    storm = commands.add_parser("storm", help="a floor under every fault at once, checked")
    storm_command.add_arguments(storm)
    storm.set_defaults(run=storm_command.main)
    evening = commands.add_parser("evening", help="rounds dealt by the rules, entered and booked")
    evening_command.add_arguments(evening)
    evening.set_defaults(run=evening_command.main)
    floor = commands.add_parser("floor", help="hundreds of real links on one manager, measured")
    floor_command.add_arguments(floor)
    floor.set_defaults(run=floor_command.main)
    tech = commands.add_parser("tech", help="the technician's tool against a simulated unit")
    tech_command.add_arguments(tech)
    tech.set_defaults(run=tech_command.main)
    diagnose = commands.add_parser("diagnose", help="put a fault into a table, and name it again")
    diagnose_command.add_arguments(diagnose)
    diagnose.set_defaults(run=diagnose_command.main)
    bench = commands.add_parser("bench", help="a manager, a table and the bench page")
    bench.add_argument("--table", default="four-card-touch")
    bench.add_argument("--data", type=Path, required=True)
    bench.add_argument("--fresh", action="store_true", help="forget earlier data")
    bench.set_defaults(run=_bench)
    hardware = commands.add_parser("hardware", help="docs/hardware.md, from the board files")
    hardware_command.add_arguments(hardware)
    hardware.set_defaults(run=hardware_command.main)
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
