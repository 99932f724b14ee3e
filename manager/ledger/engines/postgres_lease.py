"""The lease as those see it who hold it, wait for it or look at it.

An owner renews it on a line of its own and hears there that it was lost, or that a person wants it
elsewhere. Who stands by says so in the same database, with the addresses where units and browsers
find it. Who may write is decided by the fence alone, not here.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import psycopg

from manager.ledger.engines.engine import LeaseWatcher
from manager.ledger.engines.places import SCHEMA
from manager.ledger.engines.postgres_line import SteadyLine, cut_when_late, first_line
from manager.ledger.errors import LedgerError

_log = logging.getLogger(__name__)

RENEWALS_PER_LEASE = 3
SEEN_MAX_S = 5.0  # a manager that was not seen for longer does not stand by
ANSWER_MAX_S = 2.0
MOVE_MAX_S = 10.0  # then anybody may take what the wanted manager did not
_RENEW = (
    "UPDATE lease SET expires_at = clock_timestamp() + make_interval(secs => %s)"
    " WHERE owner = %s AND epoch = %s RETURNING wanted"
)
_IS_OURS = "SELECT 1 FROM lease WHERE owner = %s"
_LOOK = (
    "SELECT owner, name, wanted, epoch, last_number, expires_at < clock_timestamp(),"
    " wanted_until < clock_timestamp() FROM lease"
)
_MANAGERS = (
    "SELECT name, link, web, seen_at > clock_timestamp() - make_interval(secs => %s), is_serving"
    " FROM managers ORDER BY name"
)
_ANNOUNCE = (
    "INSERT INTO managers VALUES (%s, %s, %s, clock_timestamp(), %s) ON CONFLICT (name) DO UPDATE"
    " SET link = excluded.link, web = excluded.web, seen_at = excluded.seen_at,"
    " is_serving = excluded.is_serving"
)
_WISH = (
    "UPDATE lease SET wanted = %s, wanted_until = clock_timestamp() + make_interval(secs => %s)"
    " WHERE owner <> '' AND expires_at > clock_timestamp() AND name <> %s RETURNING name"
)
_GROUPS = (
    "SELECT schemaname FROM pg_tables WHERE tablename = 'lease' AND schemaname LIKE %s"
    " ORDER BY schemaname"
)


class Renewal:
    """Says now and then, on a line of its own, that the owner is alive; a stopped one cannot."""

    def __init__(
        self,
        connect: Callable[[], psycopg.Connection],
        lease_s: float,
        watcher: LeaseWatcher,
    ) -> None:
        self._connect = connect
        self._lease_s = lease_s
        self._watcher = watcher
        self._held = ("", 0)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, owner: str, epoch: int) -> None:
        self._held = (owner, epoch)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="lease", daemon=True)
            self._thread.start()

    def end(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        connection: psycopg.Connection | None = None
        pause_s, renewed_s = self._lease_s / RENEWALS_PER_LEASE, time.monotonic()
        while not self._ended.wait(pause_s):
            try:
                if connection is None or connection.closed:
                    connection = self._connect()
                with cut_when_late(connection, pause_s):
                    self._renew(connection)
                renewed_s = time.monotonic()
            except psycopg.Error as error:
                _log.warning("The lease could not be renewed: %s", first_line(error))
                connection = None
                if time.monotonic() - renewed_s > self._lease_s:
                    # Anybody may have it by now; who serves in turn with others lets go.
                    self._watcher.lost()
        if connection is not None:
            connection.close()

    def _renew(self, connection: psycopg.Connection) -> None:
        owner, epoch = self._held
        found = connection.execute(_RENEW, (self._lease_s, owner, epoch)).fetchone()
        if found is not None:
            if found[0]:
                self._watcher.wanted(found[0])
        # The epoch alone may have been raised, by our own `resolve` a moment ago.
        elif connection.execute(_IS_OURS, (owner,)).fetchone() is None:
            self._watcher.lost()


@dataclass(frozen=True, slots=True)
class KnownManager:
    name: str
    link: str  # HOST:PORT, where units come in
    web: str
    is_there: bool  # it was seen a moment ago
    is_serving: bool  # its doors are open for units, when it is the owner


@dataclass(frozen=True, slots=True)
class Standing:
    """One ledger's lease at one moment."""

    is_held: bool
    name: str  # of the manager that has it, or had it last
    wanted: str  # to which a person moves it, "" for nobody
    epoch: int
    last_number: int
    managers: tuple[KnownManager, ...]

    @property
    def owner(self) -> KnownManager | None:
        if not self.is_held:
            return None
        return next((each for each in self.managers if each.name == self.name), None)

    @property
    def server(self) -> KnownManager | None:
        """The owner, once its doors are open: units are sent there and not earlier."""
        owner = self.owner
        return owner if owner is not None and owner.is_serving else None

    def is_free_for(self, name: str) -> bool:
        return not self.is_held and self.wanted in ("", name)


def groups_in(url: str) -> list[str]:
    """The schemas of this database that hold a ledger."""
    line = line_for_groups(url)
    try:
        return groups_on(line)
    finally:
        line.close()


def line_for_groups(url: str) -> SteadyLine:
    return SteadyLine(url, SCHEMA, "groups", ANSWER_MAX_S)


def groups_on(steady: SteadyLine) -> list[str]:
    """The same by a line that stays open."""
    with steady.ready() as line:
        return [name for (name,) in line.execute(_GROUPS, (f"{SCHEMA}%",)).fetchall()]


class LeaseLine:
    """A line of its own to look at the lease."""

    def __init__(self, url: str, schema: str) -> None:
        self.line = SteadyLine(url, schema, "lease", ANSWER_MAX_S)

    def look(self) -> Standing:
        with self.line.ready() as line:
            found = line.execute(_LOOK).fetchone()
            assert found is not None
            rows = line.execute(_MANAGERS, (SEEN_MAX_S,)).fetchall()
        owner, name, wanted, epoch, last_number, has_ended, nobody_came = found
        is_held = owner != "" and not has_ended
        # A lease that ran out is for whoever is there; a wish counts only for a handing over.
        wish = "" if has_ended or nobody_came else wanted
        managers = tuple(KnownManager(*row) for row in rows)
        return Standing(is_held, name, wish, epoch, last_number, managers)

    def announce(self, name: str, link: str, web: str, is_serving: bool) -> None:
        """This manager is there, serving or standing by."""
        with self.line.ready() as line:
            line.execute(_ANNOUNCE, (name, link, web, is_serving))

    def ask_to_move(self, name: str) -> str:
        """The owner hears of it with its next renewal; returns the owner's name."""
        known = {each.name: each for each in self.look().managers}
        if name not in known or not known[name].is_there:
            names = ", ".join(each.name for each in known.values() if each.is_there) or "nobody"
            raise LedgerError(f"No manager {name} stands by; there are: {names}.")
        with self.line.ready() as line:
            found = line.execute(_WISH, (name, MOVE_MAX_S, name)).fetchone()
        if found is None:
            raise LedgerError(f"The manager {name} owns it already, or nobody does.")
        return str(found[0])

    def close(self) -> None:
        self.line.close()
