"""An update in the browser: stopped, brought, asked for by one person, approved by another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from manager.people.roles import Role
from tests.kit.chromium import launch_chromium
from tests.kit.office_house import OfficeHouse, office_house
from tests.kit.people import PASSWORD
from tests.kit.update_files import update_file

pytestmark = pytest.mark.browser

VERSION = "0.3.0+20260701.120000"
DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[OfficeHouse]:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        with office_house(browser, tmp_path) as house:
            yield house
        browser.close()


def test_an_update_goes_from_a_file_to_a_running_roll_out(
    house: OfficeHouse, tmp_path: Path
) -> None:
    """Catches: a file that the script does not send whole, a stop that the page does not show."""
    file, wrong = tmp_path / "update.raucb", tmp_path / "wrong.raucb"
    file.write_bytes(update_file(VERSION, 5_000_000))  # three pieces
    wrong.write_bytes(b"no update at all")
    asker, second = house.let_in(Role.OPERATOR, **PHONE), house.let_in(Role.EXECUTIVE, **DESK)
    asker.goto(f"{house.url}/updates")
    asker.get_by_role("link", name="Stop it").click()
    asker.get_by_label("Why").fill("Another one comes.")
    asker.get_by_role("button", name="Look at it").click()
    asker.get_by_label("Your password again").fill(PASSWORD)
    asker.get_by_role("button", name="Do it now").click()
    expect(asker.locator(".notice")).to_contain_text("is stopped")
    asker.goto(f"{house.url}/updates")
    expect(asker.locator("[role=status]").first).to_contain_text("Stopped")

    asker.locator("#file").set_input_files(wrong)
    asker.get_by_role("button", name="Bring it").click()
    expect(asker.locator(".problem").first).to_contain_text("not a signed update")
    house.problems.clear()  # the browser writes down that the answer was a refusal
    asker.locator("#file").set_input_files(file)
    asker.get_by_role("button", name="Bring it").click()
    expect(asker.locator(".notice")).to_contain_text(f"Update {VERSION}")

    asker.locator("[name=bundle]").select_option(label=f"{VERSION} for underfelt-unit-test")
    asker.locator("[name=first]").select_option("touch-2")
    asker.locator("[name=hold]").fill("30")
    asker.get_by_role("button", name="Go on").click()
    asker.get_by_role("button", name="Look at it").click()
    expect(asker.locator(".preview")).to_contain_text("goes to 1, then 1 of the tables")
    asker.get_by_label("Your password again").fill(PASSWORD)
    asker.get_by_role("button", name="Ask for it").click()
    second.goto(f"{house.url}/requests")
    second.get_by_label("Your password again").fill(PASSWORD)
    second.get_by_role("button", name="Approve").click()
    expect(second.locator(".notice")).to_contain_text(VERSION)
    second.goto(f"{house.url}/updates")
    expect(second.get_by_role("heading", level=1)).to_contain_text(VERSION)
    expect(second.locator('[data-table="touch-2"]')).to_contain_text("offered; no answer yet")
    for page in (asker, second):
        page.goto(f"{house.url}/updates")
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not page.evaluate(wide)
