"""`open BUNDLE`: names the likely causes of a unit's trouble, best first, with the evidence.

It reads the bundle and nothing else. A bundle that was edited is opened all the same, and every
line of the answer stands under the sentence that it is not proven.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from kit.command_line import CommandRefused
from protocol.bundle.archive import BYTES_MAX, Bundle, BundleFault, read_bundle
from protocol.bundle.causes import Cause, causes_of

SOUND, TROUBLE, UNPROVEN = 0, 1, 3


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="underfelt-tech open", description=__doc__)
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument("--key", default="", metavar="HEX", help="the unit's public key")
    parser.add_argument("--json", action="store_true", help="for another program")
    parser.add_argument("--extract", type=Path, metavar="FOLDER", help="write its files there")
    options = parser.parse_args(arguments)
    bundle = opened(options.bundle, options.key)
    if options.extract:
        extract(bundle, options.extract)
    try:
        causes = causes_of(bundle)
    except BundleFault as fault:
        raise CommandRefused(f"{options.bundle}: {fault}") from fault
    print(as_json(bundle, causes) if options.json else "\n".join(in_words(bundle, causes)))
    if not bundle.is_proven:
        return UNPROVEN
    return TROUBLE if causes else SOUND


def opened(path: Path, key: str = "") -> Bundle:
    try:
        if path.stat().st_size > BYTES_MAX:
            raise CommandRefused(f"{path} is far larger than any bundle; it is not opened.")
        content = path.read_bytes()
    except OSError as error:
        raise CommandRefused(f"{path} cannot be read: {error.strerror}.") from error
    try:
        return read_bundle(content, key)
    except BundleFault as fault:
        raise CommandRefused(f"{path}: {fault}") from fault


def in_words(bundle: Bundle, causes: list[Cause]) -> Iterator[str]:
    head = bundle.head
    made = datetime.fromtimestamp(head.get("wall_ms", 0) / 1000, UTC)
    yield f"Unit {head.get('unit')}, table {head.get('table')} ({head.get('name')})"
    yield f"Made {made:%Y-%m-%d %H:%M:%S} UTC for {head.get('asked_by')} by {head.get('software')}"
    if bundle.is_proven:
        yield f"Signed by the unit's key {bundle.public_key[:16]}; the manager shows the same."
    for doubt in bundle.doubts:
        yield f"NOT PROVEN: {doubt}"
    for part, why in head.get("missing", {}).items():
        yield f"Without {part}: {why}"
    yield ""
    if not causes and bundle.doubts:
        yield "Nothing is named, but this bundle is not proven: take a new one at the unit."
    elif not causes:
        yield "Nothing that the rules know is wrong with this unit."
    for number, cause in enumerate(causes, 1):
        yield f"{number}. {cause.sentence}  [{cause.name}, {cause.score} of 100]"
        yield from (f"     because  {each}" for each in cause.evidence)
        yield from (f"     do       {each}" for each in cause.todo)


def as_json(bundle: Bundle, causes: list[Cause]) -> str:
    return json.dumps(
        {
            "unit": bundle.head.get("unit"),
            "proven": bundle.is_proven,
            "doubts": list(bundle.doubts),
            "causes": [cause.as_dict() for cause in causes],
        },
        indent=1,
    )


def extract(bundle: Bundle, folder: Path) -> None:
    """Only below that folder, whatever a name in the archive says."""
    for name, content in bundle.files.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise CommandRefused(f"{name} would be written outside of {folder}.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise CommandRefused(f"{path} cannot be written: {error.strerror}.") from error
