"""A line to the database: how it is opened, cut when an answer is late, and what its errors say."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import dup
from typing import Any

import psycopg
from psycopg.adapt import Buffer, Loader

from manager.ledger.engines.engine import StorageFailed

_log = logging.getLogger(__name__)

CONNECT_MAX_S = 2  # to each of the hosts that the address names


class _WholeNumber(Loader):
    """A sum of integers comes as `numeric`; money is whole here, and anything else an error."""

    def load(self, data: Buffer) -> int:
        return int(bytes(data))


@contextmanager
def cut_when_late(connection: psycopg.Connection, limit_s: float) -> Iterator[None]:
    timer = threading.Timer(limit_s, _cut, (connection,))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


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
