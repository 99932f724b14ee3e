"""What every command that visits a unit is told: which one, who asks, by what it is known."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from deploy.tech.door import Door
from deploy.tech.https_door import HttpsDoor, split_url
from deploy.tech.trust import KnownUnits, folder
from deploy.tech.visit import Visit
from kit.command_line import CommandRefused, asked_in_secret

WHICH: Final = "Say which unit: --unit ADDRESS. `underfelt-tech find` lists those that it hears."
SERIAL: Final = "serial:"
PIN_FILE_BYTES_MAX: Final = 64


def unit_parser(command: str, description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"underfelt-tech {command}", description=description)
    parser.add_argument(
        "--unit", default="", metavar="ADDRESS", help="host, host:port, URL, or serial:/dev/ttyACM0"
    )
    parser.add_argument("--name", default="", metavar="LABEL", help="who asks; asked for otherwise")
    parser.add_argument(
        "--pin-file", type=Path, metavar="FILE", help="the PIN's file; asked for otherwise"
    )
    parser.add_argument(
        "--fingerprint", default="", metavar="HEX", help="the certificate in the unit's log"
    )
    return parser


def add_close_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--close-table", action="store_true", help="put the table into service mode meanwhile"
    )


@contextmanager
def visiting(options: argparse.Namespace) -> Iterator[Visit]:
    """The technician signed in at the unit; signed out again whatever happens."""
    visit = Visit(open_door(options))
    try:
        name = options.name or _asked("Your name: ")
        visit.sign_in(name, _pin(options.pin_file))
        yield visit
    finally:
        visit.close()


def open_door(options: argparse.Namespace) -> Door:
    if not options.unit:
        raise CommandRefused(WHICH)
    if options.unit.startswith(SERIAL):
        from deploy.tech.serial_door import SerialDoor

        return SerialDoor(options.unit.removeprefix(SERIAL))
    return network_door(options.unit, options.fingerprint)


def network_door(url: str, fingerprint: str, headers: Mapping[str, str] | None = None) -> Door:
    """To a unit, or to a manager: each is known by its certificate."""
    is_tls, host, port = split_url(url)
    if not is_tls:
        return HttpsDoor(host, port, None, headers)
    known = KnownUnits(folder())

    def check(shown: str) -> None:
        known.check(f"{host}:{port}", shown, fingerprint, _ask_person)

    return HttpsDoor(host, port, check, headers)


def _ask_person(shown: str) -> bool:
    if not sys.stdin.isatty():
        return False
    print(
        f"This address was never visited from here. Its certificate has the fingerprint\n  {shown}"
    )
    return _asked("Does its log show the same (journalctl -u underfelt)? [y/N] ") == "y"


def _pin(file: Path | None) -> str:
    """From the terminal without echo, a file, or one line of input; never from the command line."""
    if file is not None:
        with file.open(encoding="ascii", errors="replace") as opened:
            return opened.read(PIN_FILE_BYTES_MAX).strip()
    return asked_in_secret("PIN: ")


def _asked(question: str) -> str:
    try:
        return input(question if sys.stdin.isatty() else "").strip()
    except EOFError as error:
        raise CommandRefused("The input ended before everything was answered.") from error
