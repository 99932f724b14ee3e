"""The manager's pages of the product as a newcomer starts it: the day, the bank, real advice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.kit.bench_process import Bench

pytestmark = pytest.mark.browser

ADVICE_MAX_MS = 60_000


def test_the_figures_are_found_from_the_meters_page(
    start_bench: Callable[..., Bench], page: Page
) -> None:
    bench = start_bench()
    page.goto(bench.manager_url)
    page.get_by_role("link", name="Gaming day").click()
    expect(page.locator("[data-ties]")).to_have_attribute("data-ties", "yes")
    expect(page.locator('section[data-meter="main"]')).to_contain_text("$10,000.00")
    page.get_by_role("link", name="Day before").click()
    expect(page.get_by_role("link", name="Day after")).to_be_visible()
    page.get_by_role("link", name="Bank").click()
    expect(page.locator('tr[data-meter="main"]')).to_contain_text("Progressive")
    page.get_by_role("link", name="Set-up", exact=True).click()
    page.get_by_role("link", name="Advice on numbers").click()
    page.get_by_role("link", name="Numbers in force").click()
    expect(page.locator(".plot svg polyline").first).to_be_attached(timeout=ADVICE_MAX_MS)
    expect(page.locator(".remarks")).to_contain_text("once in 54,145 wagers")
    # Other numbers: a seed of nothing is warned of, letters are told to be none.
    page.locator('[name="top.seed"]').fill("0")
    page.get_by_role("button", name="Advise").click()
    warning = page.locator('.remarks [data-kind="warning"]').first
    expect(warning).to_contain_text("zero seed", timeout=ADVICE_MAX_MS)
    page.locator('[name="top.contribution"]').fill("much")
    page.get_by_role("button", name="Advise").click()
    expect(page.locator(".problems")).to_contain_text("must be a percentage")
    expect(page.locator('[name="top.contribution"]')).to_have_value("much")
