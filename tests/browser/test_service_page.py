"""The service page in a real browser, on the bench: a technician finds what is broken.

One browser and one bench for all of it: sign in, look, break a part, test, calibrate, black box.
"""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.kit.bench_process import Bench

STEP_MS = 60_000
FIRST_SEAT = "1A"


def test_a_technician_finds_the_silent_ic(start_bench: Callable[..., Bench], page: Page) -> None:
    bench = start_bench("four-card-touch")
    page.goto(bench.bench_url)
    expect(page.locator("body")).to_have_attribute("data-power", "on")
    address = page.get_by_role("link", name="Service page").get_attribute("href")
    assert address is not None
    browser = page.context.browser
    assert browser is not None
    tech = browser.new_page(viewport={"width": 1280, "height": 800})
    problems: list[str] = []
    tech.on("pageerror", lambda error: problems.append(str(error)))
    tech.goto(address)
    sign_in(tech)
    see_a_chip(page, tech)
    tech.locator("nav a[data-room='bus']").click()
    expect(tech.get_by_role("button", name="SCAN NOW")).to_be_disabled()
    expect(tech.get_by_text("To scan, press SERVICE MODE first.")).to_be_visible()
    tech.get_by_role("button", name="SERVICE MODE").click()
    expect(tech.locator("body")).to_have_attribute("data-mode", "on")
    expect(page.frame_locator("#panel").locator("body")).to_have_attribute("data-service", "yes")
    expect(page.frame_locator("#display").locator(".service-cover")).to_be_visible()
    expect(tech.get_by_text("To scan, press SERVICE MODE first.")).to_be_hidden()
    find_the_fault(page, tech)
    look_at_lamps(tech)
    calibrate_one_seat(page, tech)
    tech.get_by_role("button", name="END SERVICE").click()
    expect(tech.locator("body")).to_have_attribute("data-mode", "off")
    expect(page.frame_locator("#panel").locator("body")).to_have_attribute("data-service", "no")
    read_events(tech)
    fits_a_phone(tech)
    assert not problems


def sign_in(tech: Page) -> None:
    form = tech.locator("form[data-ready]")
    expect(form).to_contain_text("Tech 3 with the PIN 246813")
    form.get_by_label("Your name").fill("Tech 3")
    form.get_by_label("PIN", exact=True).fill("111111")
    form.get_by_role("button").click()
    expect(form.get_by_role("alert")).to_have_text("This name and PIN do not belong together.")
    form.get_by_label("PIN", exact=True).fill("246813")
    form.get_by_role("button").click()
    expect(tech.locator("body")).to_have_attribute("data-ready", "yes")


def see_a_chip(page: Page, tech: Page) -> None:
    tile = tech.locator("#tiles [data-sensor='3A']")
    expect(tile).to_have_attribute("data-presence", "absent", timeout=STEP_MS)
    page.locator(".spot[data-sensor='3A']").click()
    expect(tile).to_contain_text("a chip, proven", timeout=STEP_MS)
    expect(tile).to_have_attribute("data-look", "detected")
    tile.get_by_role("button").click()
    expect(tech.locator("#one-name")).to_have_text("Sensor 3A")
    expect(tech.locator("#big canvas")).to_be_visible()
    page.locator(".spot[data-sensor='3A']").click()
    expect(tile).to_contain_text("empty felt", timeout=STEP_MS)


def find_the_fault(page: Page, tech: Page) -> None:
    page.locator("[data-fault='sensors-silent']").click()
    tech.locator("nav a[data-room='bus']").click()
    tech.get_by_role("button", name="SCAN NOW").click()
    silent = tech.locator("#scan tr[data-state='silent']")
    expect(silent).to_contain_text("sense-1", timeout=STEP_MS)
    expect(tech.locator("#scan tr[data-state='answers']")).to_contain_text("lights-1")
    page.locator("[data-fault='sensors-silent']").click()
    tech.locator("nav a[data-room='test']").click()
    ready = tech.locator("body[data-work='']")
    expect(ready).to_be_attached(timeout=STEP_MS)
    tech.get_by_role("button", name="SELF-TEST").click()
    expect(tech.locator("#selftest li").first).to_be_visible(timeout=STEP_MS)
    expect(tech.locator("#selftest-count")).to_have_text("21 in order, 0 not.", timeout=STEP_MS)


def look_at_lamps(tech: Page) -> None:
    """LAMPS BACK ends the walk too: its next step would light a lamp again."""
    walk = tech.get_by_role("button", name="SEAT BY SEAT")
    walk.click()
    expect(walk).to_have_attribute("aria-pressed", "true")
    tech.get_by_role("button", name="LAMPS BACK").click()
    expect(walk).to_have_attribute("aria-pressed", "false")


def calibrate_one_seat(page: Page, tech: Page) -> None:
    tech.locator("nav a[data-room='calibrate']").click()
    tech.get_by_role("button", name="BEGIN CALIBRATION").click()
    measure = tech.get_by_role("button", name="MEASURE")
    measure.click()
    expect(tech.locator("#step")).to_contain_text("seat 1", timeout=STEP_MS)
    page.locator(f".spot[data-sensor='{FIRST_SEAT}']").click()
    measure.click()
    expect(tech.locator("#calibrate-results")).to_contain_text("a chip moves it", timeout=STEP_MS)
    tech.get_by_role("button", name="UNDO LAST STEP").click()
    expect(tech.locator("#calibrate-results li")).to_have_count(0)
    tech.get_by_role("button", name="STOP").click()
    expect(tech.locator("body[data-work='']")).to_be_attached(timeout=STEP_MS)
    page.locator(f".spot[data-sensor='{FIRST_SEAT}']").click()


def read_events(tech: Page) -> None:
    tech.locator("nav a[data-room='log']").click()
    tech.locator("#filter").fill("self-test")
    expect(tech.locator("#log li").first).to_contain_text("result done")
    tech.locator("nav a[data-room='unit']").click()
    expect(tech.locator("#unit")).to_contain_text("underfelt")


def fits_a_phone(tech: Page) -> None:
    tech.set_viewport_size({"width": 390, "height": 844})
    for room in ("table", "test", "calibrate", "bus", "log", "unit", "rounds"):
        tech.locator(f"nav a[data-room='{room}']").click()
        expect(tech.locator(f"section[data-room='{room}']")).to_be_visible()
        wide = tech.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, f"{room} is wider than a phone"
    for link in tech.locator("nav.rooms a").all():
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0, f"{link.inner_text()} is beyond a phone's edge"
        assert box["x"] + box["width"] <= 390, f"{link.inner_text()} is beyond a phone's edge"
