"""Several managers, one ledger: each stands by until it is free, serves, and stands by again.

It alone knows a turn. One that lost the lease drops its books and the units with them; one that is
asked to give it away first stops taking anything in, then lets the other have the ledger, and only
then sends its units there, so that no link is ever down.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from kit.tasks import first_ends_all, stop_asked
from kit.web.server import serve as serve_until_cancelled
from manager.app import Manager
from manager.clock import LedgerClock
from manager.control import SOCKET_NAME, ControlDoor
from manager.doors import Doors
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.ledger.engines.engine import LeaseWatcher, StorageFailed
from manager.ledger.errors import StoreError
from manager.owner_line import OwnerLine
from manager.people.sessions import Sessions
from manager.serve import Listeners, WebDoor, serve
from manager.standby import LeaseLook, Post, StandBy
from manager.watched_floor import OtherGroups, WatchedAccounts, WholeFloor, look_once
from manager.web.managers.standby import StandbyAccess, StandbyPages
from protocol.wire.fields import clipped
from protocol.wire.messages import GoTo

_log = logging.getLogger(__name__)

LOST = "Another manager owns the ledger now."
TAKEN_MAX_S = 5.0  # a manager that was asked for does not take it: anybody may, this one too
TAKEN_LOOK_S = 0.05
FAREWELL_S = 1.0
TROUBLE = (StoreError, StorageFailed, IdentityError)
TROUBLE_PAUSE_S = 0.2


@dataclass(frozen=True)
class Property:
    """Everything that does not change from turn to turn."""

    url: str
    schema: str
    data: Path
    post: Post
    listeners: Listeners
    clock: LedgerClock
    open_manager: Callable[[LeaseWatcher], Manager]  # raises StoreError while another has it
    floor: WholeFloor
    accounts: WatchedAccounts  # of this group, while this manager does not own it
    sessions: Sessions  # who is signed in here, whoever owns the ledger
    web: WebDoor


class _Turn(LeaseWatcher):
    """What the renewal's thread hears, told on the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.was_lost = asyncio.Event()
        self.was_asked = asyncio.Event()
        self.asked_for = ""

    def lost(self) -> None:
        self.gave_up = True
        self._loop.call_soon_threadsafe(self.was_lost.set)

    def wanted(self, name: str) -> None:
        self._loop.call_soon_threadsafe(self._asked, name)

    def _asked(self, name: str) -> None:
        self.asked_for = name
        self.was_asked.set()


async def serve_in_turns(floor: Property, ready: Callable[[], None]) -> int:
    """Stands by and serves, in turn with others, until a signal.

    A database that is away for a while, as in a fail-over, ends a turn and not the manager.
    """
    stop = stop_asked()
    ready()
    with closing(floor.floor):
        while not stop.is_set():
            try:
                await _one_turn(floor, stop)
            except TROUBLE as error:
                _log.warning("%s tries again: %s", floor.post.name, error)
                await asyncio.sleep(TROUBLE_PAUSE_S)
    return 0


async def _one_turn(floor: Property, stop: asyncio.Event) -> None:
    turn = _Turn()
    manager = await _stand_by(floor, turn, stop)
    if manager is not None:
        _log.warning("%s owns the ledger now.", floor.post.name)
        try:
            await _own(floor, manager, turn, stop)
        finally:
            await manager.close()


async def _stand_by(floor: Property, turn: _Turn, stop: asyncio.Event) -> Manager | None:
    """Until the lease is this manager's, or until a signal."""
    look = LeaseLook(floor.url, floor.schema, floor.post, is_serving=False)
    with ExitStack() as opened:
        opened.callback(look.close)
        by = StandBy(floor.data, look, floor.post.name, floor.clock)
        opened.callback(by.close)
        owner = OwnerLine(floor.data, IdentityFolder(floor.data).ca, lambda: look.server)
        application = _standby_pages(floor, owner)
        listeners = floor.listeners.again()
        opened.callback(listeners.enrolment.close)
        control = ControlDoor(floor.data / SOCKET_NAME, by.refuse)
        taking = asyncio.create_task(_take(floor, by, turn, owner), name="take")
        parts: tuple[Coroutine[Any, Any, Any], ...] = (
            stop.wait(),
            by.point_the_way(listeners.link),
            # Gone at once when the ledger is free: units wait, and a live page would hold it up.
            serve_until_cancelled(application, listeners.web, floor.web.tls),
            control.run(),
        )
        await first_ends_all([taking, *(asyncio.create_task(part) for part in parts)])
    return None if taking.cancelled() else taking.result()


