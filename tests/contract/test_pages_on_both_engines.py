"""Every page of the manager over a ledger in SQLite and over one in PostgreSQL, word for word.

Asked twice: with the whole evening in the ledger, and with it in an archive.

Mutations this catches: a query that only one engine understands, sorts otherwise or answers with
another type; a page that reads beside the reader of the engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from starlette.routing import Route

from manager.app import Manager
from manager.audit.archiving import archive_days
from manager.audit.closing import make_image, note_closed, request_for
from manager.booking import OPEN_TABLE
from manager.data_folder import LEDGER_NAME
from manager.ledger.engines import postgres_schema
from manager.ledger.engines.archives import FOLDER
from manager.ledger.engines.engine import Owner
from manager.ledger.engines.places import SCHEMA, database_of
from manager.ledger_place import keep_database
from tests.kit.page_house import PageHouse
from tests.kit.people import ADMIN, PASSWORD
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
    *("/days", "/days/2023-11-14", "/days/2023-11-14/report.csv", "/days/2023-11-14/report.pdf"),
    *("/wins/1/slips.pdf", "/claims/touch-1/2/slips.pdf", "/sign-in", "/code", "/health"),
    *("/corrections", "/spots", "/bundles", "/advice", "/training", "/updates"),
)
# Asked by others than executives, or by a machine with its token.
BY_AN_ADMIN = ("/people", "/tokens")
BY_AN_OPERATOR = ("/setup/table?A=four-card/progressive/Pays-1", "/requests/1/table.toml")
BY_A_MACHINE = (
    *("/metrics", "/api/v1/openapi.json", "/api/v1/meters", "/api/v1/tables", "/api/v1/claims"),
    *("/api/v1/wins", "/api/v1/wins?after=1", "/api/v1/wins/1", "/api/v1/wins/2"),
    *("/api/v1/alarms", "/api/v1/alarms?limit=1", "/api/v1/entries", "/api/v1/entries?after=9"),
)
# What reads no ledger, or is another page's own parts once more.
NOT_ASKED = {
    *("/events", "/tables/{table}/events", "/meters/{meter}/events"),  # streams of a page's parts
    *("/first", "/units", "/bundles/{number:win}", "/bundles/{number:win}.zip"),  # files' pages
    "/advice/numbers",  # counts odds in a process of its own
}
DAY = "2023-11-14"
# What differs between two ledgers of one history: their own random id, and what is made from it.
_OWN = re.compile(
    r'UFTAIL-[^\s<")]*|name="form_key" value="[^"]*"|\b[0-9a-f]{32,64}\b'
    r"|\([0-9a-f]{1,64}-?\)"  # the rest of a digest on a sheet of paper
)
Houses = tuple["House", "House"]


class House(PageHouse):
    """Its ledger is in a file of its folder, or in a database that the folder names."""

    def __init__(self, data: Path, url: str = "") -> None:
        self.data, self.place = data, url or str(data / LEDGER_NAME)
        if url:
            keep_database(data, url)
        super().__init__(books=Books(self.place))
        self.play()
        _, self.secret = self.access.people.tokens.add(ADMIN, "Contract")

    def play(self) -> None:
        """Wins of two winners, a reversal, a waiting claim, an adjustment, alarms and a stamp."""
        books = self.books
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
        done = self.ask("Olga", "/corrections/adjust", adjust | sure())
        assert done.status_code == 303, done.text
        stamped = self.ask("Emil", "/wins/1", {"stamp": "paid", "password": PASSWORD})
        assert stamped.status_code == 303, stamped.text
        olga = self.access.people.find("Olga")
        assert olga is not None
        wanted = {"command": OPEN_TABLE, "text": document("touch-3")}
        self.access.two_people.ask(olga, wanted)

    def archive(self) -> None:
        """The evening so far is a closed day in a file; a new process serves, and play goes on."""
        store = self.manager.store
        image = make_image(self.data, store, DAY, store.tail().number)
        note_closed(store, request_for(DAY, image))
        store.close()
        archive_days(self.data, self.place, DAY)
        owner = Owner(archive_folder=self.data / FOLDER)
        self.serve(Manager(self.place, self.books.clock, owner=owner))
        self.books.end("touch-2", 1)
        self.books.start("touch-2", 2, "3A", "4A")

    def asked(self, path: str) -> httpx.Response:
        if path in BY_A_MACHINE:
            return self.ask_with(self.secret, path)
        if path in BY_AN_ADMIN:
            return self.ask(ADMIN, path)
        return self.ask("Olga" if path in BY_AN_OPERATOR else "Emil", path)


def sure() -> dict[str, str]:
    return {"step": "sure", "password": PASSWORD}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture(scope="module", params=["all in the ledger", "days archived"])
def houses(
    request: pytest.FixtureRequest,
    server: PostgresServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Houses]:
    is_archived = request.param == "days archived"
    url = server.url() + ("#archived" if is_archived else "")
    with psycopg.connect(server.url(), autocommit=True) as owner:
        postgres_schema.create(owner, database_of(url)[1], bytes(16), None)
    in_a_file, in_a_database = (tmp_path_factory.mktemp(name) for name in ("file", "database"))
    pair = House(in_a_file), House(in_a_database, url)
    for house in pair:
        if is_archived:
            house.archive()
    yield pair
    for house in pair:
        house.books.store.close()


EVERY_PAGE = (*PAGES, *BY_AN_ADMIN, *BY_AN_OPERATOR, *BY_A_MACHINE)


def test_every_page_is_asked(houses: Houses) -> None:
    """Catches: a new page that nobody has tried on a database."""
    asked = {path.partition("?")[0] for path in EVERY_PAGE}
    routes = [each for each in houses[0].app.routes if isinstance(each, Route)]
    read = [each for each in routes if "GET" in (each.methods or ())]
    missing = [each.path for each in read if not any(map(each.path_regex.fullmatch, asked))]
    assert set(missing) == NOT_ASKED


@pytest.mark.parametrize("path", EVERY_PAGE)
def test_a_page_says_the_same_over_both(houses: Houses, path: str) -> None:
    in_a_file, in_a_database = (house.asked(path) for house in houses)
    assert in_a_file.status_code == in_a_database.status_code == 200, in_a_file.text
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
def test_what_is_looked_for_is_found(houses: Houses, path: str, found: list[str]) -> None:
    """So that two empty pages are not taken for two equal ones."""
    for house in houses:
        assert re.findall(r'<tr data-win="(\d+)"', house.ask("Emil", path).text) == found


def test_pages_go_on_after_a_fail_over(houses: Houses, server: PostgresServer) -> None:
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


def test_a_page_says_that_the_database_does_not_answer(tmp_path: Path) -> None:
    """Catches: an error without a sentence while a fail-over is under way."""
    own_server = PostgresServer()
    try:
        with psycopg.connect(own_server.url(), autocommit=True) as owner:
            postgres_schema.create(owner, SCHEMA, bytes(16), None)
        house = House(tmp_path, own_server.url())
        own_server.stop("fast")
        answer = house.ask("Emil", "/wins/1/explain")
        assert answer.status_code == 503
        assert "does not answer now" in answer.text
        own_server.start()
        assert house.ask("Emil", "/wins/1/explain").status_code == 200
        house.books.store.close()
    finally:
        own_server.remove()
