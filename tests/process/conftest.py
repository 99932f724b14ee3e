"""A PostgreSQL server of the tests' own, for those that ask for one."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.kit.postgres_server import PostgresServer


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def url(server: PostgresServer) -> Iterator[str]:
    """An empty database of its own."""
    with psycopg.connect(server.url(), autocommit=True) as superuser:
        superuser.execute("CREATE DATABASE ledger")
    yield server.url().replace("/postgres?", "/ledger?")
    with psycopg.connect(server.url(), autocommit=True) as superuser:
        superuser.execute("DROP DATABASE ledger WITH (FORCE)")
