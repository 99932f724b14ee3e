"""`python -m sim floor`: a floor of real links for a while, and its figures as JSON."""

from __future__ import annotations

import argparse
import json

from kit.command_line import told, whole
from kit.files import allow_open_files
from manager.ledger.errors import LedgerError
from manager.link.admission import CONNECTIONS_MAX
from sim.runs.floor.run import Wanted, run_floor

FILES_PER_UNIT = 8  # a connection, and a journal with its log


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", type=whole(1, CONNECTIONS_MAX), default=500)
    parser.add_argument("--seconds", type=whole(1), default=30, help="how long they play")
    parser.add_argument(
        "--database", default="", metavar="URL", help="an empty ledger there; made where none is"
    )
    parser.add_argument(
        "--rate", type=whole(), default=0, help="wagers a second; 0 as fast as receipts come"
    )
    parser.add_argument("--processes", type=whole(1), default=2, help="that share the units")
    parser.add_argument("--no-kill", action="store_true", help="let the manager live")
    parser.add_argument("--json", action="store_true", help="one line of JSON, nothing else")


def main(options: argparse.Namespace) -> int:
    return told(lambda: _run(options), LedgerError, name="floor")


def _run(options: argparse.Namespace) -> int:
    # Children inherit it: the manager has a file for each unit, and the units several.
    allow_open_files(options.tables * FILES_PER_UNIT + 256)
    wanted = Wanted(
        options.tables,
        options.seconds,
        options.database,
        options.rate,
        options.processes,
        not options.no_kill,
    )
    figures = run_floor(wanted)
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:<26}{value}")
    is_right = figures["audit_sound"] and not figures["lost"] and not figures["doubled"]
    return 0 if is_right else 1
