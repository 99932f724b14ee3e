"""The page of all managers in Chromium, at the owner and at one that stands by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from manager.ledger.errors import StoreError
from tests.kit.contrast import TOO_FAINT
from tests.kit.people import PASSWORD
from tests.kit.served_pages import Served
from tests.kit.standby_house import Standby

pytestmark = pytest.mark.browser
WIDTHS = [1280, 390]


@pytest.fixture
def south() -> Iterator[tuple[Standby, Served]]:
    standby = Standby()
    standby.floor.table_count = 6
    with Served(standby.app) as served:
        yield standby, served


def signed_in(chromium: Browser, url: str, name: str, width: int = 1280) -> Page:
    page = chromium.new_page(viewport={"width": width, "height": 800})
    page.goto(url)
    page.get_by_role("link", name="Sign in").click()
    expect(page.get_by_label("Name")).to_be_focused()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".me")).to_contain_text(name)
    return page


@pytest.mark.parametrize("width", WIDTHS)
def test_somebody_signs_in_where_a_manager_stands_by_and_sees_the_floor_change(
    chromium: Browser, south: tuple[Standby, Served], width: int
) -> None:
    """Catches: a page that has to be loaded again, or is wider than a phone."""
    standby, served = south
    page = signed_in(chromium, served.url, "Cora", width)
    expect(page.locator("[data-owner]")).to_have_text("north")
    expect(page.locator('[data-meter="main"] .number')).to_have_text("$1,000.00")
    expect(page.get_by_role("heading", name="Move a group")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    served.do(vars(standby.floor).update, owner="south", shown_cents=123_456_789)
    expect(page.locator("[data-owner]")).to_have_text("south")
    expect(page.locator('[data-meter="main"] .number')).to_have_text("$1,234,567.89")
    expect(page.locator("#live-word")).to_have_text("Live")
    page.close()


def hurried(page: Page, route: Route) -> None:
    """Chooses while the live page is still being asked for."""
    page.get_by_label("What moves where").select_option("stud to south")
    route.continue_()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_password_that_is_being_typed_is_not_lost_when_the_floor_changes(
    chromium: Browser, south: tuple[Standby, Served], width: int
) -> None:
    """Catches: a form inside of what is drawn anew each second, or with the first view."""
    standby, served = south
    page = signed_in(chromium, served.url, "Olga", width)
    # Before the first view has come, as somebody does who is in a hurry.
    page.route("**/managers/events", lambda route: hurried(page, route))
    page.reload()
    expect(page.get_by_label("What moves where")).to_have_value("stud:south")
    page.get_by_label("Your password again").fill(PASSWORD)
    served.do(vars(standby.floor).update, shown_cents=200_000)
    expect(page.locator('[data-meter="main"] .number')).to_have_text("$2,000.00")
    expect(page.get_by_label("Your password again")).to_have_value(PASSWORD)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Move it").click()
    expect(page.locator(".notice")).to_contain_text("was asked to hand over to south")
    assert standby.floor.moves == [("stud", "south")]
    page.close()


def test_a_choice_that_is_gone_cannot_be_sent(
    chromium: Browser, south: tuple[Standby, Served]
) -> None:
    """The list of moves is drawn anew when the owner changes; then nothing is chosen."""
    standby, served = south
    page = signed_in(chromium, served.url, "Olga")
    page.get_by_label("What moves where").select_option("stud to south")
    served.do(vars(standby.floor).update, owner="south")
    expect(page.locator("[data-owner]")).to_have_text("south")
    expect(page.get_by_label("What moves where")).to_have_value("")
    page.get_by_label("Your password again").fill(PASSWORD)
    page.get_by_role("button", name="Move it").click()
    assert standby.floor.moves == []
    page.close()


@pytest.mark.parametrize("colors", ["light", "dark"])
def test_every_text_can_be_read(
    chromium: Browser, south: tuple[Standby, Served], colors: Literal["light", "dark"]
) -> None:
    standby, served = south
    standby.floor.owner = ""
    page = chromium.new_page(color_scheme=colors, reduced_motion="reduce")
    faint = []
    for path in ("/", "/sign-in", "/managers"):
        if path == "/managers":
            page.goto(f"{served.url}/sign-in")
            page.get_by_label("Name").fill("Olga")
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            expect(page.locator("[data-owner]")).to_have_text("Nobody")
        else:
            page.goto(served.url + path)
        faint += [f"{path}: {each}" for each in page.evaluate(TOO_FAINT)]
    assert faint == []
    page.close()


def test_without_the_database_the_amounts_leave_the_screen(
    chromium: Browser, south: tuple[Standby, Served]
) -> None:
    standby, served = south
    page = signed_in(chromium, served.url, "Olga")
    expect(page.locator("[data-amount-cents]").first).to_be_visible()
    served.do(vars(standby.floor).update, trouble=StoreError("The database does not answer."))
    expect(page.locator("#trouble")).to_contain_text("Nothing is shown until it answers again")
    expect(page.locator("[data-amount-cents]")).to_have_count(0)
    served.do(vars(standby.floor).update, trouble=None)
    expect(page.locator("[data-amount-cents]").first).to_be_visible()
    expect(page.locator("#trouble")).to_be_empty()
    page.close()
