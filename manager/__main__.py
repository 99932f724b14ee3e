"""The manager's command line: `serve`, `audit`, and the commands about units' identities.

It reads arguments and turns refusals into sentences and exit codes; everything else is elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from manager import adoption, auditing, corrections_cli, process
from manager.app import Manager
from manager.clock import wall_clock_ms
from manager.control import SOCKET_NAME
from manager.explain import cli as explain_cli
from manager.export import cli as export_cli
from manager.games import PackError, open_catalogue
from manager.games import cli as games_cli
from manager.games.cli import add_packs_option
from manager.identity import commands as identity_commands
from manager.identity.errors import IdentityError
from manager.identity.office import IdentityOffice
from manager.ledger.errors import LedgerError
from manager.ledger.gaming_day import DAY_STARTS, ZONE, GamingDay
from manager.places import LEDGER_NAME, add_data_option
from manager.section import SetupError
from protocol.command_line import run_command

LOCAL = "127.0.0.1"
PORT_MAX = 65_535


# Tools with options of their own; what needs NumPy is loaded only when asked for.


def _odds(arguments: Sequence[str]) -> int:
    """exact odds of every paytable"""
    from manager.odds.cli import main as odds

    return odds(list(arguments))


def _check_pack(arguments: Sequence[str]) -> int:
    """what is wrong in an operator's own paytables, by line and column"""
    return games_cli.main(arguments)


def _advise(arguments: Sequence[str]) -> int:
    """what a table file's numbers mean, before it opens"""
    from manager.advice.cli import main as advise

    return advise(arguments)


def _explain(arguments: Sequence[str]) -> int:
    """how a win's amount came to be"""
    return explain_cli.main(arguments)


def _export(arguments: Sequence[str]) -> int:
    """write the ledger to a file that proves itself"""
    return export_cli.export(arguments)


def _audit(arguments: Sequence[str]) -> int:
    """prove the ledger, a copy or an export from its first entry"""
    return auditing.main(arguments)


def _audit_export(arguments: Sequence[str]) -> int:
    """prove such a file, offline"""
    return export_cli.audit_export(arguments)


def _train(arguments: Sequence[str]) -> int:
    """deal rounds and ask what each bet brings"""
    from manager.training.cli import main as train

    return train(arguments)


def _adopt_journal(arguments: Sequence[str]) -> int:
    """let a unit go on with a new journal, once"""
    return adoption.main(list(arguments))


TOOLS: dict[str, Callable[[Sequence[str]], int]] = {
    "odds": _odds,
    "check-pack": _check_pack,
    "advise": _advise,
    "explain": _explain,
    "export": _export,
    "audit": _audit,
    "audit-export": _audit_export,
    "train": _train,
    "adopt-journal": _adopt_journal,
} | {name: corrections_cli.tool(name) for name in corrections_cli.COMMANDS}


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words and words[0] in TOOLS:
            return TOOLS[words[0]](words[1:])
        options = _parser().parse_args(words)
        return int(options.run(options))
    except (LedgerError, SetupError, IdentityError, PackError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager", description="The Game Manager.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve tables and the operators' pages")
    add_data_option(serve)
    serve.add_argument("--host", default=LOCAL, help="address where units come in")
    serve.add_argument(
        "--port", type=_port, required=True, help="the tables' port, 0 for a free one"
    )
    serve.add_argument(
        "--enrol-port", type=_port, help="where new units ask; by default the one after the tables'"
    )
    serve.add_argument("--web-host", default=LOCAL, help="address of the operators' pages")
    serve.add_argument("--web-port", type=_port, required=True, help="the pages' port, 0 for free")
    serve.add_argument(
        "--table", type=Path, action="append", default=[], metavar="FILE", help="open this table"
    )
    serve.add_argument(
        "--tables", type=Path, metavar="DIR", help="open every table file (*.toml) of this folder"
    )
    serve.add_argument("--day-starts", default=DAY_STARTS, help="when a gaming day starts")
    serve.add_argument("--zone", default=ZONE, help="on which clock, such as America/Los_Angeles")
    add_packs_option(serve)
    serve.set_defaults(run=_serve)
    for name, tool in TOOLS.items():
        commands.add_parser(name, help=tool.__doc__, add_help=False)
    identity_commands.add_to(commands)
    return parser


def _serve(options: argparse.Namespace) -> int:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # starts and stops are no news
    gaming_day = GamingDay(options.day_starts, options.zone)
    try:
        options.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"{options.data} cannot be the ledger's folder: {error}.") from error
    ledger = str(options.data / LEDGER_NAME)
    manager = Manager(ledger, wall_clock_ms, packs=options.packs, gaming_day=gaming_day)
    try:
        open_catalogue(*options.packs)  # a faulty pack is told before any table is opened
        for path in [*options.table, *_table_files(options.tables)]:
            manager.open_table_file(path)
        identities = IdentityOffice(manager, options.data, wall_clock_ms)
        listeners = _listen(options)
    except (SetupError, IdentityError, PackError):
        manager.store.close()
        raise
    except OSError as error:
        manager.store.close()
        print(f"A port cannot be opened: {error}.", file=sys.stderr)
        return 2
    fingerprint = identities.folder.ca_fingerprint()
    return asyncio.run(
        process.serve(
            manager,
            identities,
            listeners,
            lambda: _say_ready(listeners, fingerprint),
            options.data / SOCKET_NAME,
        )
    )


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdecimal() else -1
    if not 0 <= port <= PORT_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to {PORT_MAX}")
    return port


def _table_files(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    if not folder.is_dir():
        raise SetupError(f"There is no folder {folder}.")
    return sorted(folder.glob("*.toml"))


def _listen(options: argparse.Namespace) -> process.Listeners:
    enrol_port = options.enrol_port
    if enrol_port is None:
        enrol_port = options.port + 1 if options.port else 0
    return process.Listeners(
        process.bind(options.host, options.port),
        process.bind(options.host, enrol_port),
        process.bind(options.web_host, options.web_port),
    )


def _say_ready(listeners: process.Listeners, ca_fingerprint: str) -> None:
    addresses = listeners.addresses() | {"ca_fingerprint": ca_fingerprint}
    addresses["web"] = f"http://{addresses['web']}"
    print(json.dumps(addresses), flush=True)


if __name__ == "__main__":
    run_command(main)
