"""The unit's commands: enrol it, run the table, test its hardware, calibrate its sensors."""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import apsw

from controller import notify, web, web_server
from controller.app import Controller
from controller.black_box import BlackBox, TraceStore
from controller.calibration import SpotCalibration
from controller.config import UnitConfig, load_unit_config
from controller.enrol import ManagerPlace, enrol
from controller.felt_memory import FeltStore
from controller.health import HealthWatch
from controller.health_store import HealthStore
from controller.identity import IdentityFault, UnitIdentity
from controller.journal_file import JournalFault
from controller.places import black_box_path, felt_path, health_path, references_path
from controller.recovery import open_journal, opened_or_closed
from controller.references import ReferencesFault, load_calibrations, load_references
from controller.restore import Request, restore
from controller.service import ServiceRefused
from controller.service_commands import (
    ask_pin,
    calibrate_unit,
    selftest_unit,
    show_health,
    show_traces,
)
from hal.backend import Backend, open_backend
from hal.board import Board
from hal.clock import wall_ms
from hal.errors import ConfigError, HardwareFault
from hal.loop_watch import UNIT_BEAT_S, LoopWatch
from hal.worker import ThreadWorker
from protocol.command_line import run_command
from protocol.stream import FrameStream
from protocol.tls import limit_tls_buffers, open_stream

log = logging.getLogger("controller")

Store = TypeVar("Store")

WATCHDOG_EVERY_S = 2
REFUSED = 2
REFUSALS = (
    ConfigError,
    HardwareFault,
    IdentityFault,
    JournalFault,
    ReferencesFault,
    ServiceRefused,
)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.INFO, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr
    )
    try:
        return asyncio.run(_command(options))
    except REFUSALS as error:
        print(f"controller: {error}", file=sys.stderr)
        return REFUSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m controller", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add(commands, "run", "run the table")
    for name, text in (("selftest", "test every part"), ("calibrate", "learn the empty felt")):
        command = _add(commands, name, text)
        command.add_argument("--tech", default="", metavar="LABEL", help="who asks; a PIN follows")
    traces = _add(commands, "traces", "list the black box's rounds, or copy one out")
    traces.add_argument("--round", type=int, metavar="N")
    traces.add_argument("--out", type=Path, metavar="FILE", help="for `python -m sim replay`")
    learning = commands.choices["calibrate"]
    learning.add_argument("--empty-only", action="store_true", help="without a chip per spot")
    _add(commands, "health", "each spot's noise, drift and advice")
    restoring = _add(commands, "restore", "a new journal in place of a damaged one")
    restoring.add_argument("--tech", default="", metavar="LABEL", help="who asks; a PIN follows")
    restoring.add_argument("--confirm", action="store_true", help="when no tech can be read")
    restoring.add_argument("--replace-sound", action="store_true", help="if the manager refuses it")
    restoring.add_argument(
        "--from", dest="extra", type=Path, metavar="FOLDER", help="data of the unit it replaces"
    )
    asking = _add(commands, "enrol", "ask the manager for a certificate")
    asking.add_argument("--manager", required=True, metavar="HOST:PORT")
    asking.add_argument("--ca-fingerprint", required=True, metavar="HEX")
    asking.add_argument("--code", required=True, help="the operator's one-time code")
    return parser


def _add(commands: Any, name: str, help_text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=help_text)
    command.add_argument("--config", type=Path, default=Path("/etc/underfelt/table.toml"))
    command.add_argument("--data", type=Path, default=Path("/var/lib/underfelt"))
    return command


async def _command(options: argparse.Namespace) -> int:
    config = load_unit_config(options.config)
    if options.command == "enrol":
        return await enrol_unit(config, options)
    if options.command == "restore":
        return restore_unit(config, options)
    if options.command == "health":
        return show_health(options.data)
    if options.command == "traces":
        return show_traces(options.data, options.round, options.out)
    backend = open_backend(config.board.backend)
    if options.command == "calibrate":
        return await calibrate_unit(config, backend, options.data, options.tech, options.empty_only)
    if options.command == "selftest":
        return await selftest_unit(config, backend, options.data, options.tech)
    return await run_unit(config, backend, options.data)


