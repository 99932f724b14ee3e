"""`python -m protocol.conformance manager|unit HOST:PORT`: plays every case and prints a report.

`manager` plays a unit against the manager at that address; `unit` plays a manager there, for a unit
that connects to it. Exit code 0 when every case was kept, 1 when one was broken.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from kit.command_line import PORT_MAX, CommandRefused, run_command, told, whole
from kit.config.shapes import Name, Unfit
from protocol.conformance.floor_ca import FloorCa
from protocol.conformance.manager_cases import CASES as MANAGER_CASES
from protocol.conformance.played_manager import PlayedManager, table_settings
from protocol.conformance.played_unit import PlayedUnit
from protocol.conformance.report import Report
from protocol.conformance.unit_cases import CASES as UNIT_CASES
from protocol.secrets.tls import fingerprint
from protocol.wire.errors import ProtocolError


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    return told(lambda: asyncio.run(options.play(options)), ProtocolError, name="conformance")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m protocol.conformance", description=__doc__)
    peers = parser.add_subparsers(required=True, metavar="PEER")
    manager = peers.add_parser("manager", help="play a unit against a manager")
    manager.add_argument("place", type=_place, metavar="HOST:PORT")
    manager.add_argument(
        "--identity", type=Path, required=True, metavar="FOLDER", help="has ca.pem and unit.pem"
    )
    manager.set_defaults(play=_play_unit)
    unit = peers.add_parser("unit", help="play a manager for a unit")
    unit.add_argument("place", type=_place, metavar="HOST:PORT", help="where the unit finds it")
    unit.add_argument(
        "--data", type=Path, required=True, metavar="FOLDER", help="for a CA made for this"
    )
    unit.add_argument(
        "--serial", type=_serial, default="UF-0001", metavar="ID", help="the unit's board"
    )
    unit.add_argument("--table", default="conformance", metavar="ID", help="what the table is")
    unit.set_defaults(play=_play_manager)
    return parser


async def _play_unit(options: argparse.Namespace) -> int:
    host, port = options.place
    unit = PlayedUnit(host, port, options.identity)
    unit.check_identity()
    report = Report(_say)
    await report.play(MANAGER_CASES, unit)
    return report.conclude()


async def _play_manager(options: argparse.Namespace) -> int:
    ca = FloorCa(options.data)
    ca.ensure()
    manager = PlayedManager(ca, options.serial, table_settings(options.table), _say)
    host, port = options.place
    if port == PORT_MAX:
        raise CommandRefused(f"There is no port after {PORT_MAX} for enrolment.")
    report = Report(_say)
    async with manager.serving(host, port):
        _say(f"link {host}:{port}")
        _say(f"enrolment {host}:{port + 1}")
        _say(f"fingerprint {fingerprint(ca.der())}")
        _say(f"code {manager.code}")
        await report.play(UNIT_CASES, manager)
    return report.conclude()


def _place(text: str) -> tuple[str, int]:
    host, separator, port = text.rpartition(":")
    if not separator or not host:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address such as 127.0.0.1:7411")
    return host.strip("[]"), whole(1, PORT_MAX)(port)


def _serial(text: str) -> str:
    try:
        return Name().take(text)
    except Unfit as refused:
        raise argparse.ArgumentTypeError(f"it {refused}") from refused


def _say(sentence: str) -> None:
    print(sentence, flush=True)


if __name__ == "__main__":
    run_command(main)
