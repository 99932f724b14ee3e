"""The unit's commands: enrol it, run the table, test its hardware, calibrate its sensors."""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from controller import stores, systemd
from controller.config import UnitConfig, load_unit_config
from controller.data_folder import references_path
from controller.felt.references import ReferencesFault, references_in
from controller.journal.file import JournalFault
from controller.link.identity import IdentityFault, UnitIdentity
from controller.service.admission import ServiceRefused
from controller.service.bundle.door import serve_bundles, socket_path
from controller.service.live.around import ServicePlace
from controller.service.program_check import installed_program, show_program
from controller.service.program_log import image_place, show_changes
from controller.service.program_state import (
    ProgramState,
    serve_program_state,
    show_program_state,
)
from controller.unenrolled import wait_until_enrolled
from controller.unit import Unit, UnitPlace, open_unit
from controller.web.chimes import chimes_of
from controller.web.doors import open_doors
from hal.backend import Backend, open_backend
from hal.errors import HardwareFault
from hal.loop_watch import UNIT_BEAT_S, LoopWatch
from kit.clock import wall_ms
from kit.command_line import run_command, told, whole
from kit.config import ConfigError
from kit.signed_release import KEY_FILE
from kit.tasks import first_ends_all, stop_asked
from kit.version import SOFTWARE
from protocol.secrets.tls import limit_tls_buffers, open_stream
from protocol.wire.address import split_address
from protocol.wire.settings import SEATS_MAX
from protocol.wire.stream import FrameStream

log = logging.getLogger("controller")

WATCHDOG_EVERY_S = 2
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
    return told(lambda: asyncio.run(_command(options)), *REFUSALS, name="controller")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m controller", description=__doc__)
    parser.add_argument("--version", action="version", version=SOFTWARE)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add(commands, "run", "run the table")
    for name, text in (("selftest", "test every part"), ("calibrate", "learn the empty felt")):
        command = _add(commands, name, text)
        command.add_argument("--tech", default="", metavar="LABEL", help="who asks; a PIN follows")
    traces = _add(commands, "traces", "list the black box's rounds, or copy one out")
    traces.add_argument("--round", type=whole(), metavar="N")
    traces.add_argument("--out", type=Path, metavar="FILE", help="for `python -m sim replay`")
    learning = commands.choices["calibrate"]
    learning.add_argument("--empty-only", action="store_true", help="without a chip per spot")
    finding = _add(commands, "find", "let a seat of the running table blink")
    finding.add_argument("seat", type=whole(1, SEATS_MAX), metavar="SEAT")
    _add(commands, "idle", "ends with 0 only between two rounds")
    program = _add(commands, "program", "whether the program may be changed, and is proven")
    program.add_argument("--self-test", action="store_true", help="tries every part first")
    commands.add_parser("changes", help="the last ten changes of this unit's program")
    _add(commands, "health", "each spot's noise, drift and advice")
    bundling = _add(commands, "bundle", "all that a technician takes home, in one signed file")
    bundling.add_argument("file", type=Path, metavar="FILE", help="- for the output")
    bundling.add_argument(
        "--kernel-log", type=Path, metavar="FILE", help="what dmesg says; - for the input"
    )
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
    verifying = commands.add_parser("verify", help="hold the program against what was approved")
    verifying.add_argument("--key", type=Path, default=KEY_FILE, metavar="FILE", help="public key")
    verifying.add_argument("--seed", default="", metavar="TEXT", help="prints a seeded digest")
    verifying.add_argument("--slot", type=Path, metavar="FILE", help="and one of this partition")
    verifying.add_argument("--folder", type=Path, metavar="DIR", help="of another release")
    return parser


def _add(commands: Any, name: str, help_text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=help_text)
    command.add_argument("--config", type=Path, default=Path("/etc/underfelt/table.toml"))
    command.add_argument("--data", type=Path, default=Path("/var/lib/underfelt"))
    return command


async def _command(options: argparse.Namespace) -> int:
    if options.command == "verify":
        return show_program(options.folder, options.key, options.seed, options.slot)
    if options.command == "changes":
        return show_changes()
    config = load_unit_config(options.config)
    if options.command == "enrol":
        return await enrol_unit(config, options)
    if options.command == "restore":
        return restore_unit(config, options)
    if options.command == "program":
        return show_program_state(config, options.data, options.self_test)
    if options.command == "run":
        return await run_unit(config, open_backend(config.board.backend), options.data)
    return await _tools_command(config, options)


async def _tools_command(config: UnitConfig, options: argparse.Namespace) -> int:
    """What people ask for beside the running table, in a process of its own.

    Its code is read here: a table that runs never needs it, and has no memory to spare for it.
    """
    from controller.service import commands
    from controller.service.bundle.from_files import save_bundle
    from controller.service.find import find_seat
    from controller.service.idle import show_idle

    data = options.data
    if options.command == "idle":
        return show_idle(config)
    if options.command == "find":
        return find_seat(config, options.seat)
    if options.command == "health":
        return commands.show_health(data)
    if options.command == "bundle":
        return save_bundle(config, data, _kernel_log(options.kernel_log), options.file)
    if options.command == "traces":
        return commands.show_traces(data, options.round, options.out)
    backend = open_backend(config.board.backend)
    if options.command == "calibrate":
        tech, empty_only = options.tech, options.empty_only
        return await commands.calibrate_unit(config, backend, data, tech, empty_only)
    return await commands.selftest_unit(config, backend, data, options.tech)


def _kernel_log(path: Path | None) -> bytes:
    if path is None:
        return b""
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise ServiceRefused(f"{path} cannot be read: {error.strerror}.") from error


