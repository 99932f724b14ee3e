"""A Game Manager as a process: its doors, its pages, and a clean stop.

It alone knows sockets and signals. The manager and its identities are given; data directories and
arguments are the command line's business. Units come in by TLS only.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import ssl
import sys
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from starlette.applications import Starlette

from kit.tasks import first_ends_all, stop_asked
from kit.web.own_pages import own_names
from kit.web.server import PageServer, page_server
from manager.alerts.all import Alerts
from manager.app import Manager
from manager.bundles.shelf import BundleShelf
from manager.clock import LedgerClock, watch
from manager.control import ControlDoor
from manager.doors import Doors
from manager.identity.folder import IdentityFolder
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.store.writer import ThreadWriter
from manager.link.ladder import LinkLadder
from manager.long_check import check_beside_play
from manager.operator_requests import OperatorRequests
from manager.people.first_code import FirstCode
from manager.people.passwords import Passwords, load_key
from manager.people.people import People
from manager.people.sessions import Sessions
from manager.people.signing import SignIn
from manager.people.two_people import TwoPeople
from manager.web.access import Access, Entrance
from manager.web.api import FloorApi
from manager.web.app import build
from manager.web.durable_pages import only_durable
from manager.web.units.view import UnitsView

_log = logging.getLogger(__name__)

EXPIRY_LOOK_S = 20.0  # how often requests that nobody decided on are looked through
GARBAGE_AFTER = 50_000  # objects made since the last look; a batch makes thousands that live on
# How long one thread may hold the interpreter while another waits for it. Python's own 5 ms would
# be added to a commit each time that its thread comes back from the disk or the database.
SWITCH_S = 0.0005
BACKLOG = 2048  # a whole floor may knock at once


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    listener.setblocking(False)
    return listener


class Listeners(NamedTuple):
    link: socket.socket
    enrolment: socket.socket
    web: socket.socket

    def again(self) -> Listeners:
        """The same doors once more, for who closes them behind itself."""
        return Listeners(*(listener.dup() for listener in self))

    def addresses(self) -> dict[str, str]:
        return {name: _address(listener) for name, listener in self._asdict().items()}


class WebDoor(NamedTuple):
    """How browsers come in: under which names, by TLS or not, and who a newcomer is.

    `sessions` are those of a manager that serves in turn with others: they outlast its turns.
    """

    names: Collection[str] = ()
    tls: ssl.SSLContext | None = None
    entrance: Entrance | None = None
    sessions: Sessions | None = None

    @property
    def scheme(self) -> str:
        return "http" if self.tls is None else "https"


def pages_tls(data: Path, names: Collection[str], host: str) -> ssl.SSLContext:
    """TLS for the pages, by a certificate of this floor's own authority."""
    folder = IdentityFolder(data)
    folder.ensure()
    known_as = own_names(names) | {"127.0.0.1", "::1"} | _addresses(host)
    folder.ensure_web(known_as, datetime.now(UTC))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(folder.web, folder.web_key)
    return context


def open_access(manager: Manager, data: Path, door: WebDoor) -> Access:
    """Who may do what on the pages and by the commands of this manager."""
    passwords = Passwords(load_key(data))
    people = People(manager.store, passwords)
    two_people = TwoPeople(
        manager.store, people, manager.booking.book, manager.tell_units, manager.shown_cents
    )
    sessions = door.sessions or Sessions(people, time.monotonic)
    sessions.go_on_with(people)
    return Access(
        people,
        sessions,
        SignIn(people, passwords, time.monotonic),
        two_people,
        FirstCode(people, passwords),
        door.entrance,
        door.tls is not None,
    )


async def serve(
    manager: Manager,
    doors: Doors,
    listeners: Listeners,
    ready: Callable[[], None],
    control: Path,
    clock: LedgerClock,
    web: WebDoor,
    over: asyncio.Event | None = None,
    floor: FloorApi | None = None,
) -> int:
    """Serves until a signal (0) or until the ledger can no longer be written (1).

    Who serves in turn with others hears the signals itself, and says by `over` when its turn ends.
    `floor` tells of the other managers.
    """
    stop = stop_asked() if over is None else over
    alerts = Alerts(control.parent, manager.store, manager.property_name)
    manager.view.machines.alerts_waiting = alerts.waiting
    manager.bundles.shelf = BundleShelf(control.parent)
    manager.rollouts.keep_in(control.parent)
    access = open_access(manager, control.parent, web)
    units = UnitsView(doors.identities, doors.carry_out, control.parent)
    application = build(manager.view, access, web.names, floor, units, manager.updates)
    pages = page_server(only_durable(application, manager.store.commits.until_durable), web.tls)
    requests = OperatorRequests(
        access.people,
        access.sign_in,
        access.two_people,
        access.first_code,
        doors.carry_out,
        manager.store,
    )
    door = ControlDoor(control, requests.carry_out, manager.store.commits.until_durable)
    manager.store.commits.beside(ThreadWriter(asyncio.get_running_loop()), manager.server.halt)
    tasks = (
        asyncio.create_task(stop.wait(), name="stop"),
        asyncio.create_task(manager.server.halted.wait(), name="halted"),
        asyncio.create_task(serve_pages(pages, application, listeners.web), name="pages"),
        asyncio.create_task(doors.run(listeners.link, listeners.enrolment), name="doors"),
        asyncio.create_task(door.run(), name="control"),
        asyncio.create_task(_expire_requests(access.two_people), name="requests"),
        asyncio.create_task(_ladder(manager).run(), name="link ladder"),
        asyncio.create_task(alerts.run(), name="alerts"),
        asyncio.create_task(watch(clock, manager.tell_clock), name="clock"),
        asyncio.create_task(
            check_beside_play(control.parent, manager.tell_unsound), name="long check"
        ),
    )
    settle_memory()
    sys.setswitchinterval(SWITCH_S)
    ready()
    _tell_first_code(access, listeners)
    try:
        await first_ends_all(tasks)
    except StorageFailed as error:
        # Who looks on beside play asks the ledger too, and may be the first to miss it.
        manager.server.halt(str(error))
    finally:
        await manager.close()
        doors.close()  # what the ledger tells it last is noted by then
    return 1 if manager.server.halted.is_set() else 0


def _tell_first_code(access: Access, listeners: Listeners) -> None:
    if access.first_code.is_wanted and access.entrance.newcomer(access.people) is None:
        place, code = _address(listeners.web), access.first_code.read_out()
        _log.warning("Nobody has an account yet. Open the pages at %s; the code is %s", place, code)


def _ladder(manager: Manager) -> LinkLadder:
    loop = asyncio.get_running_loop()
    return LinkLadder(
        manager.book, manager.units, manager.server.connection_of, manager.changes, loop.time
    )


async def _expire_requests(two_people: TwoPeople) -> None:
    while True:
        two_people.expire()
        await asyncio.sleep(EXPIRY_LOOK_S)


async def serve_pages(pages: PageServer, application: Starlette, web: socket.socket) -> None:
    """Serves until cancelled; answers that are under way are still given."""
    serving = asyncio.create_task(pages.serve(sockets=[web]), name="web server")
    try:
        await asyncio.shield(serving)
    finally:
        application.state.streams.close()
        pages.should_exit = True
        await serving


def _addresses(host: str) -> set[str]:
    """This machine's addresses, as far as it knows them, and the one that it listens on."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        found = []
    own = {str(each[4][0]).partition("%")[0] for each in found}
    return own | ({host} if host not in ("0.0.0.0", "::") else set())


def settle_memory() -> None:
    """What was loaded stays: looking through all of it for garbage would stall every table."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_AFTER)


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"{host}:{port}"
