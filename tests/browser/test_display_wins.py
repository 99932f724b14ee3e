"""A win on the players' display: celebrated once, told while it stands, gone when it is taken back.

Mutations this catches: a reversed win that stays on the ribbon, one that goes on being celebrated,
and a win that is celebrated again when its game is reopened or the display is switched on again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from controller.web import app
from tests.kit.chromium import first_view_came
from tests.kit.served_pages import Served
from tests.kit.table_views import FakeTable, line

pytestmark = pytest.mark.browser


def won(number: int, **fields: Any) -> dict[str, Any]:
    lines = [line(1, 5, "four-aces", 800_075)]
    return {"win": number, "reversed": False, "lines": lines, "envy": [], **fields}


@pytest.fixture
def table() -> FakeTable:
    return FakeTable()


@pytest.fixture
def served(table: FakeTable) -> Iterator[Served]:
    with Served(app.build_display(table)) as served:
        yield served


@pytest.fixture
def page(chromium: Browser, served: Served) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    page.clock.install()
    page.goto(served.url)
    first_view_came(page)
    yield page
    page.close()


def shows(page: Page, what: str) -> None:
    expect(page.locator("body")).to_have_attribute("data-show", what)


def goes_on_showing(page: Page, what: str) -> None:
    """The page decides anew several times a second what to show."""
    page.clock.run_for(1000)
    assert page.locator("body").get_attribute("data-show") == what


def test_a_win_taken_back_is_no_longer_told(page: Page, served: Served, table: FakeTable) -> None:
    served.do(table.change, state="locked", wins=[won(7)])
    shows(page, "win")
    served.do(table.change, wins=[won(7, reversed=True)])
    shows(page, "meter")
    expect(page.locator("#ribbon")).to_be_hidden()
    served.do(table.change, wins=[won(7, reversed=True), won(8)])
    shows(page, "win")


def test_a_reopened_game_celebrates_nothing_again(
    page: Page, served: Served, table: FakeTable
) -> None:
    served.do(table.change, state="locked", wins=[won(7)])
    shows(page, "win")
    served.do(table.change, state="open", wins=[])
    shows(page, "meter")
    served.do(table.change, state="locked", wins=[won(7)])
    expect(page.locator("#ribbon")).to_contain_text("Seat 5 won $8,000.75")
    goes_on_showing(page, "meter")


def test_a_display_that_is_switched_on_again_celebrates_nothing_again(
    page: Page, served: Served, table: FakeTable
) -> None:
    served.do(table.change, state="locked", wins=[won(7)])
    shows(page, "win")
    page.reload()
    expect(page.locator("#ribbon")).to_contain_text("Seat 5 won $8,000.75")
    goes_on_showing(page, "meter")
    served.do(table.change, wins=[won(7), won(8)])
    shows(page, "win")
