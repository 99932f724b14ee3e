"""`backup` copies a manager's folder while it serves; `restore` puts one back and proves it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kit.clock import wall_ms
from kit.command_line import CommandRefused, in_words
from manager.audit.audit import audit
from manager.data_folder import add_data_option
from manager.export.backup import back_up, restore
from manager.ledger_reader import ledger_to_read


def take(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m manager backup", description="Copy a manager's folder while it serves."
    )
    add_data_option(parser)
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="a new folder")
    options = parser.parse_args(arguments)
    try:
        taken = back_up(options.data, options.to, wall_ms())
    except OSError as error:
        raise CommandRefused(f"{options.to} cannot be written: {in_words(error)}") from error
    print(f"Backed up to {options.to}: {taken.sentence}")
    return 0


def put_back(arguments: Sequence[str]) -> int:
    """0 when the whole ledger is sound, 1 when an entry is bad."""
    parser = argparse.ArgumentParser(
        prog="python -m manager restore", description="Put a backup back, and audit its ledger."
    )
    parser.add_argument("backup", type=Path, metavar="BACKUP")
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="a new folder")
    options = parser.parse_args(arguments)
    try:
        taken = restore(options.backup, options.to)
    except OSError as error:
        raise CommandRefused(f"{options.to} cannot be written: {in_words(error)}") from error
    print(f"Restored to {options.to}: {taken.sentence}")
    with ledger_to_read(options.to) as ledger:
        finding = audit(ledger)
    print(finding.sentence)
    return 0 if finding.sound else 1
