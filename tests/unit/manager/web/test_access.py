"""Every route of the manager's pages: whose it is, and what a form must prove."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import httpx
import pytest
from starlette.routing import Mount

from manager.ledger.engines.relations import PEOPLE
from manager.people.roles import Role
from manager.people.sessions import IDLE_MAX_S
from manager.web.access import COOKIE, SAFE_COOKIE, Access, Page
from manager.web.app import build
from tests.kit.fake_floor import FakeFloor
from tests.kit.manager_views import FakeManager, FakeUnits
from tests.kit.people import PASSWORD, access_to, add_people, small_store

HOST = "192.0.2.1"
ORIGIN = {"origin": f"http://{HOST}"}
OPEN = {"/sign-in", "/first", "/code", "/health"}
PATHS = {
    "/tables/{table}": "/tables/four-card-touch",
    "/tables/{table}/events": "/tables/four-card-touch/events",
    "/meters/{meter}": "/meters/main",
    "/meters/{meter}/events": "/meters/main/events",
    "/meters/{meter}/plot": "/meters/main/plot",
    "/wins/{number:win}": "/wins/1",
    "/wins/{number:win}/slips.pdf": "/wins/1/slips.pdf",
    "/claims/{table}/{number:win}": "/claims/touch-1/1",
    "/claims/{table}/{number:win}/slips.pdf": "/claims/touch-1/1/slips.pdf",
    "/wins/{number:win}/explain": "/wins/1/explain",
    "/wins/{number:win}/explain/{page:page}": "/wins/1/explain/1",
    "/days/{day}": "/days/2026-11-16",
    "/days/{day}/report.csv": "/days/2026-11-16/report.csv",
    "/days/{day}/report.pdf": "/days/2026-11-16/report.pdf",
    "/corrections/{command}": "/corrections/suspend",
    "/requests/{number:win}": "/requests/1",
    "/bundles/{number:win}": "/bundles/1",
    "/updates/pieces/{place:int}": "/updates/pieces/0",
    "/bundles/{number:win}.zip": "/bundles/1.zip",
    "/requests/{number:win}/table.toml": "/requests/1/table.toml",
    "/setup/table": "/setup/table?A=four-card/progressive/Pays-1",
    "/api/v1/wins/{number}": "/api/v1/wins/1",
    "/advice/numbers": "/advice/numbers?paytable=four-card/progressive/Pays-1",
}


class House:
    def __init__(self, is_tls: bool = False) -> None:
        self.store = small_store()
        self.now_s = 0.0
        self.access: Access = access_to(self.store, now_s=lambda: self.now_s, is_tls=is_tls)
        self.app = build(FakeManager(), self.access, floor=FakeFloor(), units=FakeUnits())
        self.scheme = "https" if is_tls else "http"

    def people(self) -> None:
        names = {str(role).capitalize(): str(role) for role in Role}
        add_people(self.access.people, **names)

    def token(self, role: Role) -> str:
        person = self.access.people.find(str(role))
        assert person is not None
        return self.access.sessions.begin(person)

    def form_key(self, token: str) -> str:
        session = self.access.sessions.find(token)
        assert session is not None
        return session.form_key

    def ask(
        self,
        method: str,
        path: str,
        token: str = "",
        headers: dict[str, str] | None = None,
        form: dict[str, str] | None = None,
    ) -> httpx.Response:
        cookies = {self.access.cookie: token} if token else {}

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            address = f"{self.scheme}://{HOST}"
            async with httpx.AsyncClient(
                transport=transport, base_url=address, cookies=cookies
            ) as client:
                return await client.request(method, path, headers=headers, data=form)

        return asyncio.run(asked())

    def routes(self) -> list[tuple[Page, str, str]]:
        """Every page with its method and a path that leads to it."""
        found = []
        for route in self.app.routes:
            if isinstance(route, Mount):
                assert route.path == "/static"
                continue
            assert isinstance(route, Page), f"{route} says not whose it is"
            for method in sorted((route.methods or set()) - {"HEAD"}):
                found.append((route, method, PATHS.get(route.path, route.path)))
        return found


@pytest.fixture
def house() -> Iterator[House]:
    house = House()
    house.people()
    yield house
    house.store.close()


def is_stream(path: str) -> bool:
    return path.endswith("/events")  # it never ends, so it is asked by whom it is not for only


def test_a_stranger_gets_no_page_but_the_doors(house: House) -> None:
    """Catches: a new route that somebody forgot to close."""
    assert {route.path for route, _, _ in house.routes() if route.roles is None} == OPEN
    for route, method, path in house.routes():
        if route.roles is None or route.is_for_machines or route.is_for_managers:
            continue
        answer = house.ask(method, path, headers=ORIGIN, form={} if method == "POST" else None)
        assert answer.status_code == (303 if method == "GET" else 401), path
        if method == "GET":
            assert answer.headers["location"].startswith("/sign-in?to="), path
        assert "data-amount-cents" not in answer.text


@pytest.mark.parametrize("role", list(Role))
def test_each_role_gets_its_pages_and_no_other(house: House, role: Role) -> None:
    """Catches: a check of roles that is left out, on any route."""
    token = house.token(role)
    key = house.form_key(token)
    for route, method, path in house.routes():
        if route.roles is None or is_stream(path) or path == "/sign-out" or route.is_for_machines:
            continue
        if route.is_for_managers:
            continue  # tests/unit/manager/web/managers/test_from_standby.py
        form = {"form_key": key} if method == "POST" else None
        answer = house.ask(method, path, token, ORIGIN | {"x-form-key": key}, form)
        if role in route.roles:
            assert answer.status_code not in (303, 401) or method == "POST", path
            is_refused_command = answer.status_code == 403 and path == "/corrections/suspend"
            is_practice = path == "/turn-into"
            assert answer.status_code != 403 or is_refused_command or is_practice, path
        else:
            assert answer.status_code == 403, path
            assert "not for your role" in answer.text


def test_what_is_for_machines_opens_by_a_token_and_by_nothing_else(house: House) -> None:
    """Catches: an address of the API without its check, or one that a session opens as well."""
    _, secret = house.access.people.tokens.add("Admin", "Accounting")
    found = [(route, path) for route, _, path in house.routes() if route.is_for_machines]
    assert {route.path for route, _ in found} >= {"/metrics", "/api/v1/entries"}
    for route, path in found:
        assert route.methods == {"GET", "HEAD"}, path
        session = house.token(Role.ADMIN)
        for headers in (
            {},
            {"authorization": "Bearer uft_x"},
            {"authorization": f"Basic {secret}"},
        ):
            answer = house.ask("GET", path, session, headers)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), path
        right = {"authorization": f"Bearer {secret}"}
        assert house.ask("GET", path, "", right).status_code in (200, 404), path
        elsewhere = right | {"origin": "http://evil.example"}
        assert house.ask("GET", path, "", elsewhere).status_code == 403, path
        assert house.ask("POST", path, "", right | ORIGIN).status_code == 405, path
    page = house.ask("GET", "/bank", "", {"authorization": f"Bearer {secret}"})
    assert page.status_code == 303  # and no page opens by a token
    house.access.people.tokens.revoke("Admin", "Accounting")
    for _, path in found:
        assert house.ask("GET", path, "", right).status_code == 401, path


def test_guessing_tokens_is_slowed_down(house: House) -> None:
    codes = [house.ask("GET", "/metrics").status_code for _ in range(62)]
    assert codes == [401] * 60 + [429] * 2


def test_an_admin_makes_a_token_with_a_password_and_sees_it_once(house: House) -> None:
    token = house.token(Role.ADMIN)
    form = {"form_key": house.form_key(token), "act": "add", "name": "Accounting"}
    poor = house.ask("POST", "/tokens", token, ORIGIN, form | {"password": "not the one"})
    assert poor.status_code == 409
    page = house.ask("POST", "/tokens", token, ORIGIN, form | {"password": PASSWORD})
    found = re.search(r'class="letters">(uft_[A-Za-z0-9_-]+)<', page.text)
    assert found is not None
    assert found[1] not in house.ask("GET", "/tokens", token).text
    again = house.ask("POST", "/tokens", token, ORIGIN, form | {"password": PASSWORD})
    assert "There was a token Accounting already" in again.text
    everything = [str(row) for row in house.store.find(PEOPLE, {})]
    everything += [str(each) for each, _ in house.store.recorded()]
    assert not [text for text in everything if found[1] in text]  # kept as a digest
    revoke = form | {"act": "revoke", "password": PASSWORD}
    assert "Revoked" in house.ask("POST", "/tokens", token, ORIGIN, revoke).text
    acts = [each.sentence for each, _ in house.store.recorded() if each.kind == "ACT"]
    assert acts[-2:] == ["Admin made the token Accounting.", "Admin revoked the token Accounting."]
    assert [each.name for each in house.access.people.all() if each.name == "Accounting"] == []


def test_the_stream_is_closed_to_strangers(house: House) -> None:
    answer = house.ask("GET", "/events", headers={"sec-fetch-mode": "cors"})
    assert answer.status_code == 401


@pytest.mark.parametrize("path", ["/meters/main/plot", "/bank"])
def test_what_a_page_asks_by_itself_keeps_nobody_signed_in(house: House, path: str) -> None:
    """Catches: a plot on an empty desk that renews its session for ever."""
    token = house.token(Role.CAGE)
    house.now_s += IDLE_MAX_S - 1
    assert house.ask("GET", path, token).status_code == 200
    house.now_s += 2
    is_on = house.ask("GET", "/bank", token).status_code == 200
    assert is_on is (path == "/bank")


def test_no_form_is_taken_without_its_key_or_from_elsewhere(house: House) -> None:
    """Catches: a form that another site, an old page or another session sends."""
    token = house.token(Role.ADMIN)
    key, other = house.form_key(token), house.form_key(house.token(Role.EXECUTIVE))
    for route, method, path in house.routes():
        if method != "POST":
            continue
        wrong = {"origin": "http://evil.example"}
        assert house.ask("POST", path, token, wrong, {"form_key": key}).status_code == 403, path
        assert house.ask("POST", path, token, {}, {"form_key": key}).status_code == 403, path
        if route.roles is None or Role.ADMIN not in route.roles:
            continue
        for sent in ({"x": "1"}, {"form_key": ""}, {"form_key": other}):
            answer = house.ask("POST", path, token, ORIGIN, sent)
            assert answer.status_code == 403, path
            assert "not from this page" in answer.text


def test_no_page_is_given_under_a_foreign_name(house: House) -> None:
    token = house.token(Role.ADMIN)
    for _, method, path in house.routes():
        answer = house.ask(method, path, token, {"host": "evil.example"})
        assert answer.status_code == 421, path


def test_a_form_of_another_kind_is_refused(house: House) -> None:
    token = house.token(Role.ADMIN)
    asked = {**ORIGIN, "content-type": "application/json"}
    assert house.ask("POST", "/people", token, asked).status_code == 415
    big = {"form_key": "x" * 20_000}
    assert house.ask("POST", "/people", token, ORIGIN, big).status_code == 413


def test_the_cookie_is_for_this_machine_and_no_script() -> None:
    for is_tls, name in ((False, COOKIE), (True, SAFE_COOKIE)):
        house = House(is_tls)
        house.people()
        origin = {"origin": f"{house.scheme}://{HOST}"}
        form = {"name": "executive", "password": PASSWORD}
        answer = house.ask("POST", "/sign-in?to=/bank", "", origin, form)
        cookie = answer.headers["set-cookie"]
        assert (answer.status_code, answer.headers["location"]) == (303, "/bank")
        assert cookie.startswith(f"{name}=")
        for word in ("HttpOnly", "SameSite=strict", "Path=/"):
            assert word in cookie
        assert ("Secure" in cookie) is is_tls
        house.store.close()


@pytest.mark.parametrize("to", ["//evil.example/", "https://evil.example", "/\\evil", "\n/x"])
def test_nobody_is_sent_to_another_site(house: House, to: str) -> None:
    form = {"name": "cage", "password": PASSWORD}
    path = str(httpx.URL("/sign-in", params={"to": to}))
    assert house.ask("POST", path, "", ORIGIN, form).headers["location"] == "/"


def test_signing_in_and_out_are_acts(house: House) -> None:
    form = {"name": "CAGE", "password": PASSWORD}
    answer = house.ask("POST", "/sign-in", "", ORIGIN, form)
    token = answer.cookies[COOKIE]
    assert house.ask("GET", "/bank", token).status_code == 200
    key = house.form_key(token)
    house.ask("POST", "/sign-out", token, ORIGIN, {"form_key": key})
    assert house.ask("GET", "/bank", token).status_code == 303
    acts = [each.sentence for each, _ in house.store.recorded() if each.kind == "ACT"]
    assert acts[-2:] == ["Cage signed in at 127.0.0.1.", "Cage signed out."]


def test_too_many_tries_are_told_to_wait(house: House) -> None:
    form = {"name": "cage", "password": "not the one"}
    codes = [house.ask("POST", "/sign-in", "", ORIGIN, form).status_code for _ in range(7)]
    assert codes == [403] * 5 + [429] * 2
    answer = house.ask("POST", "/sign-in", "", ORIGIN, form)
    assert answer.headers["retry-after"] == "15"
    assert "Wait 15 seconds" in answer.text


def test_the_first_admin_is_made_on_the_first_page_and_it_closes() -> None:
    house = House()
    assert house.ask("GET", "/bank").headers["location"].startswith("/first")
    assert house.ask("GET", "/sign-in").headers["location"] == "/first"
    code = house.access.first_code.read_out()
    form = {"name": "Addie", "password": PASSWORD, "again": PASSWORD, "code": "wrong"}
    assert house.ask("POST", "/first", "", ORIGIN, form).status_code == 403
    poor = form | {"code": code, "password": "short", "again": "short"}
    assert "at least 12" in house.ask("POST", "/first", "", ORIGIN, poor).text
    answer = house.ask("POST", "/first", "", ORIGIN, form | {"code": code})
    assert answer.status_code == 303
    assert house.ask("GET", "/people", answer.cookies[COOKIE]).status_code == 200
    assert house.ask("GET", "/first").status_code == 404
    assert house.ask("POST", "/first", "", ORIGIN, form | {"code": code}).status_code == 404
    house.store.close()


def test_an_admin_lets_somebody_in_by_a_code_that_is_shown_once(house: House) -> None:
    token = house.token(Role.ADMIN)
    form = {"form_key": house.form_key(token), "act": "add", "name": "New Nell", "role": "cage"}
    page = house.ask("POST", "/people", token, ORIGIN, form).text
    found = re.search(r'class="letters">([A-Z0-9-]+)<', page)
    assert found is not None
    assert found[1] not in house.ask("GET", "/people", token).text
    chosen = {"name": "new nell", "code": found[1], "password": "a horse and a hat"}
    answer = house.ask("POST", "/code", "", ORIGIN, chosen | {"again": "a horse and a hat"})
    assert answer.status_code == 303
    assert "New Nell" in house.ask("GET", "/bank", answer.cookies[COOKIE]).text


def test_money_asks_for_the_password_again(house: House) -> None:
    """Catches: a correction from a screen that somebody left open."""
    token = house.token(Role.EXECUTIVE)
    typed = {"form_key": house.form_key(token), "jackpot": "main", "reason": "malfunction"}
    look = house.ask("POST", "/corrections/suspend", token, ORIGIN, typed)
    assert "Your password again" in look.text
    sure = typed | {"step": "sure", "password": "not the one"}
    answer = house.ask("POST", "/corrections/suspend", token, ORIGIN, sure)
    assert answer.status_code == 409
    assert "password is wrong" in answer.text
    sure["password"] = PASSWORD
    answer = house.ask("POST", "/corrections/suspend", token, ORIGIN, sure)
    assert answer.headers["location"] == "/requests"
    assert "Done." in house.ask("GET", "/requests", token).text


def test_two_people_in_two_browsers(house: House) -> None:
    asker, second = house.token(Role.OPERATOR), house.token(Role.SUPERVISOR)
    typed = {"form_key": house.form_key(asker), "win": "1", "reason": "not-won"}
    sure = typed | {"step": "sure", "password": PASSWORD}
    assert house.ask("POST", "/corrections/reverse-win", asker, ORIGIN, sure).status_code == 303
    assert "Take it back" in house.ask("GET", "/requests", asker).text
    page = house.ask("GET", "/requests", second).text
    assert 'data-request="1"' in page
    assert "If it is done now" in page
    assert 'class="count"' in page
    decide = {"form_key": house.form_key(second), "act": "approve", "password": "not the one"}
    assert house.ask("POST", "/requests/1", second, ORIGIN, decide).status_code == 409
    decide["password"] = PASSWORD
    assert house.ask("POST", "/requests/1", second, ORIGIN, decide).status_code == 303
    assert 'data-state="approved"' in house.ask("GET", "/requests", asker).text
    mine = {"form_key": house.form_key(asker), "act": "approve", "password": PASSWORD}
    assert house.ask("POST", "/requests/1", asker, ORIGIN, mine).status_code == 409
