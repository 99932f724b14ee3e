"""The pages of a manager that stands by, before an owner with real books.

Mutations this catches: money for strangers, a session that the owner did not say yes to, one that
outlives its account or its database, and a form that is taken without its key or from elsewhere.
"""

from __future__ import annotations

import pytest
from starlette.routing import Mount

from manager.ledger.errors import LedgerError, StoreError
from manager.people.handing_over import Answer, HandedOver
from manager.people.sessions import IDLE_MAX_S
from manager.web.managers.standby import StandbyPages
from manager.web.session_access import Page
from tests.kit.people import ADMIN, PASSWORD
from tests.kit.standby_house import Owner, Standby

OPEN = {("/", "GET"), ("/sign-in", "GET"), ("/sign-in", "POST")}
AWAY = LedgerError("north did not answer. Look again in a few seconds, then try once more.")


@pytest.fixture
def south() -> Standby:
    return Standby()


def test_a_stranger_sees_who_owns_what_and_no_money(south: Standby) -> None:
    """Catches: a new route that somebody forgot to close."""
    page = south.ask("/").text
    assert 'data-owner="north"' in page
    assert "https://10.0.0.11:8080/" in page
    assert "$" not in page
    assert "data-amount-cents" not in page
    assert south.floor.looks == 0  # nor is any read
    routes = [each for each in south.app.routes if not isinstance(each, Mount)]
    for route in routes:
        assert isinstance(route, Page)
        for method in (route.methods or set()) - {"HEAD"}:
            if route.roles is None:
                assert (route.path, method) in OPEN
                continue
            answer = south.ask(route.path, None if method == "GET" else {})
            assert answer.status_code == (303 if method == "GET" else 401), route.path
            assert "data-amount-cents" not in answer.text
    assert south.owner.handed == []


def test_who_is_let_in_by_the_owner_sees_the_whole_floor(south: Standby) -> None:
    answer = south.sign_in("cora")
    assert (answer.status_code, answer.headers["location"]) == (303, "/managers")
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert "samesite=strict" in answer.headers["set-cookie"].lower()
    assert south.acts()[-1].startswith("Cora signed in at 192.0.2.7, on the pages of south")
    page = south.ask("/managers").text
    assert 'data-amount-cents="100000"' in page
    assert "south stands by" in page
    assert 'name="move"' not in page
    assert 'href="/wins"' not in page  # which are the owner's
    assert south.ask("/").headers["location"] == "/managers"


@pytest.mark.parametrize("name", ["Cora", "Nobody Here"])
def test_who_is_refused_by_the_owner_is_no_session(south: Standby, name: str) -> None:
    """Catches: an answer that is not looked at."""
    answer = south.sign_in(name, "not the password")
    assert (answer.status_code, "password is wrong" in answer.text) == (403, True)
    assert "not the password" not in answer.text
    assert south.cookies == {}
    for _ in range(4):
        south.sign_in(name, "not the password")
    answer = south.sign_in(name)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "15")
    assert south.cookies == {}


def test_an_owner_that_is_away_lets_nobody_in_and_says_so(south: Standby) -> None:
    south.owner.away = AWAY
    answer = south.sign_in("Cora")
    assert (answer.status_code, str(AWAY) in answer.text) == (403, True)
    assert south.cookies == {}
    assert 'value="Cora"' in answer.text  # only the password is typed again


def test_an_account_that_changes_while_the_owner_says_yes_is_not_let_in(south: Standby) -> None:
    """Catches: a session for the account as it was a moment ago."""

    class Slow(Owner):
        async def ask(self, handed: HandedOver) -> Answer:
            answer = await super().ask(handed)
            people = self.house.access.people
            admin = people.find(ADMIN)
            assert admin is not None
            people.close(admin, "Cora")
            return answer

    south.app = StandbyPages("south", south.floor, Slow(south.house), south.access).app(())
    answer = south.sign_in("Cora")
    assert (answer.status_code, "Sign in again" in answer.text) == (403, True)
    assert south.cookies == {}


def test_a_closed_account_is_out_with_the_next_page(south: Standby) -> None:
    south.sign_in("Cora")
    assert south.ask("/managers").status_code == 200
    people = south.house.access.people
    admin = people.find(ADMIN)
    assert admin is not None
    people.close(admin, "Cora")
    assert south.ask("/managers").status_code == 303
    assert south.ask("/managers/events", **{"sec-fetch-mode": "cors"}).status_code == 401


