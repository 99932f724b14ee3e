"""The operators' pages over HTTP."""

from __future__ import annotations

import json
import re

import pytest
from starlette.requests import Request

from manager.web.app import build
from sim.time.loop import run_virtual
from tests.kit.manager_views import (
    FakeManager,
    cause_row,
    manager_view,
    table_row,
    win_line,
    win_row,
)
from tests.kit.page_client import Browser
from tests.kit.people import access_to, add_people, open_pages, small_store

NUMBERS = "/advice/numbers?paytable=four-card/progressive/Pays-1"


def test_meters_tables_and_wins_are_on_the_page(browser: Browser) -> None:
    page = browser.get("/").text
    assert 'data-meter="main" data-amount-cents="1000475">$10,004.75<' in page
    assert 'data-table="four-card-touch"' in page
    assert 'href="/wins/1" title="Slips of win 1"' in page
    assert "$8,000.75" in page
    assert "No alarm." in page


def test_an_empty_house_is_said_in_words(manager: FakeManager) -> None:
    manager.change(**manager_view(meters=[], tables=[], wins=[], alarms=[]))
    page = Browser(open_pages(manager)).get("/").text
    for sentence in ("No jackpot is set up yet.", "No table has called yet.", "No win yet."):
        assert sentence in page


def test_a_table_that_is_cut_off_is_marked_stale(manager: FakeManager) -> None:
    manager.change(tables=[table_row("t1", "One", "down", "locked", locked=True)])
    page = Browser(open_pages(manager)).get("/").text
    assert "Stale" in page
    assert "Locked out" in page


def test_a_win_has_its_own_page(browser: Browser) -> None:
    page = browser.get("/wins/1").text
    assert "Jackpot win 1" in page
    assert 'data-amount-cents="800075">$8,000.75<' in page
    assert "Four Aces, seat 5" in page


def test_a_win_with_its_pay_order_and_envy_prints_both(manager: FakeManager) -> None:
    line = win_line(claimed_on_cents=800_075, meter_before_cents=800_125)
    envy = {"seat": 2, "sensor": "2A", "amount_cents": 10000}
    manager.change(wins=[win_row(1, lines=[line], envy=[envy], joined=[[3, 5]])])
    page = Browser(open_pages(manager)).get("/wins/1").text
    assert "Paid in this order" in page
    assert "meter Progressive (main)" in page
    assert "<dt>Meter before</dt><dd>$8,001.25</dd>" in page
    assert "<dt>Meter when claimed</dt><dd>$8,000.75</dd>" in page
    assert "Seat 2" in page
    assert "Seats 3 and 5 are one player" in page


PAGES = (
    *("/", "/tables/four-card-touch", "/meters/main", "/wins", "/wins/1", "/requests", "/alarms"),
    *("/corrections", "/corrections/adopt-journal", "/days", "/bank", "/setup", "/units", "/spots"),
    *("/setup/table?A=four-card/progressive/Pays-1", "/advice", "/training"),
)


@pytest.mark.parametrize("policy", ["sequential", "equal_share", "each_full"])
def test_the_award_policy_and_the_house_s_choices_are_printed(
    manager: FakeManager, policy: str
) -> None:
    row = win_row(1, lines=[win_line(policy=policy)], frozen=True)
    manager.change(wins=[row | {"folded_hands_qualify": False}])
    page = Browser(open_pages(manager)).get("/wins/1").text
    assert f"<dt>Award policy</dt><dd>{policy.replace('_', ' ')}: " in page
    assert "when it was claimed" in page
    assert "do not qualify" in page
    assert "EXECUTIVE-2 (Executive)" in page


def test_a_reversed_win_says_so_before_anything_else(manager: FakeManager) -> None:
    manager.change(wins=[win_row(1, reversed_by=44, replaced_by=2), win_row(2, replaces=1)])
    browser = Browser(open_pages(manager))
    page = browser.get("/wins/1").text
    assert "NOT TO BE PAID. Reversed by entry 44." in page
    assert '<a href="/wins/2">Win 2</a>' in page
    assert "Recorded in place of" in browser.get("/wins/2").text
    assert "Reversed" in browser.get("/").text


