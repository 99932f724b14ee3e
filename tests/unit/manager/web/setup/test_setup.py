"""Setting up a table in the browser: refusals stand at their field, and two people open it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from kit.config import parse
from manager.games import load_paytable
from manager.people.roles import Role
from manager.setup.table_file import read_setup
from manager.web.setup.typed_table import blank, text_of
from tests.kit.page_house import PageHouse
from tests.kit.people import PASSWORD, add_people

GAME = "four-card/progressive/Pays-1"
NEW = {
    "A": GAME,
    "table.id": "four-card-9",
    "table.name": "Four Card 9",
    "board.serial": "UF-0009",
    "A.top.id": "nine",
}


class House(PageHouse):
    def look(self, **typed: str) -> str:
        """Looked at with all of NEW, but for what is typed; `A__top__seed` is `A.top.seed`."""
        fields = NEW | {name.replace("__", "."): text for name, text in typed.items()}
        return self.ask("Olga", f"/setup/table?{urlencode(fields | {'look': 'yes'})}").text


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    house = House()

    async def nothing(typed: dict[str, str]) -> dict[str, object]:
        return {"is_counting": False, "advice": None}

    monkeypatch.setattr(house.manager.view.reports, "advice", nothing)
    yield house
    house.books.store.close()


def wrong_at(page: str) -> dict[str, str]:
    return dict(re.findall(r'id="wrong-([^"]*)">([^<]*)<', page))


def test_the_form_begins_with_a_starting_point(house: House) -> None:
    page = house.ask("Olga", f"/setup/table?A={GAME}").text
    assert 'name="A.top.seed" value="5000.00"' in page
    assert 'name="A.top.contribution" value="33"' in page


@pytest.mark.parametrize(
    ("typed", "field", "sentence"),
    [
        ({"table__id": ""}, "table-id", "must"),
        ({"table__seats": "99"}, "table-seats", "12"),
        ({"table__seats": "many"}, "table-seats", "whole number"),
        ({"A__top__seed": "much"}, "A-top-seed", "must"),
        ({"A__top__contribution": "150"}, "A-top-contribution", "percentage"),
        ({"A__top__id": ""}, "A-top-id", "needs a name"),
        ({"A__wager": "x"}, "A-wager", "amount"),
        ({"authority__dealer_limit": "lots"}, "authority-dealer_limit", "must"),
    ],
)
def test_what_is_refused_stands_at_its_field(
    house: House, typed: dict[str, str], field: str, sentence: str
) -> None:
    """Catches: a refusal at the top of the page, or at another field."""
    page = house.look(**typed)
    assert sentence in wrong_at(page)[field]
    assert "Ask to open it" not in page


def test_several_mistakes_are_told_at_once(house: House) -> None:
    page = house.look(table__seats="many", A__top__seed="much")
    assert set(wrong_at(page)) >= {"table-seats", "A-top-seed"}


def test_looking_changes_nothing_and_two_people_open(house: House) -> None:
    """Catches: a table that is open before anybody agreed."""
    page = house.look()
    assert "Table four-card-9 is open, on nine." in page
    assert house.manager.book.tables.ids() == ["touch-1"]
    assert house.manager.book.jackpots.find("nine") is None
    sent = blank({"A": load_paytable(GAME)}) | NEW | {"password": PASSWORD}
    assert house.ask("Olga", "/setup/table", sent).headers["location"] == "/requests"
    assert house.manager.book.tables.ids() == ["touch-1"]
    own = house.ask("Olga", "/requests/1", {"act": "approve", "password": PASSWORD})
    assert own.status_code == 409
    assert house.manager.book.tables.ids() == ["touch-1"]
    done = house.ask("Emil", "/requests/1", {"act": "approve", "password": PASSWORD})
    assert done.status_code == 303
    assert house.manager.book.tables.ids() == ["four-card-9", "touch-1"]
    assert house.books.shown_on("nine") == 500_000
    file = house.ask("Olga", "/requests/1/table.toml").text
    assert read_setup(parse(file)).board_serial == "UF-0009"


def test_who_decides_sees_what_it_would_do_now(house: House) -> None:
    """Catches: a look from when it was asked for, after the books have moved."""
    house.books.start("touch-1", 1, "1A", "5A")
    house.books.paid(_5A="four-aces")
    wanted = {"win": "1", "reason": "not-won", "step": "sure", "password": PASSWORD}
    assert house.ask("Olga", "/corrections/reverse-win", wanted).status_code == 303
    assert "Win 1 is reversed by transaction" in house.ask("Emil", "/requests").text
    house.books.reverse(1)
    page = house.ask("Emil", "/requests").text
    assert "It cannot be done as things are" in page
    assert "Win 1 is reversed by transaction" not in page


def test_a_wrong_password_asks_for_nothing(house: House) -> None:
    typed = blank({"A": load_paytable(GAME)}) | NEW | {"password": "not the one"}
    answer = house.ask("Olga", "/setup/table", typed)
    assert answer.status_code == 409
    assert "password is wrong" in answer.text
    assert house.access.two_people.waiting() == []


def test_a_page_that_goes_on_by_itself_has_nothing_to_type(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a password that is lost because the page asked for the advice again."""

    async def counting(typed: dict[str, str]) -> dict[str, object]:
        return {"is_counting": True, "advice": None}

    monkeypatch.setattr(house.manager.view.reports, "advice", counting)
    query = urlencode(NEW | {"look": "yes"})
    page = house.ask("Olga", f"/setup/table?{query}")
    assert page.headers["refresh"] == "2"
    assert "<progress" in page.text
    assert 'type="password"' not in page.text
    page = house.ask("Olga", f"/setup/table?{query}&advice=no")
    assert "refresh" not in page.headers
    assert 'type="password"' in page.text


def test_a_table_joins_a_jackpot_of_the_same_game_only(house: House) -> None:
    assert "Table four-card-9 is open, on main." in house.look(A__top__link="main", A__top__id="")
    page = house.look(A="crazy-4/progressive/Pays-2", A__top__link="main", A__top__id="")
    assert "is linked to table touch-1" in page
    assert "Ask to open it" not in page


def test_what_is_typed_is_text_and_never_a_key_of_the_file() -> None:
    """Catches: a name with a quote or a line end that writes another section."""
    paytable = load_paytable(GAME)
    odd = 'x"\n[cards]\nlabel = "mine'
    typed = blank({"A": paytable}) | {"table.id": "t", "table.name": odd, "A.top.id": odd}
    document = parse(text_of(typed, {"A": paytable}, {}).text)
    assert document.values["table"]["name"] == odd
    assert list(document.values["jackpots"]) == [odd]
    assert "cards" not in document.values


@pytest.mark.parametrize("role", [Role.CAGE, Role.AUDITOR, Role.ADMIN, Role.SUPERVISOR])
def test_only_operator_and_executive_set_up(house: House, role: Role) -> None:
    add_people(house.access.people, Nora=str(role))
    assert house.ask("Nora", f"/setup/table?A={GAME}").status_code == 403
    assert "A new table" not in house.ask("Nora", "/setup").text
