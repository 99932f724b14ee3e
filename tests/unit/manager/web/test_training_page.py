"""The training page deals, asks, judges what was typed, and touches nothing."""

from __future__ import annotations

import re

import pytest

from tests.kit.manager_views import FakeManager
from tests.kit.page_client import Browser
from tests.kit.people import open_pages


@pytest.fixture
def browser() -> Browser:
    return Browser(open_pages(FakeManager()))


def test_a_round_is_dealt_and_its_bets_are_asked(browser: Browser) -> None:
    page = browser.get("/training?game=four-card&seed=3&seats=1").text
    assert "Dealer: " in page
    assert len(re.findall(r'name="answer-', page)) >= 3
    assert "right</strong>" not in page, "nothing was answered yet"


def test_right_answers_are_called_right_and_wrong_ones_are_put_right(browser: Browser) -> None:
    address = "/training?game=four-card&seed=3&seats=1&check=yes"
    names = re.findall(r'name="(answer-[^"]+)"', browser.get(address).text)
    answers = re.findall(r"<b>no</b> ([0-9.]+|push)", browser.get(address).text)
    assert len(answers) == len(names)
    typed = "&".join(f"{name}={answer}" for name, answer in zip(names, answers, strict=True))
    assert f"{len(names)} of {len(names)} right" in browser.get(f"{address}&{typed}").text
    assert f"0 of {len(names)} right" in browser.get(address).text


def test_envy_cover_all_and_chosen_paytables_are_there(browser: Browser) -> None:
    page = browser.get("/training?game=face-up-pai-gow&seats=5").text
    assert "envy, with a lammer" in page
    assert "cover-all 5.00" in browser.get("/training?game=caribbean-stud").text
    chosen = browser.get("/training?game=four-card&paytable-aces-up=four-card/aces-up/FCP-02").text
    assert "Posted: Four Card Poker Aces Up FCP-02" in chosen


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("limit=5.00", "at least 50 times the highest wager"),
        ("limit=much", "The limit"),
        ("paytable-aces-up=four-card/aces-up/none", "No pack has the paytable"),
    ],
)
def test_what_cannot_be_is_said_on_the_page(browser: Browser, query: str, sentence: str) -> None:
    answer = browser.get(f"/training?game=four-card&{query}")
    assert answer.status_code == 200
    assert sentence in answer.text


def test_a_limit_is_posted_and_named_where_it_cuts(browser: Browser) -> None:
    page = browser.get("/training?game=four-card&limit=2000.00&per=player").text
    assert "aggregate limit 2000.00 in a round for each player, not on envy" in page


def test_no_other_game_and_no_flood(browser: Browser) -> None:
    assert browser.get("/training?game=roulette").status_code == 404
    assert browser.get("/training?" + "&".join(f"a{n}=1" for n in range(99))).status_code == 400