def _standby_pages(floor: Property, owner: OwnerLine) -> Starlette:
    floor.sessions.go_on_with(floor.accounts)
    access = StandbyAccess(floor.sessions, floor.accounts, floor.web.tls is not None)
    return StandbyPages(floor.post.name, floor.floor, owner, access).app(floor.web.names)


async def _take(floor: Property, by: StandBy, turn: _Turn, owner: OwnerLine) -> Manager:
    """Opens the books as soon as the lease is free; another may be faster."""
    while True:
        await by.until_free()
        await owner.give_way()
        try:
            return floor.open_manager(turn)
        except StoreError as error:
            _log.info("The ledger was not taken: %s", error)
            await asyncio.sleep(TAKEN_LOOK_S)


async def _own(floor: Property, manager: Manager, turn: _Turn, stop: asyncio.Event) -> None:
    """Serves until the lease is lost or given away, or until a signal."""
    over = asyncio.Event()
    look = LeaseLook(floor.url, floor.schema, floor.post, is_serving=True)
    doors = Doors(manager, floor.data, floor.clock, elsewhere=partial(_sent_to_its_group, floor))
    control = floor.data / SOCKET_NAME
    serving = serve(
        manager,
        doors,
        floor.listeners.again(),
        lambda: None,
        control,
        floor.clock,
        floor.web,
        over,
        floor.floor,
    )
    beside = [
        asyncio.create_task(_halt_when_lost(manager, turn), name="lease lost"),
        asyncio.create_task(_give_away(floor, manager, turn, over), name="lease asked for"),
        asyncio.create_task(_end_at(stop, over), name="stop"),
        asyncio.create_task(look.announce_forever(), name="announce"),
    ]
    try:
        await serving
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        look.close()


async def _halt_when_lost(manager: Manager, turn: _Turn) -> None:
    """An idle owner would otherwise go on showing meters that are somebody else's."""
    await turn.was_lost.wait()
    manager.server.halt(LOST)


async def _give_away(floor: Property, manager: Manager, turn: _Turn, over: asyncio.Event) -> None:
    await turn.was_asked.wait()
    name = turn.asked_for
    _log.warning("The ledger moves to %s on purpose.", name)
    await manager.give_up_ledger()
    address = await _address_when_taken(floor, name)
    if address:
        manager.server.send_on(address, f"The manager {name} serves this table now.")
        await asyncio.sleep(FAREWELL_S)
    over.set()


async def _address_when_taken(floor: Property, name: str) -> str:
    """Where the new owner is reached; "" when nobody took the ledger in time."""
    end_s = asyncio.get_running_loop().time() + TAKEN_MAX_S
    while asyncio.get_running_loop().time() < end_s:
        try:
            standing = await asyncio.to_thread(look_once, floor.url, floor.schema)
        except StoreError as error:
            _log.warning("%s", error)
            return ""
        if standing.server is not None:
            return standing.server.link
        await asyncio.sleep(TAKEN_LOOK_S)
    return ""


async def _end_at(stop: asyncio.Event, over: asyncio.Event) -> None:
    await stop.wait()
    over.set()


def _sent_to_its_group(floor: Property, unit_id: str) -> GoTo | None:
    """Where a unit belongs whose table is in another group; asked on a thread."""
    owner = OtherGroups(floor.url, floor.schema).owner_of(unit_id)
    if owner is None:
        return None
    return GoTo(owner.link, clipped(f"The manager {owner.name} serves this table."))
