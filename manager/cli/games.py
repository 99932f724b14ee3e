"""`python -m manager check-pack FILE`: what is wrong in a pack file, by line and column.

It also gives every command that reads paytables the option that names the operator's folders.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kit.config import ConfigError
from manager.games.catalogue import open_catalogue
from manager.games.pack import read_pack_file


def add_packs_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--packs",
        action="append",
        type=Path,
        default=[],
        metavar="DIR",
        help="also read the pack files (*.toml) of this folder; may be repeated",
    )


def add_jurisdiction_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jurisdiction",
        metavar="NAME",
        help="warn of this jurisdiction's wager limits: washington, or a file of your own (*.toml)",
    )


def main(arguments: Sequence[str]) -> int:
    """0 when every file can be used, 1 with every problem told when one cannot."""
    options = _parser().parse_args(arguments)
    try:
        found = [(file, read_pack_file(file)) for file in options.file]
        open_catalogue(*{file.parent for file in options.file})  # ids that clash
    except ConfigError as refusal:
        print(refusal, file=sys.stderr)
        return 1
    for file, paytables in found:
        print(f"{file}: {', '.join(paytable.id for paytable in paytables)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m manager check-pack", description=__doc__)
    parser.add_argument("file", type=Path, nargs="+", metavar="FILE.toml")
    return parser
