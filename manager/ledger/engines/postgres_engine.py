"""The books in PostgreSQL: one call a batch, fenced by the owner's epoch, never cancelled.

The lease is a row with an owner, an epoch and an end by the database's own clock. Expiry lets
somebody else take it; only the epoch decides who may write. A commit whose answer does not come in
time has its line cut, because a cancelled wait for a standby answers "done". What became of it is
found out by writing. What the rows mean is not known here.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import psycopg
from psycopg.errors import Diagnostic

from manager.ledger.engines import postgres_schema
from manager.ledger.engines.archived_rows import ArchivedRows
from manager.ledger.engines.engine import (
    ALONE,
    Batch,
    Fenced,
    LeaseWatcher,
    Loaded,
    OutcomeUnknown,
    Owner,
    Reader,
    StorageFailed,
    Tail,
)
from manager.ledger.engines.places import SCHEMA
from manager.ledger.engines.postgres_lease import Renewal
from manager.ledger.engines.postgres_line import (
    Lookups,
    as_storage_failures,
    connected,
    cut_when_late,
    first_line,
)
from manager.ledger.engines.postgres_reader import marked, open_reader
from manager.ledger.engines.postgres_rows import PackedRows, RowPacker, register
from manager.ledger.engines.postgres_tenancy import Tenancy
from manager.ledger.engines.queries import held_rows, select_text
from manager.ledger.engines.relations import RELATIONS, Held, Relation, Row, Where
from manager.ledger.errors import StoreError

_log = logging.getLogger(__name__)

LEASE_S = 3.0
ANSWER_MAX_S = 5.0  # a commit that takes longer has its line cut, and is resolved
LOOKUP_MAX_S = 2.0  # the loop waits for it
LOAD_MAX_S = 120.0
RESOLVE_MAX_S = 60.0
RESOLVE_PAUSE_S = 0.1
TAKE_LOCK_MAX_MS = 500
FENCED_STATE = "UF001"
LOCK_NOT_AVAILABLE = "55P03"
# The server said goodbye, or the line broke: the commit may have happened.
UNKNOWN_CLASSES = ("08", "57")
_CALL = postgres_schema.call_text()
_TAKE = (
    "UPDATE lease SET owner = %(owner)s, name = %(name)s, wanted = '', epoch = epoch + 1,"
    " backend = pg_backend_pid(),"
    " expires_at = clock_timestamp() + make_interval(secs => %(lease_s)s)"
    " WHERE expires_at < clock_timestamp() OR owner = %(dead)s::text OR (owner = '' AND"
    " (wanted IN ('', %(name)s) OR wanted_until < clock_timestamp())) RETURNING epoch"
)
_RAISE_EPOCH = (
    "UPDATE lease SET epoch = epoch + 1, backend = pg_backend_pid(),"
    " expires_at = clock_timestamp() + make_interval(secs => %s)"
    " WHERE owner = %s AND epoch = %s RETURNING epoch, last_number, last_digest"
)


class PostgresEngine:
    """One ledger in one schema. Every start of a process is an owner of its own."""

    def __init__(
        self,
        url: str,
        schema: str = SCHEMA,
        lease_s: float = LEASE_S,
        answer_max_s: float = ANSWER_MAX_S,
        owner: Owner = ALONE,
    ) -> None:
        """`owner` is the manager as people call it, and who hears what becomes of its lease."""
        self._url = url
        self._schema = schema
        self._lease_s = lease_s
        self._answer_max_s = answer_max_s
        self._owner = secrets.token_hex(8)
        self._name = owner.name
        self._watcher = owner.watcher or LeaseWatcher()
        self._archive_folder = owner.archive_folder
        self._archived = ArchivedRows(owner.archive_folder)
        self._tenancy = Tenancy(owner.tenancy_file)
        self._epoch = 0
        self._open: psycopg.Connection | None = None
        self._lookups = Lookups(partial(self._connected, "lookups"), LOAD_MAX_S)
        self._packers: dict[str, RowPacker] = {}
        self._was_warned = False
        self._ledger_id = b""
        self._renewal: Renewal | None = None

    @property
    def connection(self) -> psycopg.Connection:
        if self._open is None:
            raise StorageFailed("The ledger is closed.")
        return self._open

    # -- the lease ---------------------------------------------------------------------------

    def acquire(self) -> int | None:
        try:
            self._connect()
            self._ledger_id = postgres_schema.check(self.connection, self._schema)
            self._archived.open()
            taken = self._take(self._tenancy.dead_owner())
        except StoreError:
            self.close()
            raise
        except postgres_schema.NoLedger as refused:
            self.close()
            raise StoreError(str(refused)) from refused
        except psycopg.Error as error:
            self.close()
            raise StoreError(
                f"The ledger's database does not answer: {first_line(error)}."
            ) from error
        if taken is None:
            self.close()
            return None
        self._epoch = taken
        self._tenancy.note(self._owner)
        connect = partial(self._connected, "renewal")
        self._renewal = Renewal(connect, self._lease_s, self._watcher)
        self._renewal.begin(self._owner, self._epoch)
        return self._epoch

    def _take(self, dead: str | None) -> int | None:
        """A lease that is free, has run out or is a dead process's; who holds its row without an
        end is ended first."""
        try:
            return self._take_once(dead)
        except psycopg.Error as error:
            if error.sqlstate != LOCK_NOT_AVAILABLE:
                raise
        # A client that stopped in the middle of a commit holds the row for as long as it is
        # stopped, and no timeout of the server ends it.
        self.connection.execute(
            "SELECT pg_terminate_backend(backend) FROM lease WHERE expires_at < clock_timestamp()"
        )
        try:
            return self._take_once(dead)
        except psycopg.Error as error:
            if error.sqlstate != LOCK_NOT_AVAILABLE:
                raise
            return None

    def _take_once(self, dead: str | None) -> int | None:
        values = {
            "owner": self._owner,
            "name": self._name,
            "lease_s": self._lease_s,
            "dead": dead,
        }
        with self.connection.transaction():
            self.connection.execute(f"SET LOCAL lock_timeout = {TAKE_LOCK_MAX_MS}")
            found = self.connection.execute(_TAKE, values).fetchone()
        return found[0] if found else None

    def close(self) -> None:
        """Gives the lease back, so that the next owner need not wait for its end."""
        if self._renewal is not None:
            self._renewal.end()
            self._renewal = None
        self._lookups.close()
        self._archived.close()
        if self._open is not None:
            # Without an answer it runs out by itself.
            with suppress(psycopg.Error), cut_when_late(self._open, LOOKUP_MAX_S):
                self._open.execute(
                    "UPDATE lease SET owner = '' WHERE owner = %s AND epoch = %s",
                    (self._owner, self._epoch),
                )
            self._open.close()
            self._open = None
        self._tenancy.close()  # last: from here on this process may count as gone

    # -- rows --------------------------------------------------------------------------------

    def load(self) -> Loaded:
        held = [relation for relation in RELATIONS.values() if relation.held is not Held.NONE]
        rows = {relation.name: held_rows(self.find, relation) for relation in held}
        with as_storage_failures():
            found = self.connection.execute("SELECT last_number, last_digest FROM lease").fetchone()
        assert found is not None
        self._lookups.limit_s = LOOKUP_MAX_S
        return Loaded(self._ledger_id, Tail(*found) if found[0] else None, rows)

    def find(
        self,
        relation: Relation,
        where: Where,
        newest: int | None = None,
        below: int | None = None,
    ) -> list[Row]:
        values = [*where.values()] + ([] if below is None else [below])
        plain = select_text(relation, tuple(where), newest, below is not None)
        query = marked(plain)
        if self._open is None:
            raise StorageFailed("The ledger is closed.")
        with as_storage_failures():
            own = self._lookups.rows(query, values)
        return self._archived.with_own(relation, own, plain, values, newest)

    def reader(self) -> Reader:
        return open_reader(self._url, self._schema, self._archive_folder)

    # -- commit ------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> None:
        connection, self._was_warned = self.connection, False
        values = (*self._fence_values(batch), *self._packed(batch))
        try:
            with cut_when_late(connection, self._answer_max_s):
                connection.execute(_CALL, values)
        except psycopg.Error as error:
            self._tell(error)
        # "Done" with a warning is what a cancelled wait for the standby says.
        if self._was_warned:
            raise OutcomeUnknown("The database warned while it committed.")

    def resolve(self, batch: Batch) -> bool:
        """Raises the epoch, which waits for an unfinished commit and makes a late one fail.

        It is a write, so it too returns only when a standby has it: a read would show commits that
        a fail-over takes back.
        """
        ends_s = time.monotonic() + RESOLVE_MAX_S
        while True:
            try:
                return self._resolve_once(batch)
            except psycopg.Error as error:
                if self._watcher.gave_up:
                    raise Fenced("Another manager may own the ledger now.") from error
                if time.monotonic() > ends_s:
                    sentence = f"The database did not come back: {first_line(error)}."
                    raise StorageFailed(sentence) from error
                time.sleep(RESOLVE_PAUSE_S)

    def _resolve_once(self, batch: Batch) -> bool:
        self._connect()
        with cut_when_late(self.connection, self._answer_max_s):
            values = (self._lease_s, self._owner, self._epoch)
            found = self.connection.execute(_RAISE_EPOCH, values).fetchone()
            if found is None and self._is_one_ahead():
                # An earlier try of this very call was committed without our hearing of it.
                values = (self._lease_s, self._owner, self._epoch + 1)
                found = self.connection.execute(_RAISE_EPOCH, values).fetchone()
        if found is None:
            raise Fenced("Somebody else owns the ledger now.")
        self._epoch = found[0]
        if self._renewal is not None:
            self._renewal.begin(self._owner, self._epoch)
        tail = Tail(found[1], found[2])
        if tail == batch.newest:
            return True
        if tail == batch.previous or tail.number == batch.previous.number == 0:
            return False
        raise Fenced("The ledger's chain ends where this manager never was.")

    def _is_one_ahead(self) -> bool:
        found = self.connection.execute("SELECT owner, epoch FROM lease").fetchone()
        return found == (self._owner, self._epoch + 1)

    def _fence_values(self, batch: Batch) -> tuple[Any, ...]:
        previous, newest = batch.previous, batch.newest
        return (self._owner, self._epoch, *previous, *newest, self._lease_s)

    def _packed(self, batch: Batch) -> Iterator[PackedRows]:
        for name, relation in RELATIONS.items():
            changed, packer = batch.rows.get(name), self._packers[name]
            if not changed:  # most relations of most batches
                yield from packer.nothing
                continue
            yield packer.rows(row for row in changed.values() if row is not None)
            if not relation.append_only:
                yield packer.keys(key for key, row in changed.items() if row is None)

    def _tell(self, error: psycopg.Error) -> None:
        state = error.sqlstate or ""
        if state == FENCED_STATE:
            raise Fenced("Somebody else owns the ledger now.") from error
        if self.connection.closed or self.connection.broken or state[:2] in UNKNOWN_CLASSES:
            raise OutcomeUnknown(f"The answer was lost: {first_line(error)}.") from error
        raise StorageFailed(first_line(error)) from error

    # -- the line ----------------------------------------------------------------------------

    def _connect(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = self._connected("writer")
        self._open.add_notice_handler(self._heed)
        register(self._open)
        oids: dict[str, int] = dict(
            self._open.execute(
                "SELECT typname, pg_type.oid FROM pg_type"
                " JOIN pg_namespace ON pg_namespace.oid = typnamespace WHERE nspname = %s",
                (self._schema,),
            ).fetchall()
        )
        known = [name for name in RELATIONS if name in oids]
        self._packers = {name: RowPacker(RELATIONS[name], oids[name]) for name in known}

    def _connected(self, what: str) -> psycopg.Connection:
        return connected(self._url, self._schema, what)

    def _heed(self, notice: Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self._was_warned = True
