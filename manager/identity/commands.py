"""What an operator types about units' identities: codes, approval, revoking, keys, seals.

It turns arguments into calls and results into lines. All but the seals work while the manager is
serving; the seals are checked on a ledger that is not in use, or on a copy.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from getpass import getpass
from pathlib import Path
from typing import Any

from manager.clock import wall_clock_ms
from manager.identity.desk import EnrolmentDesk
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Certificate, Registry
from manager.identity.seal_book import SealBook
from manager.identity.store import IdentityStore
from manager.places import add_data_option
from manager.reading import ledger_to_read
from protocol.capture import write_capture
from protocol.messages import Hello
from protocol.pins import PinError, hash_pin

Commands = Any  # argparse does not name the type of its sub-commands


def add_to(commands: Commands) -> None:
    code = _command(commands, "enrol-code", _enrol_code, "make a one-time code for a table's unit")
    code.add_argument("--table", required=True, metavar="ID")
    approve = _command(commands, "approve", _approve, "approve a unit that asks to be enrolled")
    approve.add_argument("--unit", metavar="ID", help="without it, the waiting units are listed")
    approve.add_argument("--match", metavar="DIGITS", help="the six digits the unit shows")
    approve.add_argument("--refuse", action="store_true", help="refuse the unit instead")
    approve.add_argument("--ca-key", type=Path, help="where the CA's key is, if not in its place")
    revoke = _command(commands, "revoke", _revoke, "end every certificate of a unit, now")
    revoke.add_argument("unit", metavar="UNIT")
    revoke.add_argument("--reason", required=True)
    retire = _command(commands, "retire", _retire, "end a unit's older certificates")
    retire.add_argument("unit", metavar="UNIT")
    _command(commands, "units", _units, "list units, their certificates and public keys")
    seals = _command(commands, "verify-seals", _verify_seals, "prove every chain and every seal")
    seals.add_argument("--key", action="append", default=[], metavar="UNIT=HEX", type=_unit_key)
    export = _command(commands, "export-events", _export, "write a unit's events to a file")
    export.add_argument("--unit", required=True, metavar="ID")
    export.add_argument("--out", required=True, type=Path, metavar="FILE")
    pin = commands.add_parser("tech-pin", help="hash a tech's PIN for the table's file")
    pin.add_argument("--label", required=True)
    pin.set_defaults(run=_tech_pin)


def _command(commands: Commands, name: str, run: Any, help_text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help_text)
    add_data_option(parser)
    parser.set_defaults(run=run)
    return parser


@contextmanager
def _identities(data: Path) -> Iterator[tuple[IdentityStore, IdentityFolder]]:
    folder = IdentityFolder(data)
    if not folder.path.is_dir():
        raise IdentityError(f"There are no identities in {data}; start the manager once first.")
    store = IdentityStore(str(folder.database), wall_clock_ms)
    try:
        yield store, folder
    finally:
        store.close()


def _enrol_code(options: argparse.Namespace) -> int:
    with _identities(options.data) as (store, folder):
        code = EnrolmentDesk(store, folder, secrets.token_bytes).codes.make(options.table)
        print(f"code            {code}")
        print(f"ca-fingerprint  {folder.ca_fingerprint()}")
        print(f"for table {options.table}, once, within 15 minutes")
    return 0


def _approve(options: argparse.Namespace) -> int:
    with _identities(options.data) as (store, folder):
        desk = EnrolmentDesk(store, folder, secrets.token_bytes)
        if options.unit is None:
            for pending in desk.waiting():
                print(f"{pending.unit_id}  table {pending.table_id}  match {pending.match}")
            return 0
        if options.refuse:
            desk.deny(options.unit)
            print(f"Unit {options.unit} was refused.")
            return 0
        match = options.match or input(f"The six digits that {options.unit} shows: ")
        fingerprint = desk.approve(options.unit, match, options.ca_key)
        print(f"Unit {options.unit} is enrolled with certificate {fingerprint}.")
    return 0


def _revoke(options: argparse.Namespace) -> int:
    with _identities(options.data) as (store, _):
        count = Registry(store).revoke(options.unit, options.reason)
        print(f"{count} certificate(s) of unit {options.unit} were revoked.")
    return 0


def _retire(options: argparse.Namespace) -> int:
    with _identities(options.data) as (store, _):
        for certificate in Registry(store).retire(options.unit):
            print(f"The certificate {certificate.short} of unit {options.unit} was retired.")
    return 0


def _units(options: argparse.Namespace) -> int:
    with _identities(options.data) as (store, folder):
        registry = Registry(store)
        print(f"ca-fingerprint  {folder.ca_fingerprint()}")
        for unit_id in registry.unit_ids():
            print(unit_id)
            for certificate in registry.of_unit(unit_id):
                print(f"  certificate {certificate.fingerprint}  {_standing(certificate)}")
        for unit_id, public_key in registry.seal_keys():
            print(f"seal-key {unit_id}={public_key.hex()}")
    return 0


def _standing(certificate: Certificate) -> str:
    issued = f"issued {_day(certificate.issued_ms)}"
    if not certificate.counts:
        return f"{issued}, ended {_day(certificate.ended_ms)}: {certificate.ended}"
    return f"{issued}, {'in use' if certificate.first_used_ms else 'not used yet'}"


def _day(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")


@contextmanager
def _seal_book(data: Path) -> Iterator[SealBook]:
    with ledger_to_read(data, check_tail=False) as store:
        yield SealBook(store)


def _verify_seals(options: argparse.Namespace) -> int:
    keys: dict[str, list[bytes]] = {}
    for unit_id, public_key in options.key:
        keys.setdefault(unit_id, []).append(public_key)
    with _seal_book(options.data) as book:
        reports = book.check_all(keys or None)
    for report in reports:
        print(report.sentence)
    return 0 if all(report.sound for report in reports) else 1


def _export(options: argparse.Namespace) -> int:
    """The unit's newest journal, whole: enough to check it anywhere with the unit's public key."""
    with _seal_book(options.data) as book:
        journals = [journal for unit_id, journal in book.journals() if unit_id == options.unit]
        if not journals:
            raise IdentityError(f"No event of a unit {options.unit} is in the ledger.")
        for number, journal_id in enumerate(journals, start=1):
            path = options.out if number == 1 else options.out.with_suffix(f".{number}")
            hello = Hello(options.unit, 0, 0, journal_id, 0, 0, b"", "export")
            try:
                with path.open("wb") as file:
                    write_capture(file, hello, book.events(options.unit, journal_id))
            except OSError as error:
                raise IdentityError(f"{path} cannot be written: {error}.") from error
            print(f"{path}: the events of journal {journal_id.hex()}")
    return 0


def _tech_pin(options: argparse.Namespace) -> int:
    pin = getpass("PIN: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    try:
        salt, hashed = hash_pin(pin, secrets.token_bytes)
    except PinError as error:
        raise IdentityError(str(error)) from error
    print("[[techs]]")
    print(f'label = "{options.label}"')
    print(f'pin_salt = "{salt.hex()}"')
    print(f'pin_hash = "{hashed.hex()}"')
    return 0


def _unit_key(text: str) -> tuple[str, bytes]:
    unit_id, separator, key = text.partition("=")
    if not separator:
        raise ValueError("a key is given as UNIT=HEX")
    return unit_id, bytes.fromhex(key)
