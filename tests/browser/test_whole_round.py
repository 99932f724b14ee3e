"""Clicks a whole round on the bench in real Chromium: chips, START, four aces, card, END."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.kit.bench_page import lay_chips
from tests.kit.bench_process import Bench

pytestmark = pytest.mark.browser


def press(panel: FrameLocator, button: str) -> None:
    panel.locator(f'[data-button="{button}"]').click()


def state(panel: FrameLocator, name: str) -> None:
    expect(panel.locator("body")).to_have_attribute("data-state", name)


def test_four_aces_at_seat_5_pay_the_meter_and_envy_for_2_and_7(
    start_bench: Callable[..., Bench], page: Page
) -> None:
    bench = start_bench()
    page.goto(bench.bench_url)
    panel = page.frame_locator("#panel")
    display = page.frame_locator("#display")
    lay_chips(page, (2, 5, 7))
    # What a chip is worth comes from the table's settings, not from the drawing.
    expect(page.locator('[data-sensor="5A"] .chip-worth')).to_have_text("$1")
    press(panel, "START")
    state(panel, "locked")
    expect(page.locator('[data-sensor="5A"]')).to_have_attribute("data-light", "accepted")
    expect(display.locator('[data-meter="main"]')).to_contain_text("10,000.75")
    press(panel, "SEAT 5")
    press(panel, "HAND four-aces")
    state(panel, "claim")
    expect(page.locator('[data-sensor="5A"]')).to_have_attribute("data-light", "winner")
    press(panel, "CONFIRM")
    state(panel, "confirm")
    expect(panel.locator('[data-amount-cents="1000075"]').first).to_be_visible()
    for seat in (2, 7):
        expect(panel.locator(f'[data-envy-seat="{seat}"]')).to_contain_text("100.00")
    page.locator('[data-swipe="EXECUTIVE"]').click()
    state(panel, "locked")
    expect(display.locator('[data-meter="main"]')).to_contain_text("10,000.15")
    for seat in (5, 7, 2):  # the winner first, then envy from the dealer's right
        tick = panel.locator(f'#pay-rows [data-button="TICK {seat}"]')
        tick.click()
        expect(tick).to_be_hidden()
    press(panel, "END")
    state(panel, "open")
    page.goto(bench.manager_url)
    expect(page.locator('[data-meter="main"]')).to_contain_text("10,000.15")
    expect(page.locator("body")).to_contain_text("10,000.75")
