"""No cent is hidden: what is to be paid lies on the dealer's panel whole, on one page or several.

Every shipped table, one to seven seats, one to four winners, envy for everybody else, the largest
amounts, on both panels a house uses. Every piece of text must lie inside whatever could cut it
off. Mutations this catches: rows that scroll or are cut (`layPages` called by nobody), a total's
column that is too narrow for the largest amount.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from controller.web import app
from controller.words import HouseWords
from tests.kit.chromium import narrowest_px
from tests.kit.cut_off import CUT_OFF, EVERY_PAGE
from tests.kit.served_pages import Served
from tests.kit.shipped_views import (
    LARGEST_CENTS,
    LIKE_FOUR_CARD_TOUCH,
    LOOKS,
    look_of,
    shipped_view,
)
from tests.kit.table_views import FakeTable, claim, pay, pay_line, pay_row, table_view

pytestmark = pytest.mark.browser
SIZES = [(1024, 600), (1280, 800)]
WINNERS = [1, 2, 3, 4]


def rows(view: dict[str, Any], winners: int) -> list[dict[str, Any]]:
    """Every seat gets something: the first ones for a hand on each game, all the others envy."""
    numbers = [seat["seat"] for seat in view["seats"]][::-1]
    letters = [game["letter"] for game in view["games"]]
    longest = {g["letter"]: max((h["label"] for h in g["hands"]), key=len) for g in view["games"]}
    won = numbers[:winners]
    found = []
    for seat in numbers:
        lines = [
            pay_line("award", f"{seat}{letter}", longest[letter], LARGEST_CENTS)
            for letter in (letters if seat in won else [])
        ]
        envies = [
            pay_line("envy", f"{seat}{letter}", "Envy", 1_000_000, win=number)
            for number, winner in enumerate(won, start=1)
            for letter in letters
            if winner != seat
        ]
        found.append(pay_row(seat, lines + envies))
    return [row for row in found if row["lines"]]


def entered(view: dict[str, Any], winners: int, stage: str) -> dict[str, Any]:
    due = rows(view, winners)
    hands = [line for row in due for line in row["lines"] if line["kind"] == "award"]
    lines = [
        {"order": n, "seat": int(x["sensor"][:-1]), "hand": "", "source": "meter", **x}
        for n, x in enumerate(hands, start=1)
    ]
    return claim(stage, lines, []) | {"rows": due}


class Panel:
    """A table in memory, its panel in Chromium, and the number of the picture that is shown."""

    def __init__(self, page: Page, served: Served, table: FakeTable) -> None:
        self.page, self._served, self._table = page, served, table
        self._round = 0

    def open(self, view: dict[str, Any]) -> None:
        self.show(**deepcopy(view), is_open=True)

    def show(self, is_open: bool = False, **fields: Any) -> None:
        """Waits until the page shows this very picture: its round's number is counted up."""
        self._round += 1
        self._served.do(self._table.change, **{**fields, "round": self._round})
        if is_open:
            self.page.goto(self._served.url)
        expect(self.page.locator("#round")).to_have_text(str(self._round))

    def pages_of(self, box: str) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate(EVERY_PAGE, box)
        return found


@pytest.fixture(scope="module", params=["en-US", "es-US"])
def panel(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Panel]:
    table = FakeTable(table_view())
    with Served(app.build(table, words=HouseWords(request.param))) as served:
        page = chromium.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        yield Panel(page, served, table)
        page.close()


def prove(panel: Panel, view: dict[str, Any], winners: int) -> None:
    due = rows(view, winners)
    seats = [row["seat"] for row in due]
    shows = {
        "#pay-list": ({"state": "locked", "claim": None, "pay": pay(due)}, seats),
        "#sheet": ({"claim": entered(view, winners, "authorise")}, seats),
        "#preview": ({"claim": entered(view, winners, "preview")}, seats[:winners]),
    }
    for box, (fields, wanted) in shows.items():
        panel.show(**({"state": "claim", "pay": None} | fields))
        expect(panel.page.locator(box)).to_be_visible()
        for width, height in SIZES:
            panel.page.set_viewport_size({"width": width, "height": height})
            assert panel.pages_of(box) == {"seats": wanted, "cut": []}, (box, width)
            assert panel.page.evaluate(CUT_OFF, ".message, .actions") == []


def test_tables_that_look_like_another_are_not_looked_at_twice() -> None:
    for name in LIKE_FOUR_CARD_TOUCH:
        assert look_of(shipped_view(name)) == look_of(shipped_view("four-card-touch"))


@pytest.mark.parametrize("name", LOOKS)
def test_every_amount_of_a_shipped_table_can_be_read(panel: Panel, name: str) -> None:
    view = {**shipped_view(name), "pay": None}
    panel.open(view)
    for winners in WINNERS:
        prove(panel, view, winners)


@pytest.mark.parametrize("panel", ["en-US"], indirect=True)
@pytest.mark.parametrize("name", LOOKS)
def test_fewer_seats_fit_as_well(panel: Panel, name: str) -> None:
    """The words are as wide with fewer seats, so one language is enough."""
    view = {**shipped_view(name), "pay": None}
    for seat_count in range(1, len(view["seats"])):
        fewer = view | {"seats": view["seats"][:seat_count]}
        panel.open(fewer)
        for winners in WINNERS[:seat_count]:
            prove(panel, fewer, winners)


def test_a_seat_is_ticked_off_and_stays_with_its_time(chromium: Browser) -> None:
    won = [pay_line("award", "5A", "Four Aces", 800_075)]
    gone = pay_line("award", "3A", "Four of a Kind", 80_000, reversed=True)
    table = FakeTable(table_view(state="locked"))
    with Served(app.build(table)) as served:
        page = chromium.new_page(viewport={"width": 1024, "height": 600})
        page.goto(served.url)
        expect(page.locator(".action[data-next]")).not_to_have_count(0)
        served.do(table.change, pay=pay([pay_row(5, won), pay_row(3, [gone], 80_000)]))
        tick = page.locator('[data-button="TICK 5"]')
        expect(tick).to_contain_text("$8,000.75")
        assert narrowest_px(tick) >= 44
        taken = page.locator('[data-pay-seat="3"]')
        expect(taken.locator(".tick")).to_have_text("TAKEN BACK $800.00")
        expect(taken.locator(".line-label")).to_have_css("text-decoration-line", "line-through")
        expect(page.locator("#pay-take-back")).to_have_text("$800.00")
        served.do(table.change, pay=pay([pay_row(5, won, 800_075), pay_row(3, [gone], 80_000)]))
        expect(tick).to_be_hidden()
        expect(page.locator('[data-pay-seat="5"] .row-done')).to_contain_text("Paid")
        expect(page.locator("#pay-due")).to_have_text("$0.00")
        # To enter another hand the list steps aside; the next amount to pay brings it back.
        page.locator("#pay-fold").click()
        expect(page.locator("#pay-list")).to_be_hidden()
        page.locator('[data-button="SEAT 5"]').click()
        more = [*won, pay_line("envy", "5A", "Envy", 10_000, win=2)]
        served.do(table.change, pay=pay([pay_row(5, more, 800_075)]))
        expect(page.locator("#pay-list")).to_be_visible()
        expect(tick).to_contain_text("$100.00")
        expect(page.locator('[data-pay-seat="5"] .row-total')).to_have_text("$8,100.75")
        page.close()
