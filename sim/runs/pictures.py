"""`make pictures`: plays the dealer's guide on the bench, and photographs what pages show.

The steps are those of `docs/dealer-guide.md`, in its order; the pictures are the ones it links. The
same game is played once for each language. The technician's page is photographed beside it, and
the Game Manager's pages for `docs/operator.md` after it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sim.runs.bench.practice import PASSWORD, SECOND
from sim.runs.bench_browser import BenchAddresses, act, chromium_page, running_bench
from sim.runs.pictures_service import photograph_black_box, photograph_sensors, photograph_work

TABLE = "four-card-touch"
REST_MS = 4000  # a chip has come to rest and is known, also on a busy machine
STILL_MS = 4000  # a plot has its curve, and nothing on the page moves any more
BUNDLE_LOOK_MS, BUNDLE_LOOKS_MAX = 1000, 120
LANGUAGES = ("en", "es")
SENSORS = ("2A", "5A", "7A")
COLOURS, FULL_COLOURS_MAX_BYTES = 256, 60_000


def make_pictures(folder: Path, still_ms: int = STILL_MS) -> int:
    """`still_ms`: who looks at no picture need not wait for a beautiful one."""
    folder.mkdir(parents=True, exist_ok=True)
    with running_bench(TABLE) as addresses:
        with chromium_page(1600, 1000) as page:
            page.goto(addresses.bench)
            move_chips(page, addresses, "place")
            page.wait_for_timeout(still_ms)
            page.screenshot(path=folder / "bench.png")
            photograph_sensors(page, addresses, folder, still_ms)
            move_chips(page, addresses, "remove")
            photograph_work(page, addresses, folder)
        with chromium_page(1024, 600) as page:
            for language in LANGUAGES:
                play_guide(page, addresses, language, folder, still_ms)
            photograph_black_box(page, addresses, folder)
        with chromium_page(1100, 700) as page:
            photograph_office(page, addresses.manager.rstrip("/"), folder)
    for path in folder.glob("*.png"):
        if path.stat().st_size > FULL_COLOURS_MAX_BYTES:
            reduce_colours(path)
    return 0


def reduce_colours(path: Path) -> None:
    """A page has few colours; a palette of them makes its picture half as large.

    By coverage: by the median, a small red mark turned brown.
    """
    from PIL import Image

    method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    with Image.open(path) as picture:
        reduced = picture.convert("RGB").quantize(COLOURS, method=method, dither=dither)
    reduced.save(path, optimize=True)


def photograph_office(page: Any, url: str, folder: Path) -> None:
    """The pages of the Game Manager, as the demo operator and the second person see them."""

    def photograph(path: str, name: str) -> None:
        if path:
            page.goto(url + path)
        page.screenshot(path=folder / f"office-{name}.png")

    page.goto(f"{url}/")
    page.wait_for_selector('#live-word:text("Live")')
    photograph("", "1-floor")
    photograph("/wins/1", "2-win")
    page.goto(f"{url}/corrections/reverse-win?win=2")
    page.locator("form.fields button").first.click()
    page.get_by_label("Your password again").fill(PASSWORD)
    page.get_by_role("button", name="Ask for it").click()
    page.wait_for_selector(".notice")
    page.get_by_role("button", name=f"Go on as {SECOND}").click()
    page.wait_for_selector(f'.me:has-text("{SECOND}")')
    photograph("/requests", "3-request")
    photograph("/days", "4-day")
    page.get_by_role("button", name="Go on as Demo Executive").click()
    page.wait_for_selector('.me:has-text("Demo Executive")')
    game = "four-card/progressive/Pays-1"
    page.goto(f"{url}/setup/table?A={game}")
    page.locator('[name="table.seats"]').fill("99")
    page.get_by_role("button", name="Look at it").click()
    page.wait_for_selector("#wrong-table-seats")
    photograph("", "5-set-up")
    photograph("/cards", "6-cards")
    photograph("/spots", "8-spots")
    photograph_bundle(page, url, folder)


def photograph_bundle(page: Any, url: str, folder: Path) -> None:
    """Asked for at the manager; it names the IC that was silent while the technician scanned."""
    page.goto(f"{url}/bundles")
    page.get_by_role("button", name="Ask for a bundle").click()
    page.wait_for_selector(".notice")
    for _ in range(BUNDLE_LOOKS_MAX):
        if page.locator("[data-bundle]").count():
            break
        page.wait_for_timeout(BUNDLE_LOOK_MS)
        page.reload()
    page.get_by_role("link", name="Open").first.click()
    page.wait_for_selector('[data-cause="silent-ic"]')
    page.screenshot(path=folder / "office-7-bundle.png")


def move_chips(page: Any, addresses: BenchAddresses, action: str) -> None:
    """Puts down or takes the three bets, and waits until the page shows each of them so."""
    light = {"place": "detected", "remove": "off"}[action]
    for sensor in SENSORS:
        act(page, addresses, action, sensor)
        page.wait_for_selector(f'[data-sensor="{sensor}"][data-light="{light}"]')


def play_guide(
    page: Any, addresses: BenchAddresses, language: str, folder: Path, still_ms: int
) -> None:
    """One game as the guide tells it: bets, start, four aces at seat 5, card, pay, end."""

    def photograph(name: str) -> None:
        page.wait_for_timeout(still_ms)
        page.screenshot(path=folder / f"guide-{name}.{language}.png")

    listens = ".action[data-next]"  # the page's script has drawn its first view
    page.goto(addresses.panel)
    page.wait_for_selector(listens)
    while page.evaluate("document.documentElement.lang") != language:
        with page.expect_navigation():
            page.locator("#language").click()
        page.wait_for_selector(listens)
    move_chips(page, addresses, "place")
    page.wait_for_timeout(REST_MS)
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
