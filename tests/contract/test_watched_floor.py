"""What every manager shows of a ledger is what its owner shows, and so are its accounts.

Mutations this catches: an amount that is worked out otherwise than the owner does, a change that is
not read, accounts that count after they were last seen.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from manager.ledger.engines import postgres_schema
from manager.ledger.engines.places import SCHEMA
from manager.ledger.errors import StoreError
from manager.watched_floor import KNOWN_MAX_S, WatchedAccounts, WholeFloor
from tests.kit.page_house import PageHouse
from tests.kit.people import ADMIN
from tests.kit.postgres_server import PostgresServer, is_installed
from tests.kit.pretend_books import TERMS, Books, document, game

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL is not installed here")
METER = ("id", "label", "shown_cents", "stopped")
SUSPEND = {"command": "suspend", "jackpot": "main", "operator": "Ann", "reason": "malfunction"}
TABLE = ("id", "name", "unit", "round")


class House(PageHouse):
    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__(Books(url), Cora="cage")
        self.floor = WholeFloor(url, self.books.clock)

    def close_account(self, name: str) -> None:
        admin = self.access.people.find(ADMIN)
        assert admin is not None
        self.access.people.close(admin, name)

    def own(self) -> dict[str, Any]:
        """As the owner's own page has it."""
        view = self.manager.view.view()
        parts = {"meters": METER, "tables": TABLE}
        return {part: _only(view[part], names) for part, names in parts.items()}

    async def watched(self) -> dict[str, Any]:
        (group,) = await self.floor.groups()
        return {"meters": _only(group["meters"], METER), "tables": _only(group["tables"], TABLE)}

    def own_ages_min(self) -> list[int | None]:
        return _ages_min(self.manager.view.view()["tables"])

    async def ages_min(self) -> list[int | None]:
        (group,) = await self.floor.groups()
        return _ages_min(group["tables"])


def _ages_min(tables: list[dict[str, Any]]) -> list[int | None]:
    """To the minute: the clock goes on with each question."""
    ages_ms = (table["last_event_age_ms"] for table in tables)
    return [None if age_ms is None else age_ms // 60_000 for age_ms in ages_ms]


def _only(rows: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in names} for row in rows]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def house(server: PostgresServer) -> Iterator[House]:
    with psycopg.connect(server.url(), autocommit=True) as line:
        line.execute("CREATE DATABASE watched")
    url = server.url().replace("/postgres?", "/watched?")
    with psycopg.connect(url, autocommit=True) as line:
        postgres_schema.create(line, SCHEMA, bytes(16), None)
    house = House(url)
    yield house
    house.floor.close()
    house.manager.store.close()
    with psycopg.connect(server.url(), autocommit=True) as line:
        line.execute("DROP DATABASE watched WITH (FORCE)")


def test_every_amount_and_table_is_what_the_owner_shows_at_each_step(house: House) -> None:
    """Two levels, a win, a reversal, a suspension and a table more; read again after each."""
    books = house.books
    two = {"mega": TERMS | {"label": "Mega"}, "minor": TERMS | {"label": "A minor"}}
    levels = {"A": game("test/progressive/levels", mega="mega", minor="minor")}
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: books.start("touch-1", 1, "1A", "2A", "5A"),
        lambda: books.paid(_5A="four-aces"),
        lambda: books.end("touch-1", 1),
        lambda: books.reverse(1),
        lambda: books.open(document("touch-2", two, levels), "touch-2"),
        lambda: books.start("touch-2", 1, "3A"),
        lambda: books.manager.correct(SUSPEND),
    ]

    async def scene() -> None:
        for step in steps:
            step()
            assert await house.watched() == house.own()
            assert await house.ages_min() == house.own_ages_min()

    asyncio.run(scene())
    shown = house.own()["meters"]
    assert {row["id"]: bool(row["stopped"]) for row in shown} == {
        "main": True,
        "mega": False,
        "minor": False,
    }
    assert [row["id"] for row in shown] == ["main", "mega", "minor"]  # as the paytables rank them


def test_nothing_is_read_again_while_nothing_was_booked(house: House) -> None:
    """Catches: a page that reads five hundred tables each second of a quiet night."""

    asyncio.run(house.watched())
    asyncio.run(house.floor.people(SCHEMA))
    group = house.floor._watched[SCHEMA]
    shown, people = group._shown, group._people
    asyncio.run(house.watched())
    asyncio.run(house.floor.people(SCHEMA))
    assert (group._shown is shown, group._people is people) == (True, True)
    house.books.start("touch-1", 1, "1A")
    asyncio.run(house.watched())
    assert group._shown is not shown


def test_accounts_are_those_in_the_books_and_count_for_a_few_seconds(house: House) -> None:
    """Catches: an account that is closed at the owner and still known here."""
    now_s = [100.0]
    accounts = WatchedAccounts(house.floor, SCHEMA, lambda: now_s[0])
    house.access.people.tokens.add(ADMIN, "Accounting")  # a row that is nobody's account
    assert accounts.find("Cora") is None  # before the first look

    async def scene() -> None:
        await accounts.look()
        for name in ("Cora", "cora", ADMIN, "Accounting", "Nobody Here"):
            assert accounts.find(name) == house.access.people.find(name), name
        house.close_account("Cora")
        await accounts.look()
        cora = accounts.find("Cora")
        assert cora is not None
        assert not cora.may_sign_in
        now_s[0] += KNOWN_MAX_S - 0.1
        assert accounts.find(ADMIN) is not None
        now_s[0] += 0.2
        assert accounts.find(ADMIN) is None

    asyncio.run(scene())


def test_a_database_that_is_away_is_told_and_found_again(
    house: House, server: PostgresServer
) -> None:
    accounts = WatchedAccounts(house.floor, SCHEMA, lambda: 0.0)

    async def scene() -> None:
        before = await house.watched()
        server.stop("fast")  # at once it would lose its last commits: the tests' server is quick
        try:
            for look in (house.floor.groups, house.floor.owners, accounts.look):
                with pytest.raises(StoreError, match="does not answer"):
                    await look()
        finally:
            server.start()
        assert await house.watched() == before

    asyncio.run(scene())


def test_a_database_that_hangs_keeps_nobody_waiting_for_ever(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a page that waits in the thread by which this manager says that it is there."""
    monkeypatch.setattr("manager.watched_floor.LOOK_MAX_S", 0.2)
    let_go = threading.Event()
    monkeypatch.setattr(house.floor, "_groups", lambda: let_go.wait(30))

    async def scene() -> None:
        with pytest.raises(StoreError, match="does not answer"):
            await house.floor.groups()
        others = [asyncio.to_thread(lambda: None) for _ in range(64)]
        async with asyncio.timeout(20):
            await asyncio.gather(*others)  # every other thread is free
        let_go.set()

    asyncio.run(scene())


def test_a_ledger_of_other_software_is_not_guessed_at(house: House) -> None:
    with psycopg.connect(house.url, autocommit=True) as line:
        line.execute(f"UPDATE {SCHEMA}.format SET version = 99")

    async def scene() -> None:
        with pytest.raises(StoreError, match="version 99"):
            await house.floor.groups()
        with pytest.raises(StoreError, match="version 99"):
            await house.floor.people(SCHEMA)

    asyncio.run(scene())
