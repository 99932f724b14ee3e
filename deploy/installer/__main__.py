"""The installers' command line: `python3 -m deploy.installer unit|manager COMMAND`.

It reads arguments, says what is to be installed, and turns refusals into sentences.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from pathlib import Path
from typing import Final

from deploy.installer.commands import Installer, Order
from deploy.installer.disk import Disk
from deploy.installer.errors import InstallRefused
from deploy.installer.machine import Machine, Staged, say
from deploy.installer.packages import Packages
from deploy.installer.products import (
    MANAGER,
    PRODUCTS,
    TABLE_FILE,
    UNIT,
    Content,
    Product,
    release_id,
    version_of,
)
from deploy.installer.table_file import holds_more, units_part
from kit.command_line import REFUSED, in_words, run_command, told

CHECKOUT: Final = Path(__file__).resolve().parents[2]
TABLE_DIGITS: Final = 8


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    os.umask(0o022)  # the product's own user has to read what root installs
    return told(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    try:
        _command(options, PRODUCTS[options.product])
    except InstallRefused as refusal:
        say(str(refusal))
        return REFUSED
    except OSError as error:
        say(f"{in_words(error)} Mend that and type the same again.")
        return REFUSED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m deploy.installer", description=__doc__)
    parser.add_argument("product", choices=sorted(PRODUCTS))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("install", "install this checkout, or repair what is installed"),
        ("rollback", "go back to the release before"),
        ("uninstall", "stop and remove the program; its data stays"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--root", type=Path, metavar="DIR", help="stage below this folder")
        haste = command.add_mutually_exclusive_group()
        haste.add_argument("--wait", action="store_true", help="restart when no round is played")
        haste.add_argument("--now", action="store_true", help="restart even in a round")
    commands.choices["install"].add_argument("tables", nargs="*", type=Path, metavar="TABLE.toml")
    commands.choices["uninstall"].add_argument(
        "--purge-data", action="store_true", help="also remove journal or ledger, keys and user"
    )
    part = commands.add_parser("units-part", help="print what of a table file goes to the unit")
    part.add_argument("tables", nargs=1, type=Path, metavar="TABLE.toml")
    return parser


def _command(options: argparse.Namespace, product: Product) -> None:
    if options.command == "units-part":
        sys.stdout.write(units_part(options.tables[0]).decode())
        return
    machine = Staged(product) if options.root else Machine(product)
    machine.check()
    root = options.root.absolute() if options.root else Path("/")
    installer = Installer(
        product, Disk(), root, machine, Packages(), say, options.wait, options.now
    )
    if options.command == "install":
        machine.check_tools()
        order = ORDERS[product.key](installer, options.tables)
        installer.install(order)
    elif options.command == "rollback":
        installer.roll_back()
    else:
        installer.uninstall(options.purge_data)
    say("done")


def _unit_order(installer: Installer, tables: list[Path]) -> Order:
    if len(tables) != 1:
        raise InstallRefused("usage: install [--root DIR] TABLE.toml")
    [table] = _existing(tables)
    part = units_part(table)
    if holds_more(table):
        say(f"{table} also holds what is not for the unit: keep that file on another machine")
    contents = UNIT.contents(CHECKOUT)
    # The id says which software it is; units with different tables share it.
    software = release_id(version_of(CHECKOUT), contents, sys.version_info[:2])
    contents[TABLE_FILE] = Content(part, 0o644)
    name = f"{software}.{hashlib.sha256(part).hexdigest()[:TABLE_DIGITS]}"
    return Order(software, name, contents, "system/check-table", [table])


def _manager_order(installer: Installer, tables: list[Path]) -> Order:
    contents = MANAGER.contents(CHECKOUT)
    beside = {}
    for table in _existing(tables):
        fixed = f"{MANAGER.settings}/tables/{table.name}"
        there = installer.path(fixed)
        if there.exists() and there.read_bytes() != table.read_bytes():
            raise InstallRefused(
                f"{there} is there already and differs; change that one, or remove it first"
            )
        beside[fixed] = Content(table.read_bytes(), 0o640)  # it holds card numbers
    options = f"{MANAGER.settings}/options"
    if not installer.path(options).exists():
        beside[options] = contents["system/options"]
    software = release_id(version_of(CHECKOUT), contents, sys.version_info[:2])
    return Order(software, software, contents, "system/check-tables", tables, beside)


ORDERS: Final = {UNIT.key: _unit_order, MANAGER.key: _manager_order}


def _existing(tables: list[Path]) -> list[Path]:
    for table in tables:
        if not table.is_file():
            raise InstallRefused(f"there is no table file {table}")
    return tables


if __name__ == "__main__":
    run_command(main)
