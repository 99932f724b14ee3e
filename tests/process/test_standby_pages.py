"""Somebody at the pages of a manager that stands by: real processes, PostgreSQL and TLS.

The single refusals are tried one by one in `unit/manager/web/managers` and `contract`.
"""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from manager.__main__ import main
from manager.ledger_place import keep_database
from tests.kit.linked_floor import until
from tests.kit.people import ADMIN, PASSWORD, people_of_a_folder
from tests.kit.postgres_server import PostgresServer, is_installed
from tests.kit.several_managers import Managers, Visitor

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL is not installed here")
TABLES = ("touch-1", "touch-2")
WAIT_MAX_S = 60.0


@pytest.fixture
def managers(url: str, tmp_path: Path) -> Iterator[Managers]:
    """North owns, south stands by; Olga may move groups, Cora may not."""
    assert main(["make-ledger", url]) == 0
    managers = Managers(tmp_path, url, TABLES)
    managers.share("north")
    keep_database(managers.data("north"), url)
    people_of_a_folder(managers.data("north"), Olga="operator", Cora="cage")
    asyncio.run(managers.start_pair())
    with managers.visitor("south") as nobody:  # until it has seen who owns the ledger
        soon(lambda: "password is wrong" in nobody.sign_in("Nobody", "at all").text)
    yield managers
    managers.end()


def soon(is_so: Callable[[], bool]) -> None:
    asyncio.run(until(is_so, WAIT_MAX_S))


def shown_cents(page: str) -> list[int]:
    return [int(cents) for cents in re.findall(r'data-amount-cents="(\d+)"', page)]


def test_who_signs_in_sees_the_whole_floor_live_and_the_owner_wrote_it_down(
    managers: Managers,
) -> None:
    """Catches: money without a sign-in, a sign-in beside the books, a page that stands still."""
    with managers.visitor("south") as cora:
        assert shown_cents(cora.get("/").text) == []
        assert cora.get("/managers").headers["location"] == "/sign-in?to=/managers"
        assert cora.get("/managers/events").status_code == 303
        answer = cora.sign_in("Cora")
        assert (answer.status_code, answer.headers["location"]) == (303, "/managers")
        assert managers.acts()[-1].startswith("Cora signed in at 127.0.0.1, on the pages of south")
        page = cora.get("/managers").text
        assert 'data-owner="north"' in page
        assert re.findall(r'data-table="([^"]+)"', page) == list(TABLES)
        before = shown_cents(page)
        assert before
        assert min(before) > 0

        async def play() -> None:
            async with managers.floor("north", "south") as floor:
                await floor.until_played(10)
                await floor.until_drained()

        asyncio.run(play())
        parts = next(cora.parts())
        # No list of moves: she may not.
        assert set(parts) == {"standing", "owners", "floor", "trouble"}
        assert "south stands by" in parts["standing"]
        assert shown_cents(parts["floor"])[0] > before[0]
        assert cora.send("/managers", move=":south", password=PASSWORD).status_code == 403
        assert cora.send("/sign-out").headers["location"] == "/sign-in"
        assert managers.acts()[-1] == "Cora signed out on the pages of south, which stands by."
        assert cora.get("/managers").status_code == 303
    assert managers.audit() == 0


def test_wrong_tries_are_counted_with_those_at_the_owner(managers: Managers) -> None:
    """Catches: a second manager as a second chance to guess, and a try that no book knows of."""
    with managers.visitor("south") as south, managers.visitor("north") as north:
        for number in range(4):
            at = south if number % 2 else north
            answer = at.sign_in("Cora", f"not the password {number}")
            assert (answer.status_code, "wrong" in answer.text) == (403, True), answer.text
        wrong = [act for act in managers.acts() if "wrong password" in act]
        here = "A wrong password was typed for Cora at 127.0.0.1"
        assert wrong == [f"{here}.", f"{here}, on the pages of south."] * 2
        south.sign_in("Cora", "not the password")
        for at in (south, north):  # the right one has to wait as well, at both
            answer = at.sign_in("Cora")
            assert (answer.status_code, answer.headers["retry-after"]) == (429, "15")
            assert at.get("/managers").status_code == 303


