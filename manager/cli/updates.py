"""`python -m manager add-update FILE`, `roll-out`, `go-on-roll-out`, `stop-roll-out`, `updates`.

A file is copied into the manager's folder first; the serving manager then notes who brought it. A
roll-out is asked for like a correction, and waits for a second person.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kit.clock import wall_ms
from kit.command_line import CommandRefused
from manager.cli.signing import add_people, with_passwords
from manager.data_folder import add_data_option
from manager.ledger.errors import LedgerError
from manager.operator_requests import carry_out
from manager.rollouts.acts import ADD, GO_ON, REMOVE, STOP
from manager.rollouts.rollouts import ROLL_OUT
from manager.rollouts.shelf import UpdateShelf


def add(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m manager {ADD}", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE", help="a signed update, .raucb")
    add_data_option(parser)
    add_people(parser, "brings it", is_second_usual=False)
    options = vars(parser.parse_args(arguments))
    data, file = options.pop("data"), options.pop("file")
    if not data.is_dir():
        raise CommandRefused(f"There is no folder {data}; start the manager once first.")
    shelf = UpdateShelf(data, upload="command.part")
    known = {each.digest for each in shelf.all()}
    try:
        with file.open("rb") as opened:
            kept = shelf.add(opened, options["operator"], wall_ms())
    except OSError as error:
        raise CommandRefused(f"{file} cannot be read: {error.strerror}.") from error
    try:
        print(carry_out(data, {"command": ADD, "bundle": kept.digest, **with_passwords(options)}))
    except LedgerError:
        if kept.digest not in known:
            shelf.remove(kept.digest)
        raise
    print(kept.digest)
    return 0


def show(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m manager updates", description=__doc__)
    add_data_option(parser)
    data = parser.parse_args(arguments).data
    if not data.is_dir():
        raise CommandRefused(f"There is no folder {data}; start the manager once first.")
    kept = UpdateShelf(data).all()
    for each in kept:
        print(f"{each.digest} {each.version} for {each.board}, {each.bytes >> 20} MB")
    if not kept:
        print("No update is kept here.")
    return 0


def roll_out(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m manager {ROLL_OUT}", description=__doc__)
    parser.add_argument("bundle", metavar="SHA256", help="of an update that is kept here")
    add_data_option(parser)
    parser.add_argument("--first", required=True, metavar="TABLES", help="ids of the first ring")
    parser.add_argument(
        "--then", default="", metavar="COUNTS", help='such as "5 20"; then the rest'
    )
    parser.add_argument(
        "--hold", default="60", metavar="MINUTES", help="that a ring has to keep it"
    )
    add_people(parser, "asks for it")
    return _ask(ROLL_OUT, parser, arguments)


def go_on(arguments: Sequence[str]) -> int:
    return _with_reason(GO_ON, arguments)


def stop(arguments: Sequence[str]) -> int:
    return _with_reason(STOP, arguments)


def remove(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m manager {REMOVE}", description=__doc__)
    parser.add_argument("bundle", metavar="SHA256", help="of an update that is kept here")
    add_data_option(parser)
    add_people(parser, "removes it", is_second_usual=False)
    return _ask(REMOVE, parser, arguments)


def _with_reason(command: str, arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m manager {command}", description=__doc__)
    add_data_option(parser)
    add_people(parser, "asks for it")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why")
    return _ask(command, parser, arguments)


def _ask(command: str, parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    options = vars(parser.parse_args(arguments))
    data = options.pop("data")
    print(carry_out(data, {"command": command, **with_passwords(options)}))
    return 0
