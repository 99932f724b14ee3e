"""The practice floor as `make run` starts it: two people void a game, and its table hears of it.

Mutations this catches: a void that one person is enough for, one that its table never hears of, one
whose outcome the people who asked cannot see; a practice floor without its second person.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from sim.runs.bench.practice import EXECUTIVE, OPERATOR, PASSWORD, SECOND
from tests.kit.bench_page import lay_chips
from tests.kit.bench_process import Bench

pytestmark = pytest.mark.browser

TABLE = "four-card-touch"
VOID = re.compile(r"Game 1 is void\. Give (each|the) bet")


def bet_and_start(page: Page, seats: tuple[int, ...]) -> None:
    lay_chips(page, seats)
    body = page.frame_locator("#panel").locator("body")
    body.locator('[data-button="START"]').click()
    expect(body).to_have_attribute("data-state", "locked")


def screen(page: Page, url: str) -> Page:
    """Of somebody who sits elsewhere."""
    browser = page.context.browser
    assert browser is not None
    other = browser.new_context().new_page()
    other.goto(url)
    return other


def test_two_people_void_a_game_and_its_table_is_told(
    start_bench: Callable[..., Bench], page: Page
) -> None:
    bench = start_bench(TABLE)
    office = bench.manager_url.rstrip("/")
    page.goto(bench.bench_url)
    bet_and_start(page, (2, 5, 7))
    asker = screen(page, f"{office}/tables/{TABLE}")
    expect(asker.locator(".me")).to_contain_text(OPERATOR)
    for words in (SECOND, EXECUTIVE, PASSWORD, "signed in without a password"):
        expect(asker.locator(".banner p")).to_contain_text(words)
    asker.get_by_role("link", name="Void the game under way").click()
    asker.get_by_label("Reason").select_option("exposed-card")
    asker.get_by_role("button", name="Look at it").click()
    expect(asker.locator(".preview")).to_contain_text("is to be void")
    expect(asker.locator(".preview")).to_contain_text("supervisor")
    asker.get_by_label("Your password again").fill(PASSWORD)
    asker.get_by_role("button", name="Ask for it").click()
    expect(asker.locator(".notice")).to_contain_text("waits for a second person")
    expect(asker.get_by_role("button", name="Approve")).to_have_count(0)
    panel = page.frame_locator("#panel")
    expect(panel.locator("body")).to_have_attribute("data-state", "locked")  # one is not enough

    second = screen(page, office)
    second.get_by_role("button", name=f"Go on as {SECOND}").click()
    expect(second.locator(".me")).to_contain_text(SECOND)
    second.goto(f"{office}/requests")
    expect(second.locator(".request")).to_contain_text(f"{OPERATOR} asked")
    expect(second.locator(".request .preview")).to_contain_text("given back")
    second.get_by_label("Your password again").fill(PASSWORD)
    second.get_by_role("button", name="Approve").click()
    expect(second.locator(".notice")).to_contain_text("is to be void")
    expect(panel.locator("body")).to_have_attribute("data-state", "open")
    expect(panel.locator("body")).to_contain_text(VOID)
    expect(panel.locator("body")).to_contain_text("Exposed card")

    asker.goto(f"{office}/requests")
    decided = asker.locator('tr[data-state="approved"]')
    expect(decided).to_contain_text(f"by {SECOND}")
    expect(decided).to_contain_text("Its table has voided the game.")
    asker.goto(office)
    expect(asker.locator('[data-meter="main"].shown')).to_have_attribute(
        "data-amount-cents", "1000000"
    )
