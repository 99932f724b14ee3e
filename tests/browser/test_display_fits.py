"""The players' display shows everything it has to show, on every monitor a house may hang up.

The views are those of the shipped tables; one to six meters are made of them. Mutation this
catches: a picture that is not scaled (`fitBoard` called by nobody).
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from controller.web import app
from controller.words import HouseWords
from tests.kit.chromium import first_view_came
from tests.kit.served_pages import Served
from tests.kit.shipped_views import LARGEST_CENTS, TABLES, shipped_view
from tests.kit.table_views import FakeTable

SIZES = [(1920, 1080), (1280, 720), (1080, 1920)]
NOTICE = "The jackpot is limited to $250,000.00. What is over it goes to the next jackpot."
LABELS = ["Mega", "Major", "Minor", "Mini", "Daily", "Hourly"]

# Every element with words of its own, and every amount, whose box leaves the screen.
CUT_OFF = """root => [...document.querySelectorAll(root + ' *')].filter(element => {
  const words = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!(words || element.classList.contains('strip')) || element.closest('.spoken')) return false;
  const box = element.getBoundingClientRect();
  if (!box.width) return false;
  const right = innerWidth + 1, bottom = innerHeight + 1;
  return box.left < -1 || box.top < -1 || box.right > right || box.bottom > bottom;
}).map(element => element.textContent.trim().slice(0, 40))"""


def with_meters(count: int) -> dict[str, Any]:
    view = deepcopy(shipped_view("crazy-4-multi-link"))
    first = view["meters"][0]
    view["meters"] = [
        {**first, "id": f"meter-{label}", "label": label, "shown_cents": LARGEST_CENTS}
        for label in LABELS[:count]
    ]
    return {**view, "notices": [NOTICE]}


def display(chromium: Browser, served: Served, size: tuple[int, int]) -> Page:
    page = chromium.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(served.url)
    first_view_came(page)
    return page


def settled(page: Page) -> None:
    """Two frames after the newest change the picture has been fitted."""
    page.evaluate("() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")


@pytest.mark.browser
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("language", ["en-US", "es-US"])
def test_nothing_of_a_shipped_table_is_cut_off(chromium: Browser, name: str, language: str) -> None:
    table = FakeTable({**shipped_view(name), "notices": [NOTICE]})
    with Served(app.build_display(table, words=HouseWords(language))) as served:
        page = display(chromium, served, SIZES[0])
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            settled(page)
            assert page.evaluate(CUT_OFF, "#board") == [], f"at {width} x {height}"
        page.close()


@pytest.mark.browser
def test_a_houses_look_is_painted_and_all_its_notices_fit(chromium: Browser) -> None:
    """Catches: colours that the page's own policy forbids to set, and a notice off the screen."""
    theme = {"accent": "#9fe0ff", "background": "#101c3a", "logo": "M10 90L50 10L90 90Z"}
    longest = ["An aggregate limit applies. ".ljust(160, "x")] * 4
    view = {**shipped_view("face-up-pai-gow-dual"), "notices": longest, "theme": theme}
    with Served(app.build_display(FakeTable(view))) as served:
        page = display(chromium, served, SIZES[0])
        expect(page.locator(".pays").first).to_have_css("color", "rgb(159, 224, 255)")
        expect(page.locator("#logo")).to_have_css("fill", "rgb(159, 224, 255)")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            settled(page)
            assert page.evaluate(CUT_OFF, "#board") == [], f"at {width} x {height}"
        page.close()


@pytest.mark.browser
@pytest.mark.parametrize("count", range(1, 7))
def test_one_to_six_of_the_largest_meters_fit(chromium: Browser, count: int) -> None:
    with Served(app.build_display(FakeTable(with_meters(count)))) as served:
        page = display(chromium, served, SIZES[0])
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            settled(page)
            assert page.evaluate(CUT_OFF, "#board") == [], f"at {width} x {height}"
        page.close()


def win(amounts_cents: list[int], source: str, envy_count: int = 0) -> dict[str, Any]:
    lines = [
        {
            "order": order,
            "seat": 8 - order,
            "sensor": f"{8 - order}A",
            "hand": "four-aces",
            "label": "Five Card Straight Flush",
            "amount_cents": cents,
            "source": source,
        }
        for order, cents in enumerate(amounts_cents, start=1)
    ]
    envy = [
        {"seat": seat, "sensor": f"{seat}A", "amount_cents": 100_000}
        for seat in range(1, envy_count + 1)
    ]
    return {"win": 1, "lines": lines, "envy": envy}


@pytest.mark.browser
@pytest.mark.parametrize("size", SIZES)
def test_a_celebration_names_every_winner_and_every_envy(
    chromium: Browser, size: tuple[int, int]
) -> None:
    table = FakeTable(shipped_view("crazy-4-multi-link"))
    with Served(app.build_display(table)) as served:
        page = display(chromium, served, size)
        served.do(
            table.change,
            state="locked",
            wins=[win([LARGEST_CENTS, 5_000_00, 4_000_00, 3_000_00], "meter", 7)],
        )
        expect(page.locator("body")).to_have_attribute("data-show", "win")
        settled(page)
        assert page.locator("#win-more li").count() == 3 + 7
        assert page.evaluate(CUT_OFF, "#win-picture") == []
        page.close()


@pytest.mark.browser
def test_a_win_on_a_dual_table_names_the_sensor(chromium: Browser) -> None:
    table = FakeTable(shipped_view("face-up-pai-gow-dual"))
    with Served(app.build_display(table)) as served:
        page = display(chromium, served, SIZES[1])
        served.do(table.change, state="locked", wins=[win([9_00], "tray", 1)])
        expect(page.locator("#ribbon")).to_contain_text("Seat 7A won $9.00")
        page.close()


@pytest.mark.browser
def test_what_the_tray_paid_never_hides_a_meter(chromium: Browser) -> None:
    table = FakeTable(shipped_view("four-card-touch"))
    with Served(app.build_display(table)) as served:
        page = display(chromium, served, SIZES[1])
        served.do(table.change, state="locked", wins=[win([9_00], "tray")])
        expect(page.locator("#ribbon")).to_contain_text("Seat 7 won $9.00")
        expect(page.locator("body")).to_have_attribute("data-show", "meter")
        settled(page)
        assert page.evaluate(CUT_OFF, "#board") == []
        page.close()


BESIDE = """() => {
  const [meters, table] = ['.meters', '.paytables'].map(
    name => document.querySelector(`#board ${name}`).getBoundingClientRect());
  const ribbon = document.querySelector('#ribbon').getBoundingClientRect();
  return meters.right <= table.left && ribbon.top >= Math.max(meters.bottom, table.bottom) - 1;
}"""


@pytest.mark.browser
def test_news_never_parts_the_meters_from_their_paytable(chromium: Browser) -> None:
    """Once a $9 pay put the paytable below three meters, and all of it became half as large."""
    table = FakeTable(
        {**deepcopy(shipped_view("crazy-4-multi-link")), "wins": [win([900], "tray")]}
    )
    with Served(app.build_display(table)) as served:
        page = display(chromium, served, (1920, 1080))
        expect(page.locator("#ribbon")).to_be_visible()
        settled(page)
        assert page.evaluate(BESIDE)
        served.do(table.change, wins=[], voided=[2], void_reason="Misdeal")
        expect(page.locator("#ribbon")).to_contain_text("void")
        settled(page)
        assert page.evaluate(BESIDE)
        assert page.evaluate(CUT_OFF, "#board") == []
        page.close()
