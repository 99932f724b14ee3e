"""`serve`: the manager's own process, alone or in turn with others.

It reads the options, opens the ledger and the ports, and hands them to `manager.serve` or
`manager.turns`. What cannot be opened is refused in a sentence before anything is served.
"""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import json
import logging
import time
from functools import partial
from pathlib import Path
from typing import Any

from kit.clock import monotonic_s, wall_ms
from kit.command_line import PORT_MAX, CommandRefused, in_words, port
from kit.config import ConfigError, load, refusal
from kit.files import allow_open_files, files_for_the_owner_only, private_folder
from manager import serve as process
from manager.alerts.settings import read_alerts
from manager.app import Manager
from manager.cli.games import add_jurisdiction_option, add_packs_option
from manager.cli.patience import opened_when_free
from manager.clock import LedgerClock
from manager.control import SOCKET_NAME
from manager.data_folder import add_data_option
from manager.doors import Doors
from manager.games import open_catalogue
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.identity_place import identities_of
from manager.ledger.engines.archives import FOLDER as ARCHIVE_FOLDER
from manager.ledger.engines.engine import LeaseWatcher, Owner
from manager.ledger.engines.places import database_of, is_database, reader_at
from manager.ledger.engines.postgres_tenancy import FILE_NAME as TENANCY_FILE
from manager.ledger.errors import LedgerError
from manager.ledger.reports.gaming_day import DAY_STARTS, ZONE, GamingDay
from manager.ledger_place import ledger_place, take_database
from manager.link.admission import CONNECTIONS_MAX
from manager.people.sessions import Sessions
from manager.setup.table_file import read_setup
from manager.setup.wager_limits import read_limits
from protocol.wire.address import join_address

_log = logging.getLogger(__name__)

LOCAL = "127.0.0.1"
OTHER_FILES = 400  # browsers, those who knock, the ledger with its archives, and the machine's own
DEAD_OWNER_MAX_S = 4.0  # longer than any lease lasts after its last renewal


def add_to(commands: Any) -> None:
    serve = commands.add_parser("serve", help="serve tables and the operators' pages")
    add_data_option(serve)
    serve.add_argument(
        "--database",
        metavar="URL",
        help="keep the ledger in PostgreSQL: postgresql://USER@HOST/NAME; the folder remembers it",
    )
    serve.add_argument(
        "--name",
        metavar="NAME",
        help="this manager's name, where several serve in turn; needs a database",
    )
    serve.add_argument(
        "--reached-at",
        metavar="HOST",
        help="where units and browsers reach this machine, when that is not --host",
    )
    serve.add_argument("--host", default=LOCAL, help="address where units come in")
    serve.add_argument(
        "--port", type=port, required=True, help="the tables' port, 0 for a free one"
    )
    serve.add_argument(
        "--enrol-port", type=port, help="where new units ask; by default the one after the tables'"
    )
    serve.add_argument("--web-host", default=LOCAL, help="address of the operators' pages")
    serve.add_argument("--web-port", type=port, required=True, help="the pages' port, 0 for free")
    serve.add_argument(
        "--web-plain",
        action="store_true",
        help="no TLS on the pages; only where nobody but this machine can ask for them",
    )
    serve.add_argument(
        "--web-name",
        action="append",
        default=[],
        metavar="NAME",
        help="a name that browsers use for this machine, besides its own and its addresses",
    )
    serve.add_argument(
        "--table", type=Path, action="append", default=[], metavar="FILE", help="open this table"
    )
    serve.add_argument(
        "--tables", type=Path, metavar="DIR", help="open every table file (*.toml) of this folder"
    )
    serve.add_argument("--property", default="", metavar="NAME", help="as slips of wins name it")
    serve.add_argument("--day-starts", default=DAY_STARTS, help="when a gaming day starts")
    serve.add_argument("--zone", default=ZONE, help="on which clock, such as America/Los_Angeles")
    serve.add_argument(
        "--clock-is-right",
        action="store_true",
        help="the house was closed for more than a month: believe the machine's clock",
    )
    add_packs_option(serve)
    add_jurisdiction_option(serve)
    serve.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # starts and stops are no news
    _make_room_for_units()
    # Cards, keys and amounts are nobody else's, however the manager is started.
    with files_for_the_owner_only():
        return _open_and_serve(options)


def _make_room_for_units() -> None:
    """Most machines begin a process with 1,024 files, and each unit's line is one."""
    allowed = allow_open_files(CONNECTIONS_MAX + OTHER_FILES)
    if allowed < CONNECTIONS_MAX + OTHER_FILES:
        units = max(0, allowed - OTHER_FILES)
        _log.warning("This machine allows %s open files: enough for %s units.", allowed, units)


