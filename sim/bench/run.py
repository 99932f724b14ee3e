"""`make run`: a Game Manager, one table on simulated hardware, and the bench page, until Ctrl-C.

It alone knows how the three are started together, which ports they take and where their data lie.
The manager is the shipped program in a process of its own; the unit runs here, beside its world.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shutil
import signal
import sys
from pathlib import Path

from controller import web as unit_web
from controller import web_server
from controller.app import Controller
from controller.black_box import TraceStore
from controller.config import UnitConfig, load_unit_config
from controller.felt_memory import FeltStore
from controller.identity import UnitIdentity
from controller.places import black_box_path, felt_path, references_path
from controller.recovery import open_journal, opened_or_closed
from controller.references import ReferencesFault, load_references, save_references
from hal.clock import wall_ms
from protocol.stream import FrameStream
from protocol.tls import limit_tls_buffers, secure_stream
from sim.bench import web as bench_web
from sim.bench.cable import BenchCable
from sim.bench.enrolment import enrol_once
from sim.bench.table import BenchTable
from sim.floor import Impossible, simulated, table_path
from sim.unit import SimUnit
from sim.world import World

log = logging.getLogger("sim.bench")

HOST = "127.0.0.1"
BENCH_ORIGINS = (f"http://{HOST}:*", "http://localhost:*")  # it shows the panel in a frame
BENCH_PORT = 8000
PANEL_PORT = 8080
MANAGER_WEB_PORT = 8001
MANAGER_LINK_PORT = 7411
MANAGER_ENROL_PORT = 7412
MANAGER_READY_MAX_S = 20
MANAGER_STOP_MAX_S = 5
SEED = 1
PARTS = ("unit", "manager")
REFUSED = 2


def bench(table_name: str, data: Path, fresh: bool) -> int:
    try:
        path = table_path(table_name)
        _prepare(data, fresh)
    except Impossible as refusal:
        print(f"bench: {refusal}", file=sys.stderr)
        return REFUSED
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    asyncio.run(_run(table_name, path, data))
    return 0


def _prepare(data: Path, fresh: bool) -> None:
    """Only what an earlier run put there is forgotten, whatever else the folder holds."""
    try:
        for part in PARTS if fresh else ():
            if (data / part).exists():
                shutil.rmtree(data / part)
        (data / "unit").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Impossible(f"the data cannot lie in {data}: {error.strerror}") from error


async def _run(table_name: str, path: Path, data: Path) -> None:
    stop = _stop_at_signals()
    async with contextlib.AsyncExitStack() as stack:
        manager = await _start_manager(path, data, stack)
        addresses = await _start_table(path, data, manager, stack)
        _print_addresses(table_name, addresses, data)
        await stop.wait()
        print("\nstopping; the data stay in", data, flush=True)


def _stop_at_signals() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def _start_manager(
    table: Path, data: Path, stack: contextlib.AsyncExitStack
) -> dict[str, str]:
    """Starts the shipped manager and reads from its first line where it listens."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "manager",
        "serve",
        *("--data", str(data / "manager")),
        *("--port", str(_free(MANAGER_LINK_PORT))),
        *("--enrol-port", str(_free(MANAGER_ENROL_PORT))),
        *("--web-port", str(_free(MANAGER_WEB_PORT))),
        *("--table", str(table)),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is ours to handle: the table stops first
    )
    stack.push_async_callback(_stop_manager, process)
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), MANAGER_READY_MAX_S)
    if not line:
        raise RuntimeError("the Game Manager did not start; its message stands above")
    addresses: dict[str, str] = json.loads(line)
    return addresses


async def _stop_manager(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), MANAGER_STOP_MAX_S)
    except TimeoutError:
        process.kill()
        await process.wait()


async def _start_table(
    path: Path, data: Path, manager: dict[str, str], stack: contextlib.AsyncExitStack
) -> dict[str, str]:
    config = simulated(load_unit_config(path))
    unit_data = data / "unit"
    world = World(config.board, SEED)
    cable = BenchCable(int(manager["link"].rpartition(":")[2]))
    # Held from here on: a second bench that starts now must not be given the same port.
    panel = web_server.bind(HOST, PANEL_PORT)
    panel_port = int(panel.getsockname()[1])
    identity = await enrol_once(config, data, manager)
    limit_tls_buffers()
    unit = _make_unit(config, world, cable, identity, unit_data, panel)
    world.start()
    stack.push_async_callback(world.close)
    stack.push_async_callback(cable.close)
    await _calibrate_once(unit, config, unit_data)
    await unit.power_on()
    stack.push_async_callback(unit.close)
    addresses = {
        "panel_url": f"http://{HOST}:{panel_port}/",
        "display_url": f"http://{HOST}:{panel_port}/display",
        "manager_url": manager["web"],
    }
    table = BenchTable(config, world, unit, cable, addresses)
    listener = web_server.bind(HOST, BENCH_PORT)
    _run_task(web_server.serve(bench_web.build(table), listener), "bench-page", stack)
    _run_task(table.watch(), "bench-eye", stack)
    return {"bench_url": f"http://{HOST}:{listener.getsockname()[1]}/", **addresses}


def _make_unit(
    config: UnitConfig,
    world: World,
    cable: BenchCable,
    identity: UnitIdentity,
    data: Path,
    panel: web_server.Listener,
) -> SimUnit:
    async def connect() -> FrameStream:
        reader, writer = await cable.connect()
        return await secure_stream(reader, writer, identity.context())

    first = [panel]
    panel_port = int(panel.getsockname()[1])

    async def serve_panel(controller: Controller) -> None:
        """On the port that it had when the unit's power first came."""
        listener = first.pop() if first else web_server.bind(HOST, panel_port)
        await web_server.serve(unit_web.build(controller, BENCH_ORIGINS), listener)

    serial = config.board.serial
    return SimUnit(
        config,
        world,
        open_journal=lambda: opened_or_closed(lambda: open_journal(data, serial, wall_ms())),
        open_traces=lambda: TraceStore(str(black_box_path(data))),
        open_felt=lambda: FeltStore.opened(str(felt_path(data))),
        connect=connect,
        wall_ms=wall_ms,
        seed=SEED,
        companion=serve_panel,
        sealer=identity.sealer(serial),
    )


async def _calibrate_once(unit: SimUnit, config: UnitConfig, data: Path) -> None:
    """A unit that was never calibrated is delivered calibrated, on its empty felt."""
    sensors = [sensor.id for sensor in config.board.sensors]
    try:
        unit.references = load_references(references_path(data), config.board.serial, sensors)
    except ReferencesFault:
        await unit.calibrate()
        save_references(references_path(data), config.board.serial, unit.references)


def _free(port: int) -> int:
    """The port, or a free one."""
    listener = web_server.bind(HOST, port)
    try:
        return int(listener.getsockname()[1])
    finally:
        listener.close()


def _run_task(coroutine: object, name: str, stack: contextlib.AsyncExitStack) -> None:
    task = asyncio.ensure_future(coroutine)  # type: ignore[call-overload]
    task.set_name(name)

    async def stop() -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    stack.push_async_callback(stop)


def _print_addresses(table: str, addresses: dict[str, str], data: Path) -> None:
    print(f"table {table} on simulated hardware; data in {data}")
    print(f"  bench            {addresses['bench_url']}")
    print(f"  dealer panel     {addresses['panel_url']}")
    print(f"  jackpot display  {addresses['display_url']}")
    print(f"  Game Manager     {addresses['manager_url']}/")
    print("Ctrl-C stops.", flush=True)
