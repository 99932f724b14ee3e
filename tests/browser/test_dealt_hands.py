"""The shuffler's news on the pages, in real Chromium: cards, checks, the Cover All column, whole.

Pictures go to build/pictures, to be looked at. Mutations these catch: a hand of seven cards that is
cut, a difference that looks like an agreement, a column that hides a meter.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from controller.web import app
from manager.games.rules.cover_all import paytable_for
from tests.kit.cut_off import CUT_OFF
from tests.kit.served_pages import Served
from tests.kit.table_views import FakeTable, claim, pay_line, pay_row, table_view

pytestmark = pytest.mark.browser
PICTURES = Path(__file__).parents[2] / "build/pictures"
PANELS = [(1024, 600), (1280, 800)]
DISPLAYS = [(1920, 1080), (1280, 720), (1080, 1920)]
DECK = [f"{rank}{suit}" for suit in "cdhs" for rank in "TJQKA98765432"]

AGREES = {"sensor": "5A", "seat": 5, "agrees": True, "sentence": "Seat 5: the cards agree, Flush."}
DIFFERS = {
    "sensor": "2A",
    "seat": 2,
    "agrees": False,
    "sentence": "Seat 2: 7 Card Straight Flush was entered, the cards show Four of a Kind.",
}
# Without checks and column the cards have the whole page, and are large.
NOTHING_BESIDE: dict[str, Any] = {"checks": [], "cover_all": []}


def deal(hands: int, cards: int, **others: Any) -> dict[str, Any]:
    seats = [*range(1, hands), 0]
    dealt = [
        {"seat": seat, "cards": DECK[place * cards : (place + 1) * cards]}
        for place, seat in enumerate(seats)
    ]
    dealt[0]["cards"] = [*dealt[0]["cards"][:-1], "Jk"]
    column = [{"label": hand.label, "pays": str(hand.pay)} for hand in paytable_for(8).hands]
    return {
        "deal": 1, "hand_count": hands, "hands": dealt, "checks": [AGREES, DIFFERS],
        "cover_all": column, "trouble": "",
    } | others  # fmt: skip


def opened(chromium: Browser, served: Served, path: str, size: tuple[int, int]) -> Page:
    page = chromium.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(served.url + path)
    return page


def keep(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(PICTURES / f"{name}.png"))


@pytest.mark.parametrize("size", PANELS, ids=str)
@pytest.mark.parametrize(
    ("hands", "cards", "others"),
    [(3, 5, {}), (7, 7, {}), (8, 5, {}), (7, 4, {}), (4, 7, NOTHING_BESIDE)],
)
def test_every_dealt_card_is_seen_whole(
    chromium: Browser, size: tuple[int, int], hands: int, cards: int, others: dict[str, Any]
) -> None:
    table = FakeTable(table_view() | {"has_shuffler": True, "deal": deal(hands, cards, **others)})
    with Served(app.build(table)) as served:
        page = opened(chromium, served, "/cards", size)
        expect(page.locator(".dealt")).to_have_count(hands)
        expect(page.locator(".playing-card")).to_have_count(hands * cards)
        assert page.evaluate(CUT_OFF, "body") == []
        boxes = page.locator(".dealt").evaluate_all(
            "all => all.map(e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth])"
        )
        assert all(over <= 0 for box in boxes for over in box)
        keep(page, f"cards-{hands}x{cards}-{size[0]}")
        page.close()


@pytest.mark.parametrize("size", PANELS, ids=str)
def test_the_claims_sheet_says_agrees_or_shows_the_difference(
    chromium: Browser, size: tuple[int, int]
) -> None:
    rows = [pay_row(seat, [pay_line("award", f"{seat}A", "Flush", 4000)]) for seat in (5, 2)]
    lines = [
        {"order": 1, "seat": 5, "sensor": "5A", "hand": "flush", "label": "Flush",
         "amount_cents": 4000, "source": "tray"}
    ]  # fmt: skip
    view = table_view() | {"has_shuffler": True, "state": "confirm", "deal": deal(4, 5)}
    table = FakeTable(view | {"claim": claim("authorise", lines, []) | {"rows": rows}})
    with Served(app.build(table)) as served:
        page = opened(chromium, served, "/", size)
        checks = page.locator("#sheet .check")
        expect(checks).to_have_count(2)
        expect(checks.nth(0)).to_contain_text("AGREES")
        expect(checks.nth(1)).to_contain_text("DIFFERS")
        expect(checks.nth(1)).to_contain_text("the cards show Four of a Kind")
        assert page.evaluate(CUT_OFF, "#sheet, #cards") == []
        keep(page, f"panel-checks-{size[0]}")
        served.do(table.change, claim=None, state="locked")
        page.locator("#cover-all summary").click()
        expect(page.locator("#cover-rows li").first).to_be_visible()
        for row in page.locator("#cover-rows li").all():
            box = row.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= size[0]
            assert box["y"] + box["height"] <= size[1]
        keep(page, f"panel-cover-all-{size[0]}")
        page.locator("#cards").click()
        expect(page.locator(".dealt")).to_have_count(4)
        page.locator(".back").click()
        expect(page.locator("#state")).to_be_visible()
        page.close()


@pytest.mark.parametrize("size", DISPLAYS, ids=str)
def test_the_display_shows_the_column_and_lets_it_go(
    chromium: Browser, size: tuple[int, int]
) -> None:
    table = FakeTable(table_view() | {"has_shuffler": True, "deal": deal(8, 5)})
    with Served(app.build_display(table)) as served:
        page = opened(chromium, served, "/", size)
        expect(page.locator("#cover-rows li")).to_have_count(len(paytable_for(8).hands))
        page.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        assert page.evaluate(CUT_OFF, "h1, .paytables, .cover-all, .notice") == []
        keep(page, f"display-cover-all-{size[0]}")
        served.do(table.change, deal=None)
        expect(page.locator("#cover-all")).to_be_hidden()
        page.close()


def test_without_news_the_page_says_so(chromium: Browser) -> None:
    with Served(app.build(FakeTable(table_view() | {"has_shuffler": True}))) as served:
        page = opened(chromium, served, "/cards", PANELS[0])
        expect(page.locator("#advice")).to_have_text("The shuffler has told nothing of this game.")
        page.close()
