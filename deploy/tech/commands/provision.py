"""Lay down on a flashed disk which table the unit serves, and how it enrols by itself."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Final

from deploy.installer.errors import InstallRefused
from deploy.installer.table_file import units_part
from kit.command_line import CommandRefused
from kit.files import write_durably
from protocol.wire.address import split_address

MARK: Final = "autoboot.txt"  # what only the first partition of our image holds
FINGERPRINT: Final = re.compile(r"[0-9a-f]{64}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="underfelt-tech provision", description=__doc__)
    parser.add_argument(
        "boot", type=Path, metavar="FOLDER", help="where this machine shows the first partition"
    )
    parser.add_argument("--table", type=Path, metavar="TABLE.toml", help="the table's file")
    parser.add_argument("--manager", default="", metavar="HOST:7412", help="where it enrols")
    parser.add_argument("--ca-fingerprint", default="", metavar="HEX")
    parser.add_argument("--code", default="", help="the operator's one-time code")
    parser.add_argument(
        "--repair-data",
        action="store_true",
        help="the unit repairs its damaged data at its next start; damaged files may go",
    )
    options = parser.parse_args(arguments)
    files = {}
    if options.table is not None:
        files["table.toml"] = table_part(options.table)
    if options.manager or options.ca_fingerprint or options.code:
        files["enrol"] = enrolment(options.manager, options.ca_fingerprint, options.code)
    if options.repair_data:
        files["repair-data"] = b""
    if not files:
        raise CommandRefused(
            "Say --table, or --manager with --ca-fingerprint and --code, or --repair-data."
        )
    return provide(options.boot, files)


def table_part(table: Path) -> bytes:
    """Only what the unit reads: the house's cards do not travel on a disk."""
    try:
        return units_part(table)
    except InstallRefused as refusal:
        raise CommandRefused(str(refusal)) from refusal


def enrolment(manager: str, ca_fingerprint: str, code: str) -> bytes:
    if split_address(manager) is None:
        raise CommandRefused(f"{manager!r} is no address such as game-manager.local:7412.")
    digits = re.sub(r"[\s:]", "", ca_fingerprint).lower()
    if not FINGERPRINT.fullmatch(digits):
        raise CommandRefused("The CA's fingerprint must be 64 hexadecimal digits.")
    if not code or code.split() != [code]:
        raise CommandRefused("The operator's one-time code is one word.")
    return f"{manager} {digits} {code}\n".encode()


def provide(boot: Path, files: dict[str, bytes]) -> int:
    if not (boot / MARK).is_file():
        raise CommandRefused(
            f"{boot} is not the first partition of a unit's disk: it has no {MARK}."
        )
    folder = boot / "provision"
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        write_durably(folder / name, data)
        print(f"{folder / name} is laid down; the unit takes it at its next start")
    return 0