@pytest.mark.parametrize("act", ["close", "role"])
def test_an_account_that_is_changed_at_the_owner_is_out_here_soon(
    managers: Managers, act: str
) -> None:
    """Catches: a session that outlives its account, on a page and on its live stream."""
    with managers.visitor("south") as cora, managers.visitor("north") as admin:
        cora.sign_in("Cora")
        admin.sign_in(ADMIN)
        heard = cora.parts()
        assert shown_cents(next(heard)["floor"])
        found = re.search(r'name="form_key" value="([^"]+)"', admin.get("/people").text)
        assert found is not None
        form = {"form_key": found[1], "name": "Cora", "password": PASSWORD}
        wanted = {"act": "close"} if act == "close" else {"act": "role", "role": "auditor"}
        changed = admin.post("/people", **form, **wanted)
        assert changed.status_code in (200, 303), changed.text
        since_s = time.monotonic()
        assert cora.get("/managers").status_code == 303
        list(heard)  # ends
        took_s = time.monotonic() - since_s
        print(f"the stream ended {took_s:.1f} s after the account was changed")
        assert took_s < WAIT_MAX_S


def test_one_person_moves_the_floor_from_here_and_stays_signed_in(managers: Managers) -> None:
    """Catches: a move past the owner's books, and a session that a takeover throws away."""
    with managers.visitor("south") as olga:
        olga.sign_in("Olga")
        assert 'value=":south"' in next(olga.parts())["moves"]
        wrong = olga.send("/managers", move=":south", password="not the password")
        assert (wrong.status_code, "password is wrong" in wrong.text) == (409, True)
        nowhere = olga.send("/managers", move=":west", password=PASSWORD)
        assert "No manager west stands by" in nowhere.text
        assert managers.owner() == "north"
        asked = olga.send("/managers", move=":south", password=PASSWORD)
        assert asked.status_code == 303, asked.text
        soon(lambda: managers.server() == "south")
        assert "Olga asks to move the floor to south, on the pages of south." in managers.acts()
        page = olga.get("/managers")
        assert (page.status_code, 'data-owner="south"' in page.text) == (200, True)
        assert "stands by. This page" not in page.text
        assert "stands by" not in next(olga.parts())["standing"]
        assert olga.get("/wins").status_code == 200  # it is the owner's now
    # And who was signed in at north sees the floor there, now that it stands by.
    with managers.visitor("north") as stranger:
        soon(lambda: is_page_of(stranger, "north stands by", "/"))
        assert shown_cents(stranger.get("/").text) == []


def test_who_is_signed_in_at_an_owner_stays_so_when_it_stands_by(managers: Managers) -> None:
    with managers.visitor("north") as olga:
        assert olga.sign_in("Olga").status_code == 303
        olga.send("/managers", move=":south", password=PASSWORD)
        soon(lambda: managers.server() == "south")
        soon(lambda: is_page_of(olga, "north stands by"))
        assert shown_cents(olga.get("/managers").text)
        back = olga.send("/managers", move=":north", password=PASSWORD)
        assert back.status_code == 303, back.text
        soon(lambda: managers.server() == "north")


def is_page_of(visitor: Visitor, words: str, path: str = "/managers") -> bool:
    """A manager whose turn ends cuts its lines, as it does to a browser, which asks again."""
    try:
        page = visitor.get(path)
    except httpx.TransportError:
        return False
    return page.status_code == 200 and words in page.text


def is_let_in(visitor: Visitor) -> bool:
    try:
        return visitor.sign_in("Olga").status_code == 303
    except httpx.TransportError:
        return False


def test_without_an_owner_that_answers_nobody_is_let_in(managers: Managers) -> None:
    """Catches: a stand-by that lets somebody in by itself, or waits for ever."""
    managers.processes["north"].send_signal(signal.SIGSTOP)
    with managers.visitor("south") as olga:
        answer = olga.sign_in("Olga")
        assert answer.status_code == 403
        told = re.search(r'role="alert">([^<]+)<', answer.text)
        assert told is not None
        print(told[1])
        assert "again in a few seconds" in told[1]
        assert olga.get("/managers").status_code == 303
        # It takes over, and then it is the owner itself that lets people in.
        soon(lambda: managers.server() == "south")
        soon(lambda: is_let_in(olga))
        assert olga.get("/managers").status_code == 200
    managers.processes["north"].send_signal(signal.SIGCONT)


def test_without_the_database_a_signed_in_page_shows_no_amounts(
    managers: Managers, server: PostgresServer
) -> None:
    """Catches: amounts that stay on a screen as if they were live."""
    with managers.visitor("south") as cora:
        cora.sign_in("Cora")
        heard = cora.parts()
        assert shown_cents(next(heard)["floor"])
        server.stop()
        try:
            troubled = [parts for parts in heard if parts["trouble"]]
            assert [shown_cents(str(parts)) for parts in troubled] == [[]] * len(troubled)
            answer = cora.get("/managers")
            assert (answer.status_code, shown_cents(answer.text)) == (503, [])
            assert cora.sign_in("Cora").status_code == 403
        finally:
            server.start()
        soon(lambda: is_page_of(cora, "data-owner="))
