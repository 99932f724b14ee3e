"""Who owns what, and a group moved on purpose by one person, on a page.

Mutations this catches: a move without the password, by somebody who may not, to a group that is not
there, or without a word in the ledger about who asked; a live page that shows what nobody reads any
more, or looks while nobody has it open.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from manager.ledger.errors import StoreError
from manager.web.app import build
from manager.web.managers.moving import Moves
from sim.time.loop import run_virtual
from tests.kit.fake_floor import FakeFloor
from tests.kit.page_house import PageHouse
from tests.kit.people import ADMIN, PASSWORD

MOVE = {"move": "stud:south", "password": PASSWORD}


class House(PageHouse):
    def __init__(self) -> None:
        super().__init__(Cora="cage")
        self.floor = FakeFloor()
        self.app = build(self.manager.view, self.access, floor=self.floor)

    def acts(self) -> list[str]:
        query = "SELECT sentence FROM transactions WHERE sentence LIKE '%asks to move%'"
        return [row[0] for row in self.manager.store.rows(query)]


@pytest.fixture
def house() -> House:
    return House()


def test_the_page_shows_who_owns_what_and_offers_the_one_that_stands_by(house: House) -> None:
    page = house.ask("Olga", "/managers").text
    assert 'data-owner="north"' in page
    assert re.findall(r'<option value="([^"]*)"', page) == ["", "stud:south"]


def test_one_person_moves_a_group_and_the_ledger_says_who(house: House) -> None:
    assert house.ask("Olga", "/managers", MOVE).status_code == 303
    assert house.floor.moves == [("stud", "south")]
    assert house.acts() == ["Olga asks to move stud to south."]


def test_who_looks_after_no_machines_is_not_offered_it_and_may_not(house: House) -> None:
    assert 'name="move"' not in house.ask("Cora", "/managers").text
    assert house.ask("Cora", "/managers", MOVE).status_code == 403
    assert house.floor.moves == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"password": "wrong"}, "password"),
        ({"move": "omaha:south"}, "There is no group"),
        ({"move": "stud:west"}, "No manager west stands by"),
        ({"move": ""}, "Choose what moves where"),
        ({"move": "stud"}, "Choose what moves where"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(
    house: House, changed: dict[str, str], said: str
) -> None:
    answer = house.ask("Olga", "/managers", MOVE | changed)
    assert (answer.status_code, said in answer.text) == (409, True), answer.text
    assert house.floor.moves == []


def test_a_manager_that_serves_alone_has_nothing_to_move(house: House) -> None:
    alone = PageHouse()
    assert alone.ask("Olga", "/managers").status_code == 404
    assert alone.ask("Olga", "/managers", MOVE).status_code == 404
    assert alone.ask("Olga", "/managers/events").status_code == 404


def test_who_asked_is_durable_before_the_owner_of_the_group_hears_of_it() -> None:
    """Catches: a move that a power cut leaves without anybody who asked for it."""
    house, order = House(), list[str]()

    class Watched(FakeFloor):
        async def move(self, group: str, name: str) -> str:
            order.append("moved")
            return await super().move(group, name)

    async def durable(number: int | None = None) -> None:
        order.append("durable")

    people = house.access.people
    people.until_durable = durable
    olga = people.find("Olga")
    assert olga is not None
    asyncio.run(Moves(Watched(), people).ask(olga, "stud", "south"))
    assert order == ["durable", "moved"]
    assert house.acts() == ["Olga asks to move stud to south."]


def parts_of(house: House, name: str, count: int, meanwhile: Any = None) -> list[dict[str, str]]:
    """The first views of the live page."""
    return run_virtual(heard(house, name, count, meanwhile))


async def heard(house: House, name: str, count: int, meanwhile: Any) -> list[dict[str, str]]:
    person = house.access.people.find(name)
    assert person is not None
    cookie = f"{house.access.cookie}={house.access.sessions.begin(person)}"
    headers = [(b"host", b"192.0.2.1"), (b"cookie", cookie.encode())]
    scope = {"type": "http", "method": "GET", "path": "/managers/events", "headers": headers}
    scope |= {"query_string": b"", "scheme": "http", "client": ("192.0.2.9", 1)}
    views: list[dict[str, str]] = []
    enough, asked = asyncio.Event(), asyncio.Event()

    async def receive() -> dict[str, Any]:
        if not asked.is_set():
            asked.set()
            return {"type": "http.request", "body": b"", "more_body": False}
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        body = message.get("body", b"").decode()
        if "data: " in body:
            views.append(json.loads(body.partition("data: ")[2]))
            if meanwhile is not None:
                meanwhile(len(views))
            if len(views) >= count:
                enough.set()
                await asyncio.sleep(0)

    await house.app(scope, receive, send)
    return views


def test_the_page_is_live_and_only_who_may_move_hears_of_moves(house: House) -> None:
    def move(count: int) -> None:
        house.floor.owner = "south"
        house.floor.shown_cents += 25

    first, second = parts_of(house, "Olga", 2, move)
    assert 'data-owner="north"' in first["owners"]
    assert 'data-owner="south"' in second["owners"]
    assert 'data-amount-cents="100025"' in second["floor"]
    assert "stud:north" in second["moves"]
    assert set(first) == {"standing", "owners", "floor", "moves", "trouble"}
    assert first["standing"].strip() == ""  # what a page says that was loaded while it stood by
    assert set(parts_of(house, "Cora", 1)[0]) == {"standing", "owners", "floor", "trouble"}


def test_nothing_is_read_while_nobody_looks(house: House) -> None:
    async def scene() -> tuple[int, int]:
        await heard(house, "Olga", 3, None)
        looks = house.floor.looks
        await asyncio.sleep(600)
        return looks, house.floor.looks

    looks, later = run_virtual(scene())
    assert 3 <= looks == later <= 4  # that somebody left is noticed with the next view


def test_a_database_that_does_not_answer_takes_the_amounts_off_the_page(house: House) -> None:
    """Catches: old amounts under a sign that says Live."""

    def fail(count: int) -> None:
        house.floor.trouble = StoreError("The ledger's database does not answer.")

    first, second = parts_of(house, "Olga", 2, fail)
    assert "data-amount-cents" in first["floor"]
    assert (second["owners"], second["floor"], second["moves"]) == ("", "", "")
    assert "does not answer" in second["trouble"]
    assert house.ask("Olga", "/managers").status_code == 503


def test_a_session_that_is_over_ends_its_live_page(house: House) -> None:
    def close(count: int) -> None:
        admin, people = house.access.people.find(ADMIN), house.access.people
        assert admin is not None
        people.close(admin, "Cora")

    assert len(parts_of(house, "Cora", 5, close)) == 1
