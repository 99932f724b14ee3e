"""Hands at the bench's page, in real time.

On a busy machine a chip's fall may be read too late. Then the table does not light it, and a person
takes it off and lays it down once more.
"""

from __future__ import annotations

from playwright.sync_api import Page, expect

SEEN_MAX_MS = 5000
# At rest for so long a chip is a bet, however late its fall was read.
REST_MS = 4000
TRIES_MAX = 6


def lay_chips(page: Page, seats: tuple[int, ...]) -> None:
    """One chip on each seat's first spot, until its light shows it."""
    expect(page.frame_locator("#panel").locator("body")).to_have_attribute("data-state", "open")
    for seat in seats:
        _lay_chip(page, seat)
    page.wait_for_timeout(REST_MS)


def _lay_chip(page: Page, seat: int) -> None:
    spot = page.locator(f'.spot[data-sensor="{seat}A"]')
    seen = page.locator(f'.spot[data-sensor="{seat}A"][data-light="detected"]')
    for _ in range(TRIES_MAX):
        spot.click()
        expect(spot).to_have_attribute("data-chip", "yes")
        try:
            expect(seen).to_be_attached(timeout=SEEN_MAX_MS)
            return
        except AssertionError:
            spot.click()
            expect(spot).to_have_attribute("data-chip", "no")
            page.wait_for_timeout(REST_MS)
    raise AssertionError(f"the chip at seat {seat} was never lit, in {TRIES_MAX} tries")
