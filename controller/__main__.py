"""The unit's commands: run the table, test its hardware, calibrate its sensors."""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import signal
import sys
from pathlib import Path

from controller import notify, web, web_server
from controller.app import Controller
from controller.calibration import measure_empty
from controller.config import UnitConfig, load_unit_config
from controller.journal import Journal, JournalFault
from controller.link import connect_tcp
from controller.references import ReferencesFault, load_references, save_references
from controller.selftest import Verdict, run_selftest
from hal.backend import Backend, open_backend
from hal.board import Board
from hal.clock import wall_ms
from hal.errors import ConfigError, HardwareFault
from protocol.stream import FrameStream

log = logging.getLogger("controller")

WATCHDOG_EVERY_S = 2
REFUSED = 2


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.INFO, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr
    )
    try:
        config = load_unit_config(options.config)
        backend = open_backend(config.board.backend)
        commands = {"run": run_unit, "selftest": selftest_unit, "calibrate": calibrate_unit}
        return asyncio.run(commands[options.command](config, backend, options.data))
    except (ConfigError, HardwareFault, ReferencesFault, JournalFault) as error:
        print(f"controller: {error}", file=sys.stderr)
        return REFUSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m controller", description=__doc__)
    parser.add_argument("command", choices=("run", "selftest", "calibrate"))
    parser.add_argument("--config", type=Path, default=Path("/etc/underfelt/table.toml"))
    parser.add_argument("--data", type=Path, default=Path("/var/lib/underfelt"))
    return parser


def journal_path(data: Path) -> Path:
    return data / "journal.sqlite"


def references_path(data: Path) -> Path:
    return data / "references.json"


async def run_unit(config: UnitConfig, backend: Backend, data: Path) -> int:
    """Runs the table until a signal asks it to stop."""
    sensors = [sensor.id for sensor in config.board.sensors]
    references = load_references(references_path(data), config.board.serial, sensors)
    disk = backend.disk_worker()
    journal = await disk.run(
        lambda: Journal.open(str(journal_path(data)), created_wall_ms=wall_ms())
    )

    async def connect() -> FrameStream:
        return await connect_tcp(config.link_host, config.link_port)

    board = Board.from_config(config.board, backend)
    controller = Controller(
        config, board, journal, disk, references, connect, wall_ms, random.Random()
    )
    listener = web_server.bind("0.0.0.0", config.web_port)
    log.info("the dealer's panel is at port %d", listener.getsockname()[1])
    try:
        await _run_until_signal(controller, listener)
    finally:
        notify.stopping()
        board.close()
        await disk.run(journal.close)
        disk.close()
    return 0


async def _run_until_signal(controller: Controller, listener: web_server.Listener) -> None:
    tasks = [
        asyncio.create_task(controller.run(), name="controller"),
        asyncio.create_task(web_server.serve(web.build(controller), listener), name="web"),
        asyncio.create_task(_feed_watchdog(controller), name="watchdog"),
    ]
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    tasks.append(asyncio.create_task(stop.wait(), name="stop"))  # type: ignore[arg-type]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _feed_watchdog(controller: Controller) -> None:
    """Fed only while every critical task and the disk get things done; else systemd restarts us."""
    told_ready = False
    while True:
        if await controller.proves_progress():
            status = controller.state()
            if not told_ready:
                told_ready = True
                notify.ready(status)
            notify.watchdog(status)
        else:
            log.error("no progress: %s", controller.crew.dead or controller.crew.stalled())
        await asyncio.sleep(WATCHDOG_EVERY_S)


async def calibrate_unit(config: UnitConfig, backend: Backend, data: Path) -> int:
    board = Board.from_config(config.board, backend)
    try:
        references = await measure_empty(board)
    finally:
        board.close()
    save_references(references_path(data), config.board.serial, references)
    for sensor, raw in references.items():
        print(f"{sensor:>4}  {raw}")
    print(f"saved for board {config.board.serial}")
    return 0


async def selftest_unit(config: UnitConfig, backend: Backend, data: Path) -> int:
    sensors = [sensor.id for sensor in config.board.sensors]
    references = load_references(references_path(data), config.board.serial, sensors)
    board = Board.from_config(config.board, backend)
    try:
        verdicts = await run_selftest(board, references)
    finally:
        board.close()
    return print_verdicts(verdicts)


def print_verdicts(verdicts: list[Verdict]) -> int:
    for verdict in verdicts:
        print(f"{'ok    ' if verdict.passed else 'FAULT '} {verdict.part}: {verdict.sentence}")
    faults = sum(not verdict.passed for verdict in verdicts)
    print(f"{len(verdicts) - faults} parts are in order, {faults} are not")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
