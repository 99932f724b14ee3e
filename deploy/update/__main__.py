"""What systemd calls: `stick FOLDER` for a bundle on a stick, `rollout` for one that the table
fetched from its manager, `settle` after each start, `log`.
"""

from __future__ import annotations

import argparse
import fcntl
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from deploy.update.bundle import program_here
from deploy.update.machine import Machine
from deploy.update.records import Records
from deploy.update.spool import Spool
from deploy.update.updater import Source, Updater
from kit import program_spool
from kit.command_line import CommandRefused, run_command, told
from kit.program_changes import HERE_FILE, ROLLOUT
from kit.program_news import UPDATE_FOLDER

FOLDER: Final = UPDATE_FOLDER
HERE: Final = HERE_FILE
TABLE: Final = Path("/data/underfelt") / program_spool.FOLDER
BUNDLES: Final = "*.raucb"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m deploy.update", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("stick").add_argument("folder", type=Path)
    commands.add_parser("rollout")
    commands.add_parser("settle")
    commands.add_parser("log")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="underfelt update: %(message)s")
    return told(lambda: _command(options), name="underfelt update")


def _command(options: argparse.Namespace) -> int:
    records = Records(FOLDER, lambda: int(time.time()))
    if options.command == "log":
        for each in records.changes():
            print(each.line())
        return 0
    updater = Updater(Machine(), records, program_here(HERE))
    with _alone():
        if options.command == "settle":
            updater.settle()
        elif options.command == "rollout":
            take_from(Spool(TABLE, FOLDER / program_spool.FOLDER), updater)
        else:
            updater.take(_bundle_in(options.folder))
    return 0


def take_from(spool: Spool, updater: Updater) -> None:
    """Once each: written, refused or withdrawn, the file has done its duty."""
    while (found := spool.take()) is not None:
        bundle, digest = found
        try:
            updater.take(bundle, Source(ROLLOUT, digest, spool.is_stopped))
        finally:
            spool.remove(bundle)


def _bundle_in(folder: Path) -> Path:
    found = sorted(folder.glob(BUNDLES))
    if len(found) != 1:
        raise CommandRefused(f"The stick must hold one file {BUNDLES}, and holds {len(found)}.")
    return found[0]


@contextmanager
def _alone() -> Iterator[None]:
    """A stick that is there at the start waits until the start is settled."""
    with (FOLDER / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    run_command(main)
