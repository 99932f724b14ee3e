"""Checks a unit's exported events offline: `python -m protocol.proof.check_seals FILE --key HEX`.

Needs nothing but the file and the unit's public key, which an auditor keeps apart from both the
unit and the manager. Exit 0 when the chain is whole and every seal genuine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kit.command_line import CommandRefused, run_command, told
from protocol.proof.capture import read_capture
from protocol.proof.seal import KEY_BYTES, SealReport, check_history
from protocol.wire.errors import ProtocolError


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m protocol.proof.check_seals", description=__doc__
    )
    parser.add_argument("file", type=Path, help="events exported by the manager")
    parser.add_argument(
        "--key", action="append", required=True, type=_key, help="a public key of the unit, in hex"
    )
    options = parser.parse_args(arguments)
    return told(lambda: _check(options.file, options.key), ProtocolError)


def _check(file: Path, public_keys: Sequence[bytes]) -> int:
    try:
        report = check_file(file, public_keys)
    except ProtocolError as error:
        raise CommandRefused(f"{file}: {error}") from error
    print(report.sentence)
    return 0 if report.sound else 1


def check_file(path: Path, public_keys: Sequence[bytes]) -> SealReport:
    with path.open("rb") as file:
        hello, events = read_capture(file)
        return check_history(hello.unit_id, hello.journal_id, events, public_keys)


def _key(text: str) -> bytes:
    key = bytes.fromhex(text)
    if len(key) != KEY_BYTES:
        raise ValueError(f"a public key has {KEY_BYTES} bytes")
    return key


if __name__ == "__main__":
    run_command(main)