async def enrol_unit(config: UnitConfig, options: argparse.Namespace) -> int:
    place = ManagerPlace.parse(options.manager, options.ca_fingerprint)
    unit_id = config.board.serial

    def show(digits: str) -> None:
        print(f"unit {unit_id} waits for approval. Its number is {digits[:3]} {digits[3:]}.")
        print("The operator must see the same number.", flush=True)

    await enrol(options.data, unit_id, place, options.code, show)
    print(f"unit {unit_id} is enrolled; its certificate is used from the next connection on")
    return 0


def restore_unit(config: UnitConfig, options: argparse.Namespace) -> int:
    request = Request(options.tech, options.confirm, options.replace_sound, options.extra)
    for line in restore(options.data, config.board.serial, request, ask_pin, wall_ms):
        print(line)
    return 0


async def run_unit(config: UnitConfig, backend: Backend, data: Path) -> int:
    """Runs the table until a signal asks it to stop."""
    identity, serial = UnitIdentity(data), config.board.serial
    identity.check(serial)
    limit_tls_buffers()
    sensors = [sensor.id for sensor in config.board.sensors]
    references, calibrations, references_fault = _references(data, serial, sensors)
    disk = backend.disk_worker()
    # A unit that cannot record stays closed and says why; ending here would only restart it.
    journal = await disk.run(
        lambda: opened_or_closed(lambda: open_journal(data, serial, wall_ms()))
    )

    async def connect() -> FrameStream:
        return await open_stream(config.link_host, config.link_port, identity.context())

    # A thread of its own: no bet waits for the disk behind a trace.
    evidence = ThreadWorker("black-box")
    traces = await evidence.run(lambda: _kept(TraceStore, black_box_path(data)))
    felt_store = await disk.run(lambda: _kept(FeltStore.opened, felt_path(data)))
    board = Board.from_config(config.board, backend)
    controller = Controller(
        config,
        board,
        journal,
        disk,
        references,
        connect,
        wall_ms,
        random.Random(),
        identity.sealer(serial),
        BlackBox(traces, evidence, references, config),
        calibrations,
        references_fault,
        felt_store,
    )
    health_store = await disk.run(lambda: _kept(HealthStore, health_path(data)))
    health = HealthWatch(controller.spots, health_store, disk, wall_ms)
    controller.at_lock.append(lambda: health.locked(controller.keeper.state.accepted))
    listener = web_server.bind(config.web_host, config.web_port)
    log.info("the dealer's panel is at http://%s:%d/", *listener.getsockname())
    try:
        await _run_until_signal(controller, listener, health)
    finally:
        notify.stopping()
        board.close()
        await disk.run(journal.close)
        await disk.run(felt_store.close)
        await disk.run(health_store.close)
        await evidence.run(traces.close)
        disk.close()
        evidence.close()
    return 0


def _kept(store: Callable[[str], Store], path: Path) -> Store:
    """Evidence beside the journal; a card that cannot hold it costs only the evidence."""
    try:
        return store(str(path))
    except apsw.Error as error:
        log.error("%s is kept in memory only: %s", path.name, error)
        return store(":memory:")


def _references(
    data: Path, serial: str, sensors: list[str]
) -> tuple[dict[str, int], dict[str, SpotCalibration], str]:
    """References and calibrations, or neither and the sentence for the panel."""
    path = references_path(data)
    try:
        return load_references(path, serial, sensors), load_calibrations(path, serial), ""
    except ReferencesFault as fault:
        sentence = f"The table is closed: {fault}."
        log.critical(sentence)
        return {}, {}, sentence


async def _run_until_signal(
    controller: Controller, listener: web_server.Listener, health: HealthWatch
) -> None:
    # Not critical: a table whose loop nobody watches is still a table.
    watch = LoopWatch(beat_s=UNIT_BEAT_S)
    controller.crew.start("loop-watch", watch.run(), critical=False)
    tasks = [
        asyncio.create_task(health.run(), name="health"),
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
    await controller.resumed.wait()  # for how long at most, systemd knows
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


if __name__ == "__main__":
    run_command(main)
