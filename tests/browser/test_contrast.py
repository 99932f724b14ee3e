"""Every text of every page can be read: WCAG AA contrast, in all states; buttons fit a finger.

Mutations this catches: `--muted` one step darker, a lit button in the colour of an unlit one, a
button of 2.9rem on a small screen.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import sim.runs.bench.web
from controller.web import app
from controller.words import HouseWords
from tests.kit.bench_views import FakeBench, bench_view
from tests.kit.contrast import TOO_FAINT, TOO_SMALL
from tests.kit.manager_views import FakeManager
from tests.kit.people import open_pages
from tests.kit.served_pages import Served
from tests.kit.table_views import (
    FakeTable,
    claim,
    envy,
    guided,
    line,
    pay,
    pay_line,
    pay_row,
    seats,
    table_view,
)

pytestmark = pytest.mark.browser
LIGHTS = ["off", "detected", "accepted", "refused", "late", "winner", "fault"]
LINES = [line(1, 7, "four-of-a-kind", 80007), line(2, 5, "four-aces", 720068)]
WIN = {"win": 1, "lines": [LINES[1]], "envy": [envy(2, 10000)]}
STALE = {"id": "main", "label": "Progressive", "shown_cents": 1000025, "age_ms": 9000}
FAULTS = [{"code": "sensor", "part": "1A", "text": "The bus is stuck."}]
GONE = pay_line("award", "3A", "Four of a Kind", 80_000, reversed=True)
PAY = pay([pay_row(5, [pay_line("award", "5A", "Four Aces", 800_075)]), pay_row(3, [GONE], 80_000)])
THEME = {"accent": "#9fe0ff", "background": "#101c3a", "logo": ""}

PANEL: dict[str, dict[str, Any]] = {
    "open": {"guide": guided("Press START GAME.", button="START")},
    "locked": {"state": "locked", "seats": seats(LIGHTS), "can_reopen": True},
    "refused": {"guide": guided("No bet is on the felt.", "refused")},
    "fault": {"state": "fault", "guide": guided("Stuck.", "fault"), "faults": FAULTS},
    "offline": {"state": "offline", "link": "down", "meters": [STALE]},
    "preview": {"state": "claim", "claim": claim("preview", LINES, [])},
    "authorise": {"state": "confirm", "claim": claim("authorise", LINES, [envy(2, 12500)])},
    "recording": {"state": "confirm", "claim": claim("recording", LINES, [])},
    "pay": {"state": "locked", "pay": PAY},
    "not enrolled": {"state": "fault", "notice": "Enrol this unit.", "games": [], "meters": []},
}
DISPLAY: dict[str, dict[str, Any]] = {
    "open": {"notices": ["The jackpot is limited."]},
    "win": {"state": "locked", "wins": [WIN]},
    "closed": {"state": "offline", "link": "down", "meters": [STALE]},
    "house colours": {"theme": THEME, "notices": ["The jackpot is limited."]},
}


def checked(page: Page, what: str) -> list[str]:
    return [f"{what}: {each}" for each in page.evaluate(TOO_FAINT)]


def test_every_state_of_the_panel(chromium: Browser) -> None:
    faint = []
    table = FakeTable()
    with Served(app.build(table)) as served:
        page = chromium.new_page(viewport={"width": 1024, "height": 600}, reduced_motion="reduce")
        for number, (what, fields) in enumerate(PANEL.items(), start=1):
            served.do(table.change, **table_view(**fields, round=number))
            page.goto(served.url)
            expect(page.locator("#round")).to_have_text(str(number))
            expect(page.locator(".action[data-next]")).not_to_have_count(0)
            faint += checked(page, what)
            faint += [f"{what}: {each}" for each in page.evaluate(TOO_SMALL)]
        page.close()
    assert faint == []


def test_every_state_of_the_display(chromium: Browser) -> None:
    faint = []
    for what, fields in DISPLAY.items():
        with Served(app.build_display(FakeTable(table_view(**fields)))) as served:
            page = chromium.new_page(
                viewport={"width": 1280, "height": 720}, reduced_motion="reduce"
            )
            page.goto(served.url)
            expect(page.locator("#board .strip").first).to_be_attached()
            page.wait_for_timeout(400)
            faint += checked(page, what)
            page.close()
    assert faint == []


@pytest.mark.parametrize("path", ["/", "/wins/1", "/wins/1/explain", "/bank", "/days", "/advice"])
def test_the_managers_pages(chromium: Browser, path: str) -> None:
    with Served(open_pages(FakeManager())) as served:
        page = chromium.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        answer = page.goto(served.url + path)
        assert answer is not None
        assert answer.ok
        assert checked(page, path) == []
        page.close()


def test_the_bench(chromium: Browser) -> None:
    with Served(sim.runs.bench.web.build(FakeBench(bench_view()))) as served:
        page = chromium.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        page.goto(served.url)
        assert checked(page, "bench") == []
        page.close()


ZOOMED = "Object.defineProperty(window, 'outerWidth', { get: () => 1280 })"
IN_SIGHT = """names => names.flatMap(name => [...document.querySelectorAll(name)])
  .filter(part => part.checkVisibility())
  .map(part => [part.textContent.trim(), part.getBoundingClientRect()])
  .filter(([_, box]) => box.left < 0 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
  .map(([text]) => text)"""
# What is said and pressed is in sight at once; the rest is found by scrolling down, never sideways.
SAID_AND_PRESSED = ["#message", ".action"]


@pytest.mark.parametrize("zoom", [1.5, 2.0])
def test_text_follows_the_browsers_zoom_and_nothing_is_lost(chromium: Browser, zoom: float) -> None:
    """A zoomed browser has fewer of its own pixels for the same window.

    Mutation this catches: a body that clips, so that message and buttons scroll away with the rest.
    """
    table = FakeTable(table_view(state="locked", pay=PAY))
    size = {"width": round(1280 / zoom), "height": round(800 / zoom)}
    with Served(app.build(table, words=HouseWords("es-US"))) as served:
        page = chromium.new_page(viewport=size, device_scale_factor=zoom)  # type: ignore[arg-type]
        page.add_init_script(ZOOMED)
        page.goto(served.url)
        expect(page.locator("#pay-list")).to_be_visible()
        assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == (
            pytest.approx(16, abs=0.1)
        ), "as many of its own pixels as without zoom, so larger on the screen"
        for number, fields in enumerate(({}, *PANEL.values()), start=1):
            view = table_view(state="locked", pay=PAY) | fields | {"round": number}
            served.do(table.change, **view)
            if "notice" in fields:
                continue  # drawn anew, and pressed by nobody
            expect(page.locator("#round")).to_have_text(str(number))
            assert page.evaluate(IN_SIGHT, SAID_AND_PRESSED) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        page.close()
