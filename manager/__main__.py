"""The manager's command line: `serve`, `audit`.

It reads arguments and turns refusals into sentences and exit codes; everything else is elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from manager import process
from manager.app import Manager
from manager.clock import wall_clock_ms
from manager.ledger.audit import audit
from manager.ledger.database import open_database
from manager.ledger.errors import LedgerError
from manager.ledger.store import Store
from manager.section import SetupError

LEDGER_NAME = "ledger.sqlite"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (LedgerError, SetupError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager", description="The Game Manager.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve tables and the operators' pages")
    serve.add_argument("--data", type=Path, required=True, help="folder of the ledger")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on")
    serve.add_argument("--port", type=int, required=True, help="the tables' port, 0 for a free one")
    serve.add_argument("--web-port", type=int, required=True, help="the pages' port, 0 for free")
    serve.add_argument(
        "--table", type=Path, action="append", default=[], metavar="FILE", help="open this table"
    )
    serve.set_defaults(run=_serve)
    checked = commands.add_parser("audit", help="prove the ledger from its first entry")
    checked.add_argument("--data", type=Path, required=True, help="folder of the ledger or a copy")
    checked.set_defaults(run=_audit)
    return parser


def _serve(options: argparse.Namespace) -> int:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    options.data.mkdir(parents=True, exist_ok=True)
    manager = Manager(str(options.data / LEDGER_NAME), wall_clock_ms)
    try:
        for path in options.table:
            manager.open_table_file(path)
        link = process.bind(options.host, options.port)
        web = process.bind(options.host, options.web_port)
    except SetupError:
        manager.store.close()
        raise
    except OSError as error:
        manager.store.close()
        print(f"A port cannot be opened: {error}.", file=sys.stderr)
        return 2
    return asyncio.run(process.serve(manager, link, web, _say_ready))


def _say_ready(link: str, web: str) -> None:
    print(json.dumps({"link": link, "web": f"http://{web}"}), flush=True)


def _audit(options: argparse.Namespace) -> int:
    path = options.data / LEDGER_NAME
    if not path.is_file():
        print(f"There is no ledger in {options.data}.", file=sys.stderr)
        return 2
    store = Store(open_database(str(path)), wall_clock_ms, check_tail=False)
    try:
        finding = audit(store)
    finally:
        store.close()
    print(finding.sentence)
    return 0 if finding.sound else 1


if __name__ == "__main__":
    sys.exit(main())
