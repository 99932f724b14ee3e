"""The technician's pictures: what the service page shows while its guides are followed.

The steps are those of `docs/table-care.md`, in its order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sim.runs.bench_browser import BenchAddresses, act, new_page

TECH, PIN = "Tech 3", "246813"  # of the tables that ship
AT_REST = 'body[data-work=""]'


def photograph_sensors(page: Any, addresses: BenchAddresses, folder: Path, still_ms: int) -> None:
    tech = signed_in(page, addresses)
    look_at_sensors(page, tech, addresses, still_ms)
    tech.screenshot(path=folder / "service-sensors.png")
    tech.close()


def photograph_work(page: Any, addresses: BenchAddresses, folder: Path) -> None:
    """On an empty felt: self-test, a calibration, a silent IC that the scan names, the bundle."""
    tech = signed_in(page, addresses)
    tech.click("#enter")
    tech.wait_for_selector('body[data-mode="on"]')
    for name, work in (("selftest", self_test), ("calibrate", begin_calibration)):
        work(tech)
        tech.screenshot(path=folder / f"service-{name}.png")
    tech.click("#stop")
    tech.wait_for_selector(AT_REST)
    act(page, addresses, "fault", "sensors-silent")
    tech.click('nav a[data-room="bus"]')
    tech.click('[data-act="scan"]:enabled')
    tech.wait_for_selector('#scan tr[data-state="silent"]')
    tech.screenshot(path=folder / "service-buses.png")
    tech.click('nav a[data-room="unit"]')
    tech.wait_for_selector("#unit dd")
    tech.screenshot(path=folder / "service-unit.png")
    act(page, addresses, "fault", "sensors-silent")
    tech.click("#leave")
    tech.wait_for_selector('body[data-mode="off"]')
    tech.close()


def signed_in(page: Any, addresses: BenchAddresses) -> Any:
    tech = new_page(page.context.browser, 1280, 800)
    tech.goto(addresses.service)
    tech.wait_for_selector("form[data-ready]")
    tech.fill("[name=name]", TECH)
    tech.fill("[name=pin]", PIN)
    tech.click("[type=submit]")
    tech.wait_for_selector("#tiles [data-sensor]")
    return tech


def look_at_sensors(page: Any, tech: Any, addresses: BenchAddresses, still_ms: int) -> None:
    """What the plot shows is what came since: a chip goes and comes again."""
    tech.wait_for_selector('#tiles [data-sensor="5A"][data-look="detected"]')
    tech.click('#tiles [data-sensor="5A"] button')
    for action, light in (("remove", "off"), ("place", "detected")):
        tech.wait_for_timeout(still_ms)
        act(page, addresses, action, "5A")
        tech.wait_for_selector(f'#tiles [data-sensor="5A"][data-look="{light}"]')
    tech.wait_for_timeout(still_ms)


def self_test(tech: Any) -> None:
    tech.click('nav a[data-room="test"]')
    tech.click('[data-act="selftest"]:enabled')
    tech.wait_for_selector('#selftest-count:has-text("in order, 0 not.")')


def begin_calibration(tech: Any) -> None:
    """Up to the first chip: the felt was measured empty."""
    tech.wait_for_selector(AT_REST)
    tech.click('nav a[data-room="calibrate"]')
    tech.click("#calibrate-begin:enabled")
    tech.click('[data-step="measure"]:visible')
    tech.wait_for_selector('#step:has-text("seat 1")')


def photograph_black_box(page: Any, addresses: BenchAddresses, folder: Path) -> None:
    """The newest round, plotted, and judged once more."""
    tech = signed_in(page, addresses)
    tech.click('nav a[data-room="rounds"]')
    tech.locator("#rounds button").first.click()
    tech.click("#replay:visible")
    tech.wait_for_selector("#replay-sentence:not(:empty)")
    tech.screenshot(path=folder / "service-black-box.png")
    tech.close()
