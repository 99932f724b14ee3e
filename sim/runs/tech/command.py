"""Starts the simulated unit, then the shipped tool as a program of its own, and ends with it.

The tool is not imported: it is what a laptop runs, and meets the unit only through its door.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import signal
import sys
import tempfile
from pathlib import Path

from controller.config import load_unit_config
from kit.command_line import whole
from kit.files import private_folder, write_private
from sim.floor.floor import Impossible, table_path
from sim.hardware.null_modem import NullModem
from sim.runs.tech.faults import known, wanted
from sim.runs.tech.practice_unit import HOST, PracticeUnit, calibrate_beforehand, practice_unit

# Of the tables that ship; a house has technicians of its own.
TECH, PIN = "Tech 3", "246813"
# These read files and visit no unit.
AT_HOME = ("board", "decode", "flash", "open", "provision", "replay", "--help", "--version")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--table", default="four-card-touch")
    parser.add_argument("--seed", type=whole(), default=1)
    parser.add_argument(
        "--faults", default="", metavar="NAME:PART[,…]", help=f"what is broken: {known()}"
    )
    parser.add_argument("--serial", action="store_true", help="by the serial line, no network")
    parser.add_argument(
        "--noise", type=whole(0, 100), default=0, metavar="N", help="damaged bytes in 10,000 there"
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND …")


def main(options: argparse.Namespace) -> int:
    wanted(load_unit_config(table_path(options.table)).board, options.faults)
    if not options.words:
        raise Impossible("say what the tool is to do, such as: sim tech selftest --close-table")
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    if options.words[0] not in AT_HOME:
        print(f"starting {options.table} on simulated hardware …", file=sys.stderr, flush=True)
        calibrate_beforehand(options.table, options.seed)
    with tempfile.TemporaryDirectory(prefix="underfelt-tech-") as folder:
        return asyncio.run(_run(options, Path(folder)))


async def _run(options: argparse.Namespace, folder: Path) -> int:
    # Ctrl-C is the tool's to handle; the unit stays until it has signed out.
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
    if options.words[0] in AT_HOME:
        return await _run_tool(options.words, folder)
    data = folder / "unit"
    private_folder(data / "identity")  # which an enrolment would have made
    line = NullModem(random.Random(options.seed), options.noise)
    pumping = asyncio.create_task(line.pump(), name="null modem")
    try:
        unit_options = (options.table, options.seed, data, options.faults, line)
        async with practice_unit(*unit_options) as unit:
            address = f"serial:{line.laptop_end}" if options.serial else unit.url
            return await _run_tool(_visit(options.words, unit, address, folder), folder)
    finally:
        pumping.cancel()
        line.close()


def _visit(words: list[str], unit: PracticeUnit, address: str, folder: Path) -> list[str]:
    pin = folder / "pin"
    write_private(pin, PIN.encode())
    if words[0] == "find":
        return [*words, "--interface", HOST]
    visit = ["--unit", address, "--fingerprint", unit.fingerprint]
    return [words[0], *visit, "--name", TECH, "--pin-file", str(pin), *words[1:]]


async def _run_tool(words: list[str], folder: Path) -> int:
    # What this laptop knows of real units stays as it is.
    environment = os.environ | {"XDG_CONFIG_HOME": str(folder / "config")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "deploy.tech", *words, env=environment
    )
    return await process.wait()
