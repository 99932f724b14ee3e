"""Two people at two screens: one asks, the other one decides; by keyboard, on a phone, at night."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from manager.app import Manager
from manager.people.roles import Role
from manager.web.access import Access
from manager.web.app import build
from tests.kit.chromium import launch_chromium
from tests.kit.people import PASSWORD, access_to, add_people
from tests.kit.pretend_books import Books, document
from tests.kit.served_pages import Served

pytestmark = pytest.mark.browser

PAGES = ("/", "/requests", "/corrections", "/corrections/adjust", "/wins/1", "/days", "/bank")


class House:
    """A manager with one win and somebody of each role, and browsers to look at it."""

    def __init__(self, browser: Browser, url: str, manager: Manager, access: Access) -> None:
        self.browser, self.url, self.manager, self.access = browser, url, manager, access
        self.problems: list[str] = []

    def screen(self, **look: object) -> Page:
        context: BrowserContext = self.browser.new_context(**look)  # type: ignore[arg-type]
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on(
            "console",
            lambda said: self.problems.append(said.text) if said.type == "error" else None,
        )
        page.on("request", lambda asked: self._foreign(asked.url))
        return page

    def signed_in(self, role: Role, **look: object) -> Page:
        page = self.screen(**look)
        page.goto(self.url)
        page.get_by_label("Name").fill(str(role))
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator(".me")).to_contain_text(str(role))
        return page

    def _foreign(self, url: str) -> None:
        if not re.match(re.escape(self.url) + "|data:", url):
            self.problems.append(f"left for {url}")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    books = Books(str(tmp_path / "ledger.sqlite"))
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces", _2A="straight-flush")
    manager = books.manager
    access = access_to(manager.store, book=manager.booking.book)
    add_people(access.people, **{str(role).capitalize(): str(role) for role in Role})
    served = Served(build(manager.view, access))
    with served, sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        house = House(browser, served.url, manager, access)
        yield house
        browser.close()
    assert not house.problems, house.problems
    books.store.close()


def test_one_asks_and_another_one_decides(house: House) -> None:
    """Catches: a form whose origin the browser calls null, and a request nobody else sees."""
    asker, second = house.signed_in(Role.OPERATOR), house.signed_in(Role.SUPERVISOR)
    asker.get_by_role("link", name="Corrections").click()
    asker.get_by_role("link", name="Reverse a win").click()
    asker.locator("[name=win]").fill("1")
    asker.get_by_role("button", name="Look at it").click()
    expect(asker.locator(".preview")).to_contain_text("Win 1 is reversed")
    asker.get_by_label("Your password again").fill(PASSWORD)
    asker.get_by_role("button", name="Ask for it").click()
    expect(asker.locator(".notice")).to_contain_text("waits for a second person")
    expect(asker.get_by_role("button", name="Approve")).to_have_count(0)
    second.reload()
    expect(second.locator(".count")).to_have_text("1")
    second.get_by_role("link", name="Requests").click()
    second.get_by_label("Your password again").fill(PASSWORD)
    second.get_by_role("button", name="Approve").click()
    expect(second.locator(".notice")).to_contain_text("Win 1 is reversed")
    asker.goto(f"{house.url}/wins/1")
    expect(asker.locator(".stamp").first).to_contain_text("NOT TO BE PAID")


def test_a_correction_by_keyboard_alone(house: House) -> None:
    page = house.screen()
    page.goto(house.url)
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("operator")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".me")).to_contain_text("operator")
    page.goto(f"{house.url}/corrections/suspend")
    page.locator("[name=jackpot]").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".preview")).to_contain_text("is suspended")
    expect(page.get_by_label("Your password again")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_contain_text("is suspended")


def is_too_wide(page: Page) -> bool:
    return bool(
        page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    )


LOOKS: dict[str, Callable[[House], Page]] = {
    "desk": lambda house: house.signed_in(Role.EXECUTIVE, viewport={"width": 1280, "height": 800}),
    "phone": lambda house: house.signed_in(Role.EXECUTIVE, viewport={"width": 320, "height": 640}),
    # A zoom of 200 % is half as many pixels, each twice as large.
    "zoomed": lambda house: house.signed_in(
        Role.EXECUTIVE, viewport={"width": 640, "height": 400}, device_scale_factor=2
    ),
    "night": lambda house: house.signed_in(
        Role.EXECUTIVE, viewport={"width": 1280, "height": 800}, color_scheme="dark"
    ),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=list(LOOKS))
def test_no_page_is_wider_than_its_screen(house: House, look: Callable[[House], Page]) -> None:
    page = look(house)
    for path in PAGES:
        page.goto(house.url + path)
        assert not is_too_wide(page), path


def test_every_figure_of_the_wins_is_seen_at_1280(house: House) -> None:
    """Catches: the amount, envy and who confirmed, pushed off the screen."""
    page = house.signed_in(Role.CAGE, viewport={"width": 1280, "height": 800})
    row = page.locator('[data-win="1"] td')
    expect(row.first).to_be_visible()
    for cell in row.all():
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 1280


def test_a_long_amount_stays_in_its_card(house: House) -> None:
    page = house.signed_in(Role.CAGE, viewport={"width": 1280, "height": 800})
    fits = page.evaluate(
        """() => {
            const shown = document.querySelector(".shown");
            shown.textContent = "$1,234,567.89";
            return shown.scrollWidth <= shown.clientWidth;
        }"""
    )
    assert fits


def test_a_stamp_is_put_on_the_slip(house: House) -> None:
    page = house.signed_in(Role.CAGE)
    page.goto(f"{house.url}/wins/1")
    page.get_by_label("Your password again").fill(PASSWORD)
    page.get_by_role("button", name="Paid", exact=True).click()
    expect(page.locator(".stamp").first).to_contain_text("PAID. Cage")
    assert page.locator(".slip").count() == 3  # a cover and two winners


def test_a_session_that_is_over_ends_its_live_page(house: House) -> None:
    page = house.signed_in(Role.AUDITOR)
    expect(page.locator("#live-word")).to_have_text("Live")
    person = house.access.people.find("auditor")
    assert person is not None
    house.access.sessions.end_all_of(person)
    expect(page.locator("body")).to_have_attribute("data-stale", "yes", timeout=20_000)
    page.reload()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    house.problems.clear()  # the browser notes that the closed stream was refused
