"""`make run`: a Game Manager, one table on simulated hardware, and the bench page, until Ctrl-C.

It alone knows how the three are started together, which ports they take and where their data lie.
The manager is the shipped program in a process of its own, with a practice floor's people; the unit
runs here, beside its world.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from controller import stores
from controller.config import UnitConfig, WebSection, load_unit_config
from controller.data_folder import references_path
from controller.felt.references import references_in, save_references
from controller.link.identity import UnitIdentity
from controller.service.live.around import ServicePlace
from controller.service.page.app import PageOptions
from controller.service.page.door import ServiceDoor, open_service_door
from controller.unit import Unit
from controller.web.chimes import chimes_of
from controller.web.doors import Doors, open_doors
from kit.clock import wall_ms
from kit.command_line import in_words
from kit.files import private_folder
from kit.tasks import first_ends_all, stop_asked
from kit.web import server
from protocol.secrets.tls import limit_tls_buffers, secure_stream
from protocol.wire.stream import FrameStream
from sim.floor.floor import Impossible, simulated, table_path
from sim.floor.unit import SimUnit
from sim.floor.world import World
from sim.runs.bench import web as bench_web
from sim.runs.bench.cable import BenchCable
from sim.runs.bench.enrolment import enrol_once
from sim.runs.bench.recording import RecordedPages, Recording
from sim.runs.bench.table import BenchTable

log = logging.getLogger("sim.runs.bench")

HOST = "127.0.0.1"
BENCH_ORIGINS = (f"http://{HOST}:*", "http://localhost:*")  # it shows the panel in a frame
BENCH_PORT = 8000
PAGES = WebSection(port=8080, display_port=8081, service_port=8082)
# Of the tables that ship; a house has technicians of its own.
TECH_HINT = "Practice table: sign in as Tech 3 with the PIN 246813."
MANAGER_WEB_PORT = 8001
MANAGER_LINK_PORT = 7411
MANAGER_ENROL_PORT = 7412
MANAGER_READY_MAX_S = 60
MANAGER_STOP_MAX_S = 5
SEED = 1
PARTS = ("unit", "manager")


def bench(table_name: str, data: Path, fresh: bool) -> int:
    table_path(table_name)  # refused before anything is forgotten
    _prepare(data, fresh)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    asyncio.run(_run_tables(table_name, data))
    return 0


async def _run_tables(table_name: str, data: Path) -> None:
    """One table after another, as they are chosen on the page, each with data of its own."""
    stop = stop_asked()
    first, chosen = table_name, table_name
    bench_port = _free(BENCH_PORT)  # of all of them: the page that chose another table goes on
    while chosen:
        folder = data if chosen == first else data / "others" / chosen
        _prepare(folder, fresh=False)
        chosen = await _run(chosen, folder, bench_port, stop)


def _prepare(data: Path, fresh: bool) -> None:
    """Only what an earlier run put there is forgotten, whatever else the folder holds."""
    try:
        for part in PARTS if fresh else ():
            if (data / part).exists():
                shutil.rmtree(data / part)
        private_folder(data / "unit")
    except OSError as error:
        raise Impossible(f"the data cannot lie in {data}: {in_words(error)}") from error


async def _run(table_name: str, data: Path, bench_port: int, stop: asyncio.Event) -> str:
    """Until it is stopped, or until another table is chosen, whose name it returns."""
    chosen: list[str] = []
    ending = asyncio.Event()

    def choose(name: str) -> None:
        chosen.append(name)
        ending.set()

    path = table_path(table_name)
    async with contextlib.AsyncExitStack() as stack:
        manager = await _start_manager(path, data, stack)
        addresses = await _start_table(path, data, bench_port, manager, stack, choose)
        _print_addresses(table_name, addresses, data)
        names = {"stopped": stop, "another table": ending}
        waits = [asyncio.create_task(each.wait(), name=name) for name, each in names.items()]
        await first_ends_all(waits)
        if not chosen:
            print("\nstopping; the data stay in", data, flush=True)
    return chosen[-1] if chosen and not stop.is_set() else ""


async def _start_manager(
    table: Path, data: Path, stack: contextlib.AsyncExitStack
) -> dict[str, str]:
    """Starts the practice manager and reads from its first line where it listens."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "sim.runs.bench.practice",
        *("serve", "--web-plain"),
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
    try:
        line = await asyncio.wait_for(process.stdout.readline(), MANAGER_READY_MAX_S)
    except TimeoutError:
        late = f"the Game Manager was not ready after {MANAGER_READY_MAX_S} s; try again"
        raise Impossible(late) from None
    if not line:
        raise Impossible("the Game Manager did not start; its message stands above")
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
    path: Path,
    data: Path,
    bench_port: int,
    manager: dict[str, str],
    stack: contextlib.AsyncExitStack,
    choose_table: Callable[[str], None],
) -> dict[str, str]:
    config = simulated(load_unit_config(path))
    unit_data = data / "unit"
    world = World(config.board, SEED)
    cable = BenchCable(int(manager["link"].rpartition(":")[2]))
    # Held from here on: a second bench that starts now must not be given the same ports.
    doors = open_doors(PAGES)
    service = _service_door(unit_data, PAGES)
    identity = await enrol_once(config, data, manager)
    limit_tls_buffers()
    addresses = {
        "panel_url": doors.panel_url,
        "display_url": doors.display_url,
        "manager_url": manager["web"],
        "service_url": service.url,
    }
    opened = _Pages(doors, service, unit_data, lambda: table.recording)
    unit = _make_unit(config, world, cable, identity, unit_data, opened)
    _let_restart(unit, config, unit_data, stack)
    world.start()
    stack.push_async_callback(world.close)
    stack.push_async_callback(cable.close)
    await _calibrate_once(unit, config, unit_data)
    await unit.power_on()
    stack.push_async_callback(unit.close)
    table = BenchTable(config, world, unit, cable, addresses, choose_table)
    listener = server.bind(HOST, bench_port)
    _run_task(server.serve(bench_web.build(table), listener), "bench-page", stack)
    _run_task(table.watch(), "bench-eye", stack)
    return {"bench_url": f"http://{HOST}:{listener.getsockname()[1]}/", **addresses}