def _open_and_serve(options: argparse.Namespace) -> int:
    gaming_day = GamingDay(options.day_starts, options.zone)
    try:
        private_folder(options.data)
    except OSError as error:
        raise LedgerError(
            f"{options.data} cannot be the ledger's folder: {in_words(error)}"
        ) from error
    read_alerts(options.data)  # what is wrong there is told before any table is opened
    if options.database is not None:
        place = take_database(options.data, options.database)
    else:
        place = ledger_place(options.data)
    clock = LedgerClock(wall_ms, lambda: int(monotonic_s() * 1000))
    if options.name is not None:
        return _serve_in_turns(options, place, gaming_day, clock)
    opening = partial(_open_manager, options, place, gaming_day, clock)
    patience_s = DEAD_OWNER_MAX_S if is_database(place) else 0.0
    manager = opened_when_free(opening, patience_s, monotonic_s, time.sleep)
    try:
        doors = Doors(manager, options.data, clock)
        web = _web_door(options)
        listeners = _listen(options)
    except (ConfigError, IdentityError, CommandRefused):
        manager.store.close()
        raise
    except OSError as error:
        manager.store.close()
        raise CommandRefused(f"A port cannot be opened: {in_words(error)}") from error
    fingerprint = doors.folder.ca_fingerprint()
    return asyncio.run(
        process.serve(
            manager,
            doors,
            listeners,
            lambda: _say_ready(listeners, fingerprint, web),
            options.data / SOCKET_NAME,
            clock,
            web,
        )
    )


def _open_manager(
    options: argparse.Namespace,
    place: str,
    gaming_day: GamingDay,
    clock: LedgerClock,
    watcher: LeaseWatcher | None = None,
) -> Manager:
    open_catalogue(*options.packs)  # a faulty pack is told before any table is opened
    limits = read_limits(options.jurisdiction) if options.jurisdiction else None
    tenancy_file = None if options.name else options.data / TENANCY_FILE
    owner = Owner(options.name or "", watcher, options.data / ARCHIVE_FOLDER, tenancy_file)
    manager = Manager(
        place,
        clock,
        packs=options.packs,
        gaming_day=gaming_day,
        property_name=options.property,
        owner=owner,
    )
    try:
        clock.go_on_from(manager.store.last_commit_ms, options.clock_is_right)
        for path in [*options.table, *_table_files(options.tables)]:
            for sentence in limits.warnings(read_setup(load(path))) if limits else ():
                _log.warning("%s: %s", path.name, sentence)
            manager.open_table_file(path, limits)
    except BaseException:
        manager.store.close()
        raise
    return manager


def _serve_in_turns(
    options: argparse.Namespace, place: str, gaming_day: GamingDay, clock: LedgerClock
) -> int:
    if not is_database(place):
        raise CommandRefused("Managers serve in turn only from a database: say --database URL.")
    from manager.standby import Post
    from manager.turns import Property, serve_in_turns
    from manager.watched_floor import OtherGroups, WatchedAccounts, WholeFloor

    folder = IdentityFolder(options.data)
    folder.ensure()
    identities_of(options.data, folder, wall_ms).close()  # another floor's CA is refused now
    open_catalogue(*options.packs)  # read before it is needed: a takeover has no time for it
    reader_at(place, options.data / ARCHIVE_FOLDER).close()  # a missing archive is told now
    url, schema = database_of(place)
    files = [*options.table, *_table_files(options.tables)]
    OtherGroups(url, schema).refuse([read_setup(load(path)).table_id for path in files])
    web = _web_door(options)
    try:
        listeners = _listen(options)
    except OSError as error:
        raise CommandRefused(f"A port cannot be opened: {in_words(error)}") from error
    host = options.reached_at or options.host
    link, pages = (
        join_address(host, listener.getsockname()[1])
        for listener in (listeners.link, listeners.web)
    )
    post = Post(options.name, link, f"{web.scheme}://{pages}")
    whole = WholeFloor(url, wall_ms)
    accounts = WatchedAccounts(whole, schema, monotonic_s)
    sessions = Sessions(accounts, monotonic_s)
    floor = Property(
        url,
        schema,
        options.data,
        post,
        listeners,
        clock,
        partial(_open_manager, options, place, gaming_day, clock),
        whole,
        accounts,
        sessions,
        web._replace(sessions=sessions),
    )
    fingerprint = folder.ca_fingerprint()
    return asyncio.run(serve_in_turns(floor, lambda: _say_ready(listeners, fingerprint, web)))


def _table_files(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    if not folder.is_dir():
        raise refusal((), f"There is no folder {folder}.")
    return sorted(folder.glob("*.toml"))


def _listen(options: argparse.Namespace) -> process.Listeners:
    enrol_port = options.enrol_port
    if enrol_port is None:
        enrol_port = options.port + 1 if options.port else 0
        if enrol_port > PORT_MAX:
            raise CommandRefused(f"There is no port after {PORT_MAX}; say --enrol-port.")
    return process.Listeners(
        process.bind(options.host, options.port),
        process.bind(options.host, enrol_port),
        process.bind(options.web_host, options.web_port),
    )


def _web_door(options: argparse.Namespace) -> process.WebDoor:
    # Where others are told to reach it is a name that its pages must know, and their certificate.
    names = [*options.web_name, *([options.reached_at] if options.reached_at else [])]
    if not options.web_plain:
        tls = process.pages_tls(options.data, names, options.web_host)
        return process.WebDoor(names, tls, options.entrance)
    if not _is_this_machine(options.web_host):
        raise CommandRefused(
            "--web-plain is for an address of this machine alone, such as 127.0.0.1."
        )
    return process.WebDoor(names, None, options.entrance)


def _is_this_machine(host: str) -> bool:
    """True for an address that nobody else can reach."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _say_ready(listeners: process.Listeners, ca_fingerprint: str, web: process.WebDoor) -> None:
    addresses = listeners.addresses() | {"ca_fingerprint": ca_fingerprint}
    addresses["web"] = f"{web.scheme}://{addresses['web']}"
    print(json.dumps(addresses), flush=True)