def test_a_meter_tells_its_limit_its_stop_and_what_the_next_reseed_brings(
    manager: FakeManager,
) -> None:
    (meter,) = manager.view()["meters"]
    pending = {"seed_cents": 500_000, "contribution_ppm": 225_000, "award_policy": "each_full"}
    more = {"limit_cents": 9_000_000, "stopped": "The bank is short.", "pending": pending}
    manager.change(meters=[meter | more | {"type": "house"}])
    page = Browser(open_pages(manager)).get("/").text
    assert "$90,000.00" in page
    assert "The bank is short." in page
    assert "House jackpot" in page
    assert "seed $5,000.00, contribution 22.5 %, award policy each full" in page


def test_an_unknown_win_is_said_to_be_unknown(browser: Browser) -> None:
    answer = browser.get("/wins/999")
    assert (answer.status_code, answer.text) == (404, "There is no win 999.")
    assert browser.get("/wins/x").status_code == 404


def test_the_explanation_shows_every_entry_to_the_micro_cent(browser: Browser) -> None:
    page = browser.get("/wins/1/explain/1").text
    assert 'data-agrees="yes"' in page
    assert "$800,000.25000000" in page
    assert 'data-kind="WAGER"' in page
    assert "100 % of it, divided by 2, in whole cents" in page
    assert "equal share" in page
    assert '<a href="/wins/1/explain/2">Next page</a>' in page
    assert browser.get("/wins/999/explain").status_code == 404


def test_an_explanation_adds_wagers_up_until_every_entry_is_asked_for(browser: Browser) -> None:
    page = browser.get("/wins/1/explain").text
    assert "1 wager at four-card-touch" in page
    assert 'data-kind="WAGER"' not in page
    assert '<a href="/wins/1/explain/1">Every entry</a>' in page
    answer = browser.get("/wins/1/explain/3")
    assert (answer.status_code, answer.text) == (404, "The entries of win 1 have no page 3.")
    assert browser.get("/wins/1/explain/0").status_code == 404


@pytest.mark.parametrize(
    "path", ["/", "/wins/1", "/wins/1/explain", "/wins/999", "/days", "/bank", "/static/live.js"]
)
def test_every_answer_carries_the_policy(browser: Browser, path: str) -> None:
    policy = browser.get(path).headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'self'" in policy


@pytest.mark.parametrize("path", [*PAGES, NUMBERS])
def test_pages_name_only_files_of_their_own(browser: Browser, path: str) -> None:
    page = browser.get(path).text
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page)
    for name in re.findall(r'(?:src|href)="([^"]*)"', page):
        if name.startswith("#"):
            continue
        assert name.startswith("/")
        assert browser.get(name).status_code == 200, name


def test_names_cannot_become_markup(manager: FakeManager) -> None:
    manager.change(causes=[cause_row(table="<b>", text="<img src=x>")])
    page = Browser(open_pages(manager)).get("/").text
    assert "<img src=x>" not in page
    assert "&lt;img src=x&gt;" in page


def test_the_stream_carries_the_rendered_parts(manager: FakeManager) -> None:
    access = access_to(small_store())
    bob = add_people(access.people, Bob="auditor")["Bob"]
    events = next(route for route in build(manager, access).routes if route.path == "/events")
    token = access.sessions.begin(bob)
    cookie = f"{access.cookie}={token}".encode()
    scope = {"type": "http", "method": "GET", "path": "/events", "query_string": b""}
    request = Request(scope | {"headers": [(b"cookie", cookie), (b"host", b"192.0.2.1")]})

    async def first_event() -> dict[str, str]:
        response = await events.endpoint(request)
        frames = response._frames
        await anext(frames)
        frame = await anext(frames)
        await frames.aclose()
        parts: dict[str, str] = json.loads(frame.decode().splitlines()[1].removeprefix("data: "))
        return parts

    parts = run_virtual(first_event())
    assert sorted(parts) == ["alarms", "meters", "tables", "wins"]
    assert 'data-meter="main"' in parts["meters"]
    access.sessions.end(token)
    assert access.is_still_on(request) is False  # and with it the stream is over