def test_without_the_database_nothing_is_shown_and_the_session_waits(south: Standby) -> None:
    south.sign_in("Cora")
    south.accounts.trouble = StoreError("The ledger's database does not answer.")
    answer = south.ask("/managers")
    assert (answer.status_code, "data-amount-cents" in answer.text) == (503, False)
    assert south.ask("/managers/events").status_code == 503
    south.accounts.trouble = None
    assert south.ask("/managers").status_code == 200


def test_a_session_is_as_long_as_at_the_owner(south: Standby) -> None:
    south.sign_in("Cora")
    south.now_s += IDLE_MAX_S - 1
    assert south.ask("/managers").status_code == 200
    south.now_s += IDLE_MAX_S
    assert south.ask("/managers").status_code == 303


def test_who_signs_out_is_out_and_the_owner_writes_it_down(south: Standby) -> None:
    south.sign_in("Cora")
    token = dict(south.cookies)
    answer = south.ask("/sign-out", {"form_key": south.form_key()})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert south.acts()[-1] == "Cora signed out on the pages of south, which stands by."
    south.cookies = token  # a copy of the cookie is worth nothing
    assert south.ask("/managers").status_code == 303


def test_who_signs_out_is_out_even_when_nobody_writes_it_down(south: Standby) -> None:
    """Catches: a screen that stays open because the owner is away."""
    south.sign_in("Cora")
    token, key = dict(south.cookies), south.form_key()
    south.owner.away = AWAY
    answer = south.ask("/sign-out", {"form_key": key})
    assert (answer.status_code, "You are signed out here" in answer.text) == (200, True)
    assert str(AWAY) in answer.text
    south.cookies = token
    assert south.ask("/managers").status_code == 303


def test_one_person_moves_a_group_from_here(south: Standby) -> None:
    south.sign_in("Olga")
    form = {"form_key": south.form_key(), "move": "stud:south"}
    wrong = south.ask("/managers", form | {"password": "not the password"})
    assert (wrong.status_code, "password is wrong" in wrong.text) == (409, True)
    assert south.floor.moves == []
    assert south.ask("/managers", form | {"password": PASSWORD}).status_code == 303
    assert south.floor.moves == [("stud", "south")]
    assert south.acts()[-1] == "Olga asks to move stud to south, on the pages of south."
    assert "was asked to hand over" in south.ask("/managers").text
    south.owner.away = AWAY
    away = south.ask("/managers", form | {"password": PASSWORD})
    assert (away.status_code, str(AWAY) in away.text) == (409, True)


def test_who_may_not_move_is_refused_here_and_by_the_owner(south: Standby) -> None:
    south.sign_in("Cora")
    form = {"form_key": south.form_key(), "move": "stud:south", "password": PASSWORD}
    handed = len(south.owner.handed)
    assert south.ask("/managers", form).status_code == 403
    assert len(south.owner.handed) == handed


def test_no_form_is_taken_without_its_key_or_from_elsewhere(south: Standby) -> None:
    south.sign_in("Olga")
    form = {"form_key": south.form_key(), "move": "stud:south", "password": PASSWORD}
    handed = len(south.owner.handed)
    assert south.ask("/managers", form | {"form_key": "x"}).status_code == 403
    assert south.ask("/managers", form, origin="http://evil.example").status_code == 403
    assert south.ask("/managers", form, host="evil.example").status_code in (403, 421)
    assert south.ask("/sign-out", {"form_key": "x"}).status_code == 403
    typed = {"name": "Olga", "password": PASSWORD}
    assert south.ask("/sign-in", typed, origin="http://evil.example").status_code == 403
    assert south.ask("/sign-in", typed, origin="").status_code == 403
    assert len(south.owner.handed) == handed


def test_after_a_sign_in_nobody_is_led_to_another_site(south: Standby) -> None:
    form = {"name": "Cora", "password": PASSWORD}
    answer = south.ask("/sign-in?to=//evil.example/", form)
    assert answer.headers["location"] == "/"


def test_a_session_goes_on_in_the_books_when_the_stand_by_becomes_the_owner(
    south: Standby,
) -> None:
    """And only as long as the account is the same there."""
    south.sign_in("Cora")
    (token,) = south.cookies.values()
    people = south.house.access.people
    south.sessions.go_on_with(people)
    assert south.sessions.find(token) is not None
    admin = people.find(ADMIN)
    assert admin is not None
    people.close(admin, "Cora")
    assert south.sessions.find(token) is None
