"""`make pictures`: plays the dealer's guide on the bench, and photographs what it shows.

The steps are those of `docs/dealer-guide.md`, in its order; the pictures are the ones it links. The
same game is played once for each language.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sim.runs.bench_browser import BenchAddresses, act, chromium_page, running_bench

TABLE = "four-card-touch"
REST_MS = 4000  # a chip has come to rest and is known
LANGUAGES = ("en", "es")
SENSORS = ("2A", "5A", "7A")


def make_pictures(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    with running_bench(TABLE) as addresses:
        with chromium_page(1600, 1000) as page:
            page.goto(addresses.bench)
            move_chips(page, addresses, "place")
            page.wait_for_timeout(REST_MS)
            page.screenshot(path=folder / "bench.png")
            move_chips(page, addresses, "remove")
        with chromium_page(1024, 600) as page:
            for language in LANGUAGES:
                play_guide(page, addresses, language, folder)
    return 0


def move_chips(page: Any, addresses: BenchAddresses, action: str) -> None:
    """Puts down or takes the three bets, and waits until the page shows each of them so."""
    light = {"place": "detected", "remove": "off"}[action]
    for sensor in SENSORS:
        act(page, addresses, action, sensor)
        page.wait_for_selector(f'[data-sensor="{sensor}"][data-light="{light}"]')


def play_guide(page: Any, addresses: BenchAddresses, language: str, folder: Path) -> None:
    """One game as the guide tells it: bets, start, four aces at seat 5, card, pay, end."""

    def photograph(name: str) -> None:
        page.wait_for_timeout(REST_MS)
        page.screenshot(path=folder / f"guide-{name}.{language}.png")

    page.goto(addresses.panel)
    while page.evaluate("document.documentElement.lang") != language:
        page.locator("#language").click()
        page.wait_for_timeout(1000)
    move_chips(page, addresses, "place")
    photograph("1-bets")
    for button, state in (("START", "locked"), ("SEAT 5", "locked"), ("HAND four-aces", "claim")):
        press(page, button, state)
    photograph("2-hand")
    press(page, "CONFIRM", "confirm")
    photograph("3-confirm")
    act(page, addresses, "swipe", "EXECUTIVE")
    page.wait_for_selector("#pay-list:not([hidden])")
    photograph("4-pay")
    for seat in (5, 7, 2):
        tick = page.locator(f'#pay-rows [data-button="TICK {seat}"]')
        tick.click()
        tick.wait_for(state="hidden")
    press(page, "END", "open")
    move_chips(page, addresses, "remove")


def press(page: Any, button: str, state: str) -> None:
    page.locator(f'[data-button="{button}"]:visible').first.click()
    page.wait_for_selector(f'body[data-state="{state}"]')