def _service_door(data: Path, web: WebSection) -> ServiceDoor:
    return open_service_door(web, "bench", data)


class _Pages:
    """The unit's pages, on the ports that they had when the unit's power first came."""

    def __init__(
        self,
        doors: Doors,
        service: ServiceDoor,
        data: Path,
        recording: Callable[[], Recording | None],
    ) -> None:
        self._first = [(doors, service)]
        self._data = data
        self._recording = recording
        ports = [int(each.getsockname()[1]) for each in (*doors, service.listener)]
        self._again = WebSection(port=ports[0], display_port=ports[1], service_port=ports[2])

    async def serve(self, controller: Unit) -> None:
        doors, service = self._first.pop() if self._first else self._open_again()
        pages = RecordedPages(controller.pages, self._recording)
        chimes = chimes_of(controller.table.config.web)
        options = PageOptions(hint=TECH_HINT)
        async with asyncio.TaskGroup() as group:
            shown = doors.serve(pages, BENCH_ORIGINS, words=controller.words, chimes=chimes)
            group.create_task(shown, name="pages")
            group.create_task(service.serve(controller.service, options), name="service page")

    def _open_again(self) -> tuple[Doors, ServiceDoor]:
        return open_doors(self._again), _service_door(self._data, self._again)


def _make_unit(
    config: UnitConfig,
    world: World,
    cable: BenchCable,
    identity: UnitIdentity,
    data: Path,
    pages: _Pages,
) -> SimUnit:
    async def connect(_: str) -> FrameStream:
        reader, writer = await cable.connect()
        return await secure_stream(reader, writer, identity.context())

    serial = config.board.serial
    unit = SimUnit(
        config,
        world,
        stores=stores.in_folder(data, serial, wall_ms),
        connect=connect,
        wall_ms=wall_ms,
        seed=SEED,
        companion=pages.serve,
    )
    unit.sealer = identity.sealer(serial)
    return unit


def _let_restart(
    unit: SimUnit, config: UnitConfig, data: Path, stack: contextlib.AsyncExitStack
) -> None:
    """A calibration on the service page starts the unit anew, as its service manager would."""
    wanted = asyncio.Event()

    async def start_anew() -> None:
        while True:
            await wanted.wait()
            wanted.clear()
            await unit.close()
            await _calibrate_once(unit, config, data)
            await unit.power_on()

    unit.service = ServicePlace(data, wanted.set)
    _run_task(start_anew(), "bench-restart", stack)


async def _calibrate_once(unit: SimUnit, config: UnitConfig, data: Path) -> None:
    """A unit that was never calibrated is delivered calibrated, on its empty felt."""
    path, serial = references_path(data), config.board.serial
    is_new = not path.is_file()
    if not is_new:
        sensors = [sensor.id for sensor in config.board.sensors]
        unit.references = references_in(path, serial, sensors)
    if is_new or unit.references.fault:
        await unit.calibrate(empty_only=True)  # a person waits for the bench
        save_references(path, serial, unit.references.raw_by_sensor)


def _free(port: int) -> int:
    """The port, or a free one."""
    listener = server.bind(HOST, port)
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
    print(f"  service page     {addresses['service_url']} ({TECH_HINT})")
    print(f"  Game Manager     {addresses['manager_url']}/")
    print("Ctrl-C stops.", flush=True)
