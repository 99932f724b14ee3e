"""Who owns what, and a group moved on purpose by one person, on a page.

Mutations this catches: a move without the password, by somebody who may not, to a group that is not
there, or without a word in the ledger about who asked.
"""

from __future__ import annotations

from typing import Any

import pytest

from manager.ledger.errors import LedgerError
from manager.web.app import build
from tests.kit.page_house import PageHouse
from tests.kit.people import PASSWORD

MANAGER = {"link": "10.0.0.1:7411", "web": "http://10.0.0.1:8080", "is_serving": True}
NORTH, SOUTH = MANAGER | {"name": "north"}, MANAGER | {"name": "south"}
MOVE = {"group": "stud", "to": "south", "password": PASSWORD}


class Floor:
    """Two managers of one group; asks nobody."""

    def __init__(self) -> None:
        self.moves: list[tuple[str, str]] = []

    async def groups(self) -> list[dict[str, Any]]:
        managers = [each | {"is_there": True} for each in (NORTH, SOUTH)]
        group = {"name": "stud", "owner": NORTH, "wanted": "", "epoch": 3, "last_number": 9}
        return [group | {"managers": managers, "meters": [], "tables": []}]

    async def move(self, group: str, name: str) -> str:
        if name != "south":
            raise LedgerError(f"No manager {name} stands by; there are: south.")
        self.moves.append((group, name))
        return f"north was asked to hand over to {name}."


class House(PageHouse):
    def __init__(self) -> None:
        super().__init__(Cora="cage")
        self.floor = Floor()
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
    assert page.count('<input type="hidden" name="to"') == 1
    assert 'name="to" value="south"' in page


def test_one_person_moves_a_group_and_the_ledger_says_who(house: House) -> None:
    assert house.ask("Olga", "/managers", MOVE).status_code == 303
    assert house.floor.moves == [("stud", "south")]
    assert house.acts() == ["Olga asks to move stud to south."]


def test_who_looks_after_no_machines_is_not_offered_it_and_may_not(house: House) -> None:
    assert 'name="to"' not in house.ask("Cora", "/managers").text
    assert house.ask("Cora", "/managers", MOVE).status_code == 403
    assert house.floor.moves == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"password": "wrong"}, "password"),
        ({"group": "omaha"}, "There is no group"),
        ({"to": "west"}, "No manager west stands by"),
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
