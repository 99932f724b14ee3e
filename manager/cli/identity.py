"""What an operator types about units' identities: codes, approval, revoking, keys, seals.

It turns arguments into requests and prints the answers. The seals are checked on a copy while a
manager serves.
"""

from __future__ import annotations

import argparse
import base64
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kit.command_line import asked, asked_in_secret
from manager.audit.witnesses import contradiction, sealed_tails
from manager.data_folder import add_data_option
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.intake.seals import Seals
from manager.ledger_reader import ledger_to_read
from manager.operator_requests import carry_out
from protocol.proof.capture import write_capture
from protocol.secrets.tech_pin import PinError, hash_pin
from protocol.wire.messages import Hello

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


def _asked(options: argparse.Namespace, command: str, **words: str) -> str:
    return carry_out(options.data, {"command": command, **words})


def _enrol_code(options: argparse.Namespace) -> int:
    print(_asked(options, "enrol-code", table=options.table))
    return 0


def _approve(options: argparse.Namespace) -> int:
    if options.unit is None:
        if waiting := _asked(options, "waiting"):
            print(waiting)
        return 0
    if options.refuse:
        print(_asked(options, "refuse-unit", unit=options.unit))
        return 0
    match = options.match or asked(f"The six digits that {options.unit} shows: ")
    named = {"unit": options.unit, "match": match}
    to_sign = base64.b64decode(_asked(options, "signing-request", **named))
    # Signed here and not by the manager that serves: it never opens the CA's key.
    issued = IdentityFolder(options.data).issue(options.unit, to_sign, options.ca_key)
    print(_asked(options, "grant", **named, certificate=base64.b64encode(issued).decode()))
    return 0


def _revoke(options: argparse.Namespace) -> int:
    print(_asked(options, "revoke", unit=options.unit, reason=options.reason))
    return 0


def _retire(options: argparse.Namespace) -> int:
    print(_asked(options, "retire", unit=options.unit))
    return 0


def _units(options: argparse.Namespace) -> int:
    print(_asked(options, "units"))
    return 0


@contextmanager
def _seal_book(data: Path) -> Iterator[Seals]:
    with ledger_to_read(data) as store:
        yield Seals(store)


def _verify_seals(options: argparse.Namespace) -> int:
    keys: dict[str, list[bytes]] = {}
    for unit_id, public_key in options.key:
        keys.setdefault(unit_id, []).append(public_key)
    with ledger_to_read(options.data) as ledger:
        reports = Seals(ledger).check_all(keys or None)
        told = sealed_tails(ledger)
        problem = contradiction(ledger, told)
    for report in reports:
        print(report.sentence)
    agree = f"The ledger holds what {len(told)} seals say of its tail."
    print(problem or agree)
    return 0 if not problem and all(report.sound for report in reports) else 1


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
                raise IdentityError(f"{path} cannot be written: {error.strerror}.") from error
            print(f"{path}: the events of journal {journal_id.hex()}")
    return 0


def _tech_pin(options: argparse.Namespace) -> int:
    pin = asked_in_secret("PIN: ")
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
