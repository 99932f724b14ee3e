"""Where a manager keeps its things, and how the command line is told of another place."""

from __future__ import annotations

import argparse
from pathlib import Path

LEDGER_NAME = "ledger.sqlite"
DATA_FOLDER = Path("/var/lib/underfelt-manager")  # where the installer puts it


def add_data_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=DATA_FOLDER,
        metavar="DIR",
        help=f"folder of the ledger or of a copy; {DATA_FOLDER} unless told",
    )
