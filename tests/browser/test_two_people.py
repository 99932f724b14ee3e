"""Two people at two screens: one asks, the other one decides; by keyboard, and on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from manager.people.roles import Role
from tests.kit.chromium import launch_chromium
from tests.kit.office_house import OfficeHouse, office_house
from tests.kit.people import PASSWORD

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture
def house(browser: Browser, tmp_path: Path) -> Iterator[OfficeHouse]:
    with office_house(browser, tmp_path) as house:
        yield house


def test_one_asks_and_another_one_decides(house: OfficeHouse) -> None:
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


def test_a_correction_by_keyboard_alone(house: OfficeHouse) -> None:
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


def test_every_figure_of_the_wins_is_seen_at_1280(house: OfficeHouse) -> None:
    """Catches: the amount, envy and who confirmed, pushed off the screen."""
    page = house.signed_in(Role.CAGE, viewport={"width": 1280, "height": 800})
    row = page.locator('[data-win="1"] td')
    expect(row.first).to_be_visible()
    # All at once: the live page may draw its rows anew between two questions.
    ends_px = row.evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().right)")
    assert len(ends_px) > 4
    assert max(ends_px) <= 1280


def test_a_long_amount_stays_in_its_card(house: OfficeHouse) -> None:
    page = house.signed_in(Role.CAGE, viewport={"width": 1280, "height": 800})
    fits = page.evaluate(
        """() => {
            const shown = document.querySelector(".shown");
            shown.textContent = "$1,234,567.89";
            return shown.scrollWidth <= shown.clientWidth;
        }"""
    )
    assert fits


def test_a_stamp_is_put_on_the_slip(house: OfficeHouse) -> None:
    page = house.signed_in(Role.CAGE)
    page.goto(f"{house.url}/wins/1")
    page.get_by_label("Your password again").fill(PASSWORD)
    page.get_by_role("button", name="Paid", exact=True).click()
    expect(page.locator(".stamp").first).to_contain_text("PAID. Cage")
    assert page.locator(".slip").count() == 3  # a cover and two winners


def test_a_session_that_is_over_ends_its_live_page(house: OfficeHouse) -> None:
    page = house.signed_in(Role.AUDITOR)
    expect(page.locator("#live-word")).to_have_text("Live")
    (token,) = (kept["value"] for kept in page.context.cookies())
    house.access.sessions.end(token)
    expect(page.locator("body")).to_have_attribute("data-stale", "yes", timeout=20_000)
    page.reload()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    house.problems.clear()  # the browser notes that the closed stream was refused
