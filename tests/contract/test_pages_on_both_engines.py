"""Every page of the manager over a ledger in SQLite and over one in PostgreSQL, word for word.

Mutations this catches: a query that only one engine understands, sorts otherwise or answers with
another type; a page that reads beside the reader of the engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from manager.ledger.engines import postgres_schema
from manager.ledger.engines.places import SCHEMA
from tests.kit.page_house import PageHouse
from tests.kit.people import PASSWORD
from tests.kit.postgres_server import PostgresServer, is_installed
from tests.kit.pretend_books import Books, document

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL is not installed here")

PAGES = (
    *("/", "/tables/touch-1", "/tables/touch-2", "/meters/main", "/meters/main/plot"),
    *("/meters/main/plot?span=week", "/meters/main/plot?span=month", "/bank", "/setup", "/cards"),
    *("/wins", "/wins?table=touch-1", "/wins?meter=main", "/wins?words=aces", "/wins?words=50%25_"),
    *("/wins?state=reversed", "/wins?state=standing", "/wins?state=paid", "/wins?state=unstamped"),
    *("/wins?least=1.00", "/wins?since=2023-11-14&until=2023-11-14", "/wins?before=2"),
    *("/wins.csv", "/wins/1", "/wins/2", "/wins/1/explain", "/wins/1/explain/1", "/wins/2/explain"),
    *("/claims/touch-1/2", "/requests", "/corrections/adjust"),
    *("/alarms", "/alarms?find=reversed", "/alarms?find=50%25_", "/alarms?find=TOUCH"),
    *("/days", "/days/2023-11-14", "/days/2023-11-14/report.csv"),
)
# What differs between two ledgers of one history: their own random id, and what is made from it.
_OWN = re.compile(r'UFTAIL-[^\s<"]*|name="form_key" value="[^"]*"|\b[0-9a-f]{64}\b')


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.remove()


def played(place: str) -> PageHouse:
    """Wins of two winners, a reversal, a waiting claim, an adjustment, alarms and a stamp."""
    house = PageHouse(books=Books(place))
    books = house.books
    books.open(document("touch-2"), "touch-2")
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces", _2A="straight-flush")
    books.end("touch-1", 1)
    books.start("touch-2", 1, "3A")
    books.win("touch-2", 1, 1, _3A="straight-flush")
    books.reverse(2)
    books.start("touch-1", 2, "1A", "7A")
    books.quoted(2, 2, _7A="straight-flush")
    adjust = {"jackpot": "main", "add": "5.00", "reason": "top-up", "note": "50%_ of it"}
    done = house.ask("Olga", "/corrections/adjust", adjust | sure())
    assert done.status_code == 303, done.text
    stamped = house.ask("Emil", "/wins/1", {"stamp": "paid", "password": PASSWORD})
    assert stamped.status_code == 303, stamped.text
    return house


def sure() -> dict[str, str]:
    return {"step": "sure", "password": PASSWORD}


@pytest.fixture(scope="module")
def houses(
    server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[PageHouse, PageHouse]]:
    with psycopg.connect(server.url(), autocommit=True) as owner:
        postgres_schema.create(owner, SCHEMA, bytes(16), None)
    folder: Path = tmp_path_factory.mktemp("pages")
    pair = played(str(folder / "ledger.sqlite")), played(server.url())
    yield pair
    for house in pair:
        house.books.store.close()


@pytest.mark.parametrize("path", PAGES)
def test_a_page_says_the_same_over_both(houses: tuple[PageHouse, PageHouse], path: str) -> None:
    in_a_file, in_a_database = (house.ask("Emil", path) for house in houses)
    assert in_a_file.status_code == in_a_database.status_code == 200
    assert _OWN.sub("", in_a_database.text) == _OWN.sub("", in_a_file.text)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/wins?words=aces", ["1"]),
        ("/wins?state=reversed", ["2"]),
        ("/wins?state=paid", ["1"]),
        ("/wins?words=50%25_", []),
        ("/wins", ["2", "1"]),
    ],
)
def test_what_is_looked_for_is_found(
    houses: tuple[PageHouse, PageHouse], path: str, found: list[str]
) -> None:
    """So that two empty pages are not taken for two equal ones."""
    for house in houses:
        assert re.findall(r'<tr data-win="(\d+)"', house.ask("Emil", path).text) == found


def test_pages_go_on_after_a_fail_over(
    houses: tuple[PageHouse, PageHouse], server: PostgresServer
) -> None:
    """Catches: pages whose line for reading went with the old primary and never came back."""
    _, house = houses
    before = _OWN.sub("", house.ask("Emil", "/wins/1/explain").text)
    with psycopg.connect(server.url(), autocommit=True) as superuser:
        ended = superuser.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name LIKE 'underfelt%'"
        ).fetchall()
    assert len(ended) > 1
    assert _OWN.sub("", house.ask("Emil", "/wins/1/explain").text) == before
    assert house.ask("Emil", "/wins").status_code == 200


def test_a_page_says_that_the_database_does_not_answer() -> None:
    """Catches: an error without a sentence while a fail-over is under way."""
    own_server = PostgresServer()
    try:
        with psycopg.connect(own_server.url(), autocommit=True) as owner:
            postgres_schema.create(owner, SCHEMA, bytes(16), None)
        house = played(own_server.url())
        own_server.stop("fast")
        answer = house.ask("Emil", "/wins/1/explain")
        assert answer.status_code == 503
        assert "does not answer now" in answer.text
        own_server.start()
        assert house.ask("Emil", "/wins/1/explain").status_code == 200
        house.books.store.close()
    finally:
        own_server.remove()
