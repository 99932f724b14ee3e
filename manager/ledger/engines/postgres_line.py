"""A line to the database: how it is opened, cut when an answer is late, and what its errors say."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import dup
from typing import Any

import psycopg
from psycopg.adapt import Buffer, Loader

from manager.ledger.engines.engine import StorageFailed
from manager.ledger.errors import StoreError

_log = logging.getLogger(__name__)

LOOK_S = 0.05  # how much later than told a line may be cut
IDLE_S = 1.0
CONNECT_MAX_S = 2  # to each of the hosts that the address names


class _WholeNumber(Loader):
    """A sum of integers comes as `numeric`; money is whole here, and anything else an error."""

    def load(self, data: Buffer) -> int:
        return int(bytes(data))


class _Answers:
    """Answers that are awaited, and one thread that cuts the lines of those that are late.

    A timer for each would be a thread for each commit, which costs more than the commit's own call.
    The thread looks now and then, so nobody has to wake it; it ends when nothing was asked lately.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._awaited: dict[int, tuple[float, psycopg.Connection]] = {}
        self._asked_count = 0
        self._asked_s = 0.0
        self._is_looking = False

    def begin(self, connection: psycopg.Connection, limit_s: float) -> int:
        with self._lock:
            self._asked_count += 1
            self._asked_s = time.monotonic()
            self._awaited[self._asked_count] = self._asked_s + limit_s, connection
            if not self._is_looking:
                self._is_looking = True
                threading.Thread(target=self._look, name="late answers", daemon=True).start()
            return self._asked_count

    def end(self, number: int) -> None:
        with self._lock:
            self._awaited.pop(number, None)

    def _look(self) -> None:
        while True:
            time.sleep(LOOK_S)
            now_s = time.monotonic()
            with self._lock:
                late = [each for each, (by_s, _) in self._awaited.items() if by_s <= now_s]
                lines = [self._awaited.pop(each)[1] for each in late]
                is_over = not self._awaited and now_s - self._asked_s > IDLE_S
                self._is_looking = not is_over
            for line in lines:
                _cut(line)
            if is_over:
                return


_ANSWERS = _Answers()


@contextmanager
def cut_when_late(connection: psycopg.Connection, limit_s: float) -> Iterator[None]:
    number = _ANSWERS.begin(connection, limit_s)
    try:
        yield
    finally:
        _ANSWERS.end(number)


def _cut(connection: psycopg.Connection) -> None:
    try:
        with socket.socket(fileno=dup(connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)
    except (OSError, psycopg.Error):
        _log.info("A line that was to be cut had been closed meanwhile.")


def connected(url: str, schema: str, what: str) -> psycopg.Connection:
    connection = psycopg.connect(
        url, autocommit=True, connect_timeout=CONNECT_MAX_S, application_name=f"underfelt {what}"
    )
    connection.adapters.register_loader("numeric", _WholeNumber)
    connection.execute("SELECT set_config('search_path', %s, false)", (schema,))
    # A client stopped between two statements must not hold what others wait for.
    connection.execute("SET idle_in_transaction_session_timeout = '60s'")
    return connection


def first_line(error: psycopg.Error) -> str:
    lines = str(error).splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


@contextmanager
def as_storage_failures() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise StorageFailed(first_line(error)) from error


class SteadyLine:
    """A line for who looks now and then; opened anew after any trouble, which is told in words."""

    def __init__(self, url: str, schema: str, what: str, limit_s: float) -> None:
        self._url = url
        self._schema = schema
        self._what = what
        self._limit_s = limit_s
        self._open: psycopg.Connection | None = None

    @contextmanager
    def ready(self) -> Iterator[psycopg.Connection]:
        try:
            if self._open is None:
                self._open = connected(self._url, self._schema, self._what)
            with cut_when_late(self._open, self._limit_s):
                yield self._open
        except psycopg.Error as error:
            self.close()
            sentence = f"The ledger's database does not answer: {first_line(error)}."
            raise StoreError(sentence) from error

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


class Lookups:
    """A line for questions beside a commit on another thread; opened when the first is asked."""

    def __init__(self, connect: Callable[[], psycopg.Connection], limit_s: float) -> None:
        self._connect = connect
        self.limit_s = limit_s  # who asks waits for the answer
        self._line: psycopg.Connection | None = None

    def rows(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            return self._rows_once(query, values)
        except psycopg.OperationalError as error:
            # The server went, or another one has taken over: asking twice changes nothing.
            _log.warning("A lookup is asked again: %s", first_line(error))
            self.close()
        return self._rows_once(query, values)

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _rows_once(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self._line is None:
            self._line = self._connect()
        with cut_when_late(self._line, self.limit_s):
            return self._line.execute(query, values).fetchall()
