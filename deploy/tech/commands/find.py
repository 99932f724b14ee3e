"""`find`: units that announce their service page here, and the tables that a manager knows.

What is announced is a hint and no proof; the certificate is compared at the first visit.
"""

from __future__ import annotations

import socket
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from zeroconf import IPVersion, ServiceBrowser, ServiceListener, Zeroconf

from deploy.tech.options import network_door
from deploy.tech.terminal import WARN, Terminal, printable
from kit.command_line import CommandRefused, above_zero

SERVICE: Final = "_underfelt-svc._tcp.local."
SECONDS: Final = 3.0
NOBODY: Final = (
    "No unit announced itself. Is its service page open on the network (`service_host`), and is "
    "this laptop on the same one?"
)


def main(arguments: list[str]) -> int:
    parser = ArgumentParser(prog="underfelt-tech find", description=__doc__)
    parser.add_argument("--seconds", type=above_zero(60), default=SECONDS)
    parser.add_argument("--interface", default="", metavar="ADDRESS", help="of this laptop")
    parser.add_argument("--manager", default="", metavar="URL", help="also list its tables")
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="a token of the read API, for --manager"
    )
    parser.add_argument("--fingerprint", default="", metavar="HEX", help="of the manager's pages")
    options = parser.parse_args(arguments)
    terminal = Terminal()
    found = heard(options.seconds, options.interface)
    for unit in found:
        terminal.line(f"{unit['serial']:<20} {unit['address']:<22} table {unit['table']}")
    if not found:
        terminal.line(NOBODY, WARN)
    if options.manager:
        _print_tables(terminal, _tables(options.manager, options.token_file, options.fingerprint))
    return 0 if found else 1


class _Heard(ServiceListener):
    def __init__(self) -> None:
        self.units: dict[str, dict[str, str]] = {}

    def add_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        info = zc.get_service_info(type_, name, timeout=1000)
        if info is None:
            return
        words = {_text(key): _text(value) for key, value in info.properties.items()}
        for address in info.parsed_addresses(IPVersion.V4Only):
            self.units[name] = {
                "serial": words.get("serial") or name.partition(".")[0],
                "table": words.get("table", ""),
                "address": f"{address}:{info.port}",
            }

    def update_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.add_service(zc, type_, name)

    def remove_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.units.pop(name, None)


def _text(data: bytes | None) -> str:
    return printable((data or b"").decode("utf-8", "replace"))


def heard(seconds: float, interface: str) -> list[dict[str, str]]:
    listener = _Heard()
    try:
        if interface:
            _refuse_foreign(interface)
        asking = Zeroconf(interfaces=[interface]) if interface else Zeroconf()
    except (OSError, RuntimeError) as error:
        raise CommandRefused(f"This laptop's network cannot be listened to: {error}.") from error
    try:
        ServiceBrowser(asking, SERVICE, listener)
        time.sleep(seconds)
    finally:
        asking.close()
    return sorted(listener.units.values(), key=lambda unit: unit["serial"])


def _refuse_foreign(interface: str) -> None:
    """The library would leave half a socket behind."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind((interface, 0))


def _tables(url: str, token_file: Path | None, fingerprint: str) -> list[dict[str, Any]]:
    if token_file is None:
        raise CommandRefused(
            "Give the manager's token: --token-file FILE (the page *Tokens* makes one)."
        )
    token = token_file.read_text(encoding="ascii", errors="replace").strip()
    door = network_door(url, fingerprint, {"authorization": f"Bearer {token}"})
    answer = door.ask("GET", "/api/v1/tables")
    if not answer.is_good:
        raise CommandRefused(f"The manager refused it (status {answer.status}).")
    told = answer.json()
    rows = told.get("items", told) if isinstance(told, dict) else told
    return [row for row in rows if isinstance(row, dict)]


def _print_tables(terminal: Terminal, tables: list[dict[str, Any]]) -> None:
    for row in tables:
        unit, link = row.get("unit") or "no unit", row.get("link")
        terminal.line(f"{unit!s:<20} table {row.get('id')}: link {link}, {row.get('state')}")
