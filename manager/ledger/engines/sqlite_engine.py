"""The books in one SQLite file: durable at every commit, readers beside the one writer.

WAL with `synchronous=FULL` loses no committed batch at a power cut. The lease is a lock on a file
beside the database, so that others can read while a manager writes. A VFS without shared memory
(the simulator's disk) gets SQLite's own exclusive lock instead. What the rows mean is not known
here.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import apsw

from kit.migrations import Format, FormatRefused, statements
from manager.ledger.engines.archives import FOLDER as ARCHIVE_FOLDER
from manager.ledger.engines.archives import archives_in, attach, refuse_gap
from manager.ledger.engines.engine import Batch, Fenced, Loaded, Reader, StorageFailed, Tail
from manager.ledger.engines.queries import held_rows, select_text
from manager.ledger.engines.relations import (
    RELATIONS,
    TRANSACTIONS,
    Held,
    Key,
    Relation,
    Row,
    Where,
)
from manager.ledger.engines.sqlite_reader import (
    SameConnection,
    SqliteReader,
    as_storage_failures,
    close,
    opened,
    opened_to_read,
)
from manager.ledger.errors import StoreError

_log = logging.getLogger(__name__)

IN_MEMORY = ":memory:"
LEDGER_ID_BYTES = 16
LOCK_SUFFIX = "-lock"
WAL_KEPT_BYTES = 8 * 1024 * 1024

FORMAT = Format("The ledger", 0x55464C54, (statements(__package__, "schema.sql"),))  # "UFLT"


class SqliteEngine:
    """One ledger file. `vfs` names another file system than the machine's own."""

    def __init__(
        self,
        path: str,
        vfs: str | None = None,
        random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._path = path
        self._vfs = vfs
        self._random_bytes = random_bytes
        self._lock: int | None = None
        self._open: apsw.Connection | None = None
        self._lookups: apsw.Connection | None = None  # beside a commit on another thread

    @property
    def is_shared(self) -> bool:
        """True where other connections can read beside the writer."""
        return self._vfs is None and self._path != IN_MEMORY

    @property
    def _archive_folder(self) -> Path:
        return Path(self._path).parent / ARCHIVE_FOLDER

    @property
    def connection(self) -> apsw.Connection:
        """The writer's own; there is one from `acquire` to `close`."""
        if self._open is None:
            raise StorageFailed("The ledger is closed.")
        return self._open

    # -- the lease ---------------------------------------------------------------------------

    def acquire(self) -> int | None:
        """The file's lock is the lease: nobody can write without it, so the epoch is always 1."""
        if self.is_shared and not self._take_lock():
            return None
        try:
            self._open = opened(self._path, self._vfs)
            self._prepare(self._open)
            if self.is_shared:
                self._lookups = opened_to_read(self._path)
                archives = archives_in(self._archive_folder)
                attach(self._lookups, archives)
                own = SqliteReader(self._lookups, archives).parts()[-1]
                refuse_gap(own, self._archive_folder)
        except apsw.BusyError:
            self.close()
            return None
        except apsw.Error as error:
            self.close()
            # SQLite calls a file that it may not write an input error.
            may_write = self._vfs is not None or _may_write(self._path)
            is_whole = not may_write or _finds_no_room(error)
            trouble = "cannot be written" if is_whole else "is damaged or unreadable"
            raise StoreError(f"The ledger {self._path} {trouble}: {error}.") from error
        except StoreError:
            self.close()
            raise
        return 1

    def close(self) -> None:
        """A failure here is no news: what was committed is on the medium."""
        if self._lookups is not None:
            close(self._lookups)
            self._lookups = None
        if self._open is not None:
            close(self._open)
            self._open = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take_lock(self) -> bool:
        path = self._path + LOCK_SUFFIX
        try:
            self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            sentence = f"The ledger {self._path} cannot be opened: {error.strerror}."
            raise StoreError(sentence) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            self._lock = None
            return False
        return True

    def _prepare(self, connection: apsw.Connection) -> None:
        if not self.is_shared:
            connection.pragma("locking_mode", "exclusive")
        journal_mode = connection.pragma("journal_mode", "wal")
        if journal_mode != "wal" and self._path != IN_MEMORY:
            raise StoreError(f"The ledger {self._path} cannot use a write-ahead log here.")
        connection.pragma("synchronous", "full")
        connection.pragma("recursive_triggers", True)
        connection.pragma("trusted_schema", False)
        connection.pragma("journal_size_limit", WAL_KEPT_BYTES)
        if connection.pragma("application_id") == 0 and _is_empty(connection):
            _create(connection, self._random_bytes)
        check_format(connection, self._path)
        FORMAT.upgrade(connection)

    # -- rows --------------------------------------------------------------------------------

    def load(self) -> Loaded:
        held = [relation for relation in RELATIONS.values() if relation.held is not Held.NONE]
        with as_storage_failures():
            found = self.connection.execute("SELECT value FROM meta WHERE key = 'ledger_id'")
            ledger_id = found.get
            rows = {relation.name: held_rows(self.find, relation) for relation in held}
        if ledger_id is None:
            raise StoreError("The ledger has lost its own identity.")
        return Loaded(ledger_id, self._tail(), rows)

    def find(
        self,
        relation: Relation,
        where: Where,
        newest: int | None = None,
        below: int | None = None,
    ) -> list[Row]:
        values = [*where.values()] + ([] if below is None else [below])
        query = select_text(relation, tuple(where), newest, below is not None)
        with as_storage_failures():
            return list((self._lookups or self.connection).execute(query, values))

    def reader(self) -> Reader:
        if self.is_shared:
            return _reader(self._path, self._archive_folder)
        return SameConnection(self.connection)

    # -- commit ------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> None:
        connection = self.connection
        with as_storage_failures():
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._refuse_other_tail(batch.previous)
                for relation in RELATIONS.values():
                    changed = batch.rows.get(relation.name)
                    if changed:
                        _write(connection, relation, changed)
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    def resolve(self, batch: Batch) -> bool:
        """A call to SQLite returns or the process is gone, so its outcome is never unknown."""
        return self._tail() == batch.newest

    def _refuse_other_tail(self, previous: Tail) -> None:
        tail = self._tail()
        follows = previous.number == 0 if tail is None else previous == tail
        if not follows:
            raise Fenced("The ledger was written by somebody else meanwhile.")

    def _tail(self) -> Tail | None:
        query = select_text(TRANSACTIONS, (), 1, False)
        with as_storage_failures():
            found = list(self.connection.execute(query))
        return Tail(found[0][0], found[0][-1]) if found else None


def open_reader(path: str, archive_folder: Path | None = None) -> SqliteReader:
    """Reads a ledger file, whether a manager serves from it or not."""
    try:
        connection = opened_to_read(path)
    except apsw.Error as error:
        raise StoreError(f"The ledger {path} cannot be opened: {error}.") from error
    try:
        check_format(connection, path)
    except apsw.CantOpenError as error:
        close(connection)
        sentence = f"The ledger {path} cannot be read where nothing can be written: copy its folder"
        raise StoreError(f"{sentence} first ({error}).") from error
    except apsw.Error as error:
        close(connection)
        raise StoreError(f"The ledger {path} is damaged or unreadable: {error}.") from error
    except StoreError:
        close(connection)
        raise
    close(connection)
    return _reader(path, archive_folder or Path(path).parent / ARCHIVE_FOLDER)


def _reader(path: str, archive_folder: Path) -> SqliteReader:
    archives = archives_in(archive_folder)
    connection = opened_to_read(path)
    try:
        attach(connection, archives)
    except apsw.Error as error:
        close(connection)
        raise StoreError(f"The archives in {archive_folder} cannot be read: {error}.") from error
    except StoreError:
        close(connection)
        raise
    return SqliteReader(connection, archives)


def check_format(connection: apsw.Connection, path: str) -> None:
    try:
        FORMAT.check(connection)
    except FormatRefused as refused:
        raise StoreError(f"{path}: {refused}") from refused


def _finds_no_room(error: apsw.Error) -> bool:
    code: int = vars(error).get("extendedresult", 0)
    return isinstance(error, apsw.FullError) or code == apsw.SQLITE_IOERR_SHMSIZE


def _may_write(path: str) -> bool:
    """False when this process may not write the file or its folder, or the medium takes nothing."""
    return all(
        os.access(place, os.W_OK, effective_ids=True)
        for place in (path, os.path.dirname(path) or ".")
        if os.path.exists(place)
    )


def _is_empty(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) = 0 FROM sqlite_schema").get)


def _create(connection: apsw.Connection, random_bytes: Callable[[int], bytes]) -> None:
    # One SQLite transaction: a power cut leaves either no ledger or a whole empty one.
    with connection:
        FORMAT.create(connection)
        connection.execute(
            "INSERT INTO meta VALUES ('ledger_id', ?)", (random_bytes(LEDGER_ID_BYTES),)
        )


def _write(
    connection: apsw.Connection, relation: Relation, changed: Mapping[Key, Row | None]
) -> None:
    # What goes makes place first: a unit's table may have another unit in the same batch.
    gone = [key for key, row in changed.items() if row is None]
    if gone:
        connection.executemany(_delete(relation), gone)
    connection.executemany(
        insert_of(relation), [row for row in changed.values() if row is not None]
    )


@cache
def _insert_text(name: str) -> str:
    relation = RELATIONS[name]
    marks = ",".join("?" * len(relation.columns))
    text = f"INSERT INTO {name} VALUES ({marks})"
    if relation.append_only:
        return text
    keys = ", ".join(relation.columns[: relation.key_count])
    others = relation.columns[relation.key_count :]
    changes = ", ".join(f"{column} = excluded.{column}" for column in others)
    return f"{text} ON CONFLICT ({keys}) DO UPDATE SET {changes}"


def insert_of(relation: Relation) -> str:
    return _insert_text(relation.name)


def _delete(relation: Relation) -> str:
    wanted = " AND ".join(f"{column} = ?" for column in relation.columns[: relation.key_count])
    return f"DELETE FROM {relation.name} WHERE {wanted}"


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except apsw.Error as error:  # the reason for it is on its way up
            _log.warning("A batch could not be rolled back: %s", error)
