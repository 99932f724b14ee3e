"""`replay FILE`: a bundle or a trace once more through today's code, differences line by line.

The unit's own code judges it, which the simulator has. So this works in a checkout, and says so
where there is none.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

from kit.command_line import CommandRefused


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="underfelt-tech replay", description=__doc__)
    parser.add_argument("file", type=Path, metavar="BUNDLE|TRACE")
    options = parser.parse_args(arguments)
    if not options.file.is_file():
        raise CommandRefused(f"{options.file} is no file.")
    if importlib.util.find_spec("sim") is None:
        raise CommandRefused("Replaying needs the simulator: run it in a checkout of the project.")
    command = [sys.executable, "-m", "sim", "replay", str(options.file)]
    return subprocess.run(command, check=False).returncode