async def enrol_unit(config: UnitConfig, options: argparse.Namespace) -> int:
    from controller.link import enrolling
    from controller.link.enrol import ManagerPlace, enrol

    place = ManagerPlace.parse(options.manager, options.ca_fingerprint)
    unit_id, identity = config.board.serial, UnitIdentity(options.data)

    def show(digits: str) -> None:
        enrolling.tell_digits(identity, digits)
        print(f"unit {unit_id} waits for approval. Its number is {digits[:3]} {digits[3:]}.")
        print("The operator must see the same number.", flush=True)

    try:
        await enrol(options.data, unit_id, place, options.code, show)
    except IdentityFault as fault:
        enrolling.tell_refusal(identity, str(fault))
        raise
    enrolling.tell_nothing(identity)
    print(f"unit {unit_id} is enrolled; its certificate is used from the next connection on")
    return 0


def restore_unit(config: UnitConfig, options: argparse.Namespace) -> int:
    from controller.service.commands import ask_pin
    from controller.service.restore import Request, restore

    request = Request(options.tech, options.confirm, options.replace_sound, options.extra)
    for line in restore(options.data, config.board.serial, request, ask_pin, wall_ms):
        print(line)
    return 0


async def run_unit(config: UnitConfig, backend: Backend, data: Path) -> int:
    """Runs the table until a signal asks it to stop."""
    stop = stop_asked()
    identity, serial = UnitIdentity(data), config.board.serial
    await wait_until_enrolled(config, identity, stop)
    if stop.is_set():
        systemd.stopping()
        return 0
    limit_tls_buffers()
    sensors = [sensor.id for sensor in config.board.sensors]

    async def connect(address: str) -> FrameStream:
        place = split_address(address)
        if place is None:
            raise ConnectionError("that is no address such as game-manager.local:7411")
        return await open_stream(*place, identity.context())

    unit = await open_unit(
        UnitPlace(
            config,
            backend,
            # A unit that cannot record stays closed and says why; ending would only restart it.
            stores.in_folder(data, serial, wall_ms),
            references_in(references_path(data), serial, sensors),
            connect,
            wall_ms,
            random.Random(),
            identity.sealer(serial),
            # The service manager starts it again at once.
            service=ServicePlace(data, restart=stop.set),
            program=installed_program(),
            updates=image_place(data),
        )
    )
    try:
        doors = open_doors(config.web)
        log.info("the dealer's panel is at %s", doors.panel_url)
        log.info("the players' display is at %s", doors.display_url)
        names, chimes = config.web.names, chimes_of(config.web)
        pages = [
            doors.serve(unit.pages, names=names, words=unit.words, chimes=chimes),
            serve_bundles(socket_path(data), unit.service.bundles.make),
            serve_program_state(data, _program_state(unit)),
        ]
        if config.web.service_port:
            pages.append(_service_page(config, unit, data))
        if config.web.service_serial:
            pages.append(_service_line(config.web.service_serial, unit))
        with unit.service.log.listening():
            await _run_until_asked(unit, _all(pages), stop)
    finally:
        systemd.stopping()
        await unit.close()
    return 0


def _program_state(unit: Unit) -> ProgramState:
    outbox, black_box = unit.hardware.stores.journal.outbox, unit.evidence.black_box
    resumed = unit.resumed.is_set
    return ProgramState(resumed, unit.keeper, unit.table, outbox, black_box, unit.service)


def _service_page(config: UnitConfig, unit: Unit, data: Path) -> Coroutine[Any, Any, None]:
    # Only a unit that opens this door has its code in memory.
    from controller.service.announce import announce_page
    from controller.service.page.app import PageOptions
    from controller.service.page.door import open_service_door

    door = open_service_door(config.web, config.board.serial, data)
    log.info("the service page is at %s %s", door.url, door.fingerprint)
    page = door.serve(unit.service, PageOptions(names=config.web.names))
    if door.tls is None:
        return page  # nobody else could reach it
    place = door.listener.getsockname()
    return _all([page, announce_page(config.board.serial, config.table_id, *place)])


def _service_line(path: str, unit: Unit) -> Coroutine[Any, Any, None]:
    from controller.service.page.serial_door import SerialDoor, page_for

    log.info("the service page is also at %s", path)
    return SerialDoor(page_for(unit.service), path).serve()


async def _all(pages: Sequence[Coroutine[Any, Any, None]]) -> None:
    async with asyncio.TaskGroup() as group:
        for each in pages:
            group.create_task(each)


async def _run_until_asked(
    unit: Unit, pages: Coroutine[Any, Any, None], stop: asyncio.Event
) -> None:
    # Not critical: a table whose loop nobody watches is still a table.
    watch = LoopWatch(unit.evidence.diary.loop_held, beat_s=UNIT_BEAT_S)
    unit.tasks.start("loop-watch", watch.run(), critical=False)
    await first_ends_all(
        [
            asyncio.create_task(unit.run(), name="unit"),
            asyncio.create_task(pages, name="web"),
            asyncio.create_task(_feed_watchdog(unit), name="watchdog"),
            asyncio.create_task(stop.wait(), name="stop"),
        ]
    )


async def _feed_watchdog(unit: Unit) -> None:
    """Fed only while every critical task and the disk get things done; else systemd restarts us."""
    await unit.resumed.wait()  # for how long at most, systemd knows
    told_ready = False
    while True:
        if await unit.proves_progress():
            status = unit.state()
            if not told_ready:
                told_ready = True
                systemd.ready(status)
            systemd.watchdog(status)
        else:
            log.error("no progress: %s", unit.tasks.dead or unit.tasks.stalled())
        await asyncio.sleep(WATCHDOG_EVERY_S)


if __name__ == "__main__":
    run_command(main)
