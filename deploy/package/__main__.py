"""The packages' command line: `python3 -m deploy.package manager --suite trixie --arch amd64`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from deploy.installer.errors import InstallRefused
from deploy.package.build import Build, source_date_s
from deploy.package.errors import BuildRefused
from deploy.package.recipes import RECIPES
from deploy.package.targets import MACHINES, SUITES, Target
from kit.command_line import run_command, told

CHECKOUT: Final = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m deploy.package", description=__doc__)
    parser.add_argument("package", choices=sorted(RECIPES))
    parser.add_argument("--suite", default="trixie", help=f"one of {', '.join(SUITES)}")
    parser.add_argument("--arch", default="amd64", help=f"one of {', '.join(MACHINES)}")
    parser.add_argument("--out", type=Path, default=Path("build/deb"), metavar="DIR")
    parser.add_argument(
        "--wheels", type=Path, metavar="DIR", help="holds a wheel that had to be built"
    )
    options = parser.parse_args(arguments)
    os.umask(0o022)
    return told(lambda: _build(options), BuildRefused, InstallRefused, name="deb")


def _build(options: argparse.Namespace) -> int:
    target = Target(options.suite, options.arch)
    epoch_s = source_date_s(CHECKOUT)
    build = Build(RECIPES[options.package], target, CHECKOUT, epoch_s, options.wheels)
    print(build.make(options.out), file=sys.stdout)
    return 0


if __name__ == "__main__":
    run_command(main)
