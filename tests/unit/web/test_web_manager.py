"""The operators' pages over HTTP."""

from __future__ import annotations

import json
import re

import pytest

from manager.web import build
from sim.loop import run_virtual
from tests.unit.web.web_client import Browser
from tests.unit.web.web_fakes import FakeManager, manager_view, table_row, win_row


@pytest.fixture
def manager() -> FakeManager:
    return FakeManager()


@pytest.fixture
def browser(manager: FakeManager) -> Browser:
    return Browser(build(manager))


def test_meters_tables_and_wins_are_on_the_page(browser: Browser) -> None:
    page = browser.get("/").text
    assert 'data-meter="main" data-amount-cents="1000475">$10,004.75<' in page
    assert 'data-table="four-card-touch"' in page
    assert '<a href="/wins/1">1</a>' in page
    assert "$8,000.75" in page
    assert "No alarm." in page


def test_an_empty_house_is_said_in_words(manager: FakeManager) -> None:
    manager.change(**manager_view(meters=[], tables=[], wins=[], alarms=[]))
    page = Browser(build(manager)).get("/").text
    for sentence in ("No jackpot is set up yet.", "No table has called yet.", "No win yet."):
        assert sentence in page


def test_a_table_that_is_cut_off_is_marked_stale(manager: FakeManager) -> None:
    manager.change(tables=[table_row("t1", "One", "down", "locked", locked=True)])
    page = Browser(build(manager)).get("/").text
    assert "Stale" in page
    assert "Locked out" in page


def test_a_win_has_its_own_page(browser: Browser) -> None:
    page = browser.get("/wins/1").text
    assert "Jackpot win 1" in page
    assert 'data-amount-cents="800075">$8,000.75<' in page
    assert "Four aces, seat 5" in page


def test_a_win_with_its_pay_order_and_envy_prints_both(manager: FakeManager) -> None:
    line = {"seat": 5, "hand": "four-aces", "amount_cents": 800075}
    envy = {"seat": 2, "amount_cents": 10000}
    manager.change(wins=[win_row(1, lines=[line], envy=[envy])])
    page = Browser(build(manager)).get("/wins/1").text
    assert "Paid in this order" in page
    assert "Seat 2" in page


def test_an_unknown_win_is_said_to_be_unknown(browser: Browser) -> None:
    answer = browser.get("/wins/999")
    assert (answer.status_code, answer.text) == (404, "There is no win 999.")
    assert browser.get("/wins/x").status_code == 404


def test_the_explanation_shows_every_entry_to_the_micro_cent(browser: Browser) -> None:
    page = browser.get("/wins/1/explain").text
    assert 'data-agrees="yes"' in page
    assert "$800,000.25000000" in page
    assert 'data-kind="WAGER"' in page
    assert "100 % of it in whole cents" in page
    assert browser.get("/wins/999/explain").status_code == 404


@pytest.mark.parametrize(
    "path", ["/", "/wins/1", "/wins/1/explain", "/wins/999", "/static/live.js"]
)
def test_every_answer_carries_the_policy(browser: Browser, path: str) -> None:
    policy = browser.get(path).headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'self'" in policy


@pytest.mark.parametrize("path", ["/", "/wins/1"])
def test_pages_name_only_files_of_their_own(browser: Browser, path: str) -> None:
    page = browser.get(path).text
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page)
    for name in re.findall(r'(?:src|href)="([^"]*)"', page):
        assert name.startswith("/")
        assert browser.get(name).status_code == 200, name


def test_names_cannot_become_markup(manager: FakeManager) -> None:
    manager.change(alarms=[{"time_ms": 0, "table": "<b>", "text": "<img src=x>"}])
    page = Browser(build(manager)).get("/").text
    assert "<img src=x>" not in page
    assert "&lt;img src=x&gt;" in page


def test_the_stream_carries_the_rendered_parts(manager: FakeManager) -> None:
    events = next(route for route in build(manager).routes if route.path == "/events")

    async def first_event() -> dict[str, str]:
        response = await events.endpoint(None)
        frames = response._frames
        await anext(frames)
        frame = await anext(frames)
        await frames.aclose()
        parts: dict[str, str] = json.loads(frame.decode().splitlines()[1].removeprefix("data: "))
        return parts

    parts = run_virtual(first_event())
    assert sorted(parts) == ["alarms", "meters", "tables", "wins"]
    assert 'data-meter="main"' in parts["meters"]
