"""Nothing of the service page is hidden, on a laptop and on a phone, at any shipped table.

A technician's evening is played in virtual time, and its moments are shown by the unit's own page.
Every piece of text must lie inside the window's width and inside whatever could cut it off; the
page itself may be long. Mutations this catches: rooms that lie beyond a phone's edge, a list of
verdicts that scrolls in itself and hides the bad pad below the faults of a silent IC.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, Page, expect

from controller.service.live.table import LiveTable
from controller.service.page.app import build
from sim.time.loop import run_virtual
from tests.kit.served_pages import Served
from tests.kit.service_table import TABLES, TECH
from tests.kit.still_table import Kept, StillTable, evening

pytestmark = pytest.mark.browser
LAPTOP, PHONE = (1280, 800), (390, 844)
ROOMS = ("table", "test", "calibrate", "bus", "log", "unit", "rounds")
STEP_MS = 60_000

# A small plot clips its lines and no text; what scrolls sideways on purpose is not on this page.
HIDDEN = """() => {
  const found = [];
  const clips = e => ['hidden', 'clip', 'auto', 'scroll'].includes(getComputedStyle(e).overflowY);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    if (!text.textContent.trim() || !text.parentElement.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) {
      let hides = box.left < -1 || box.right > innerWidth + 1;
      for (let e = text.parentElement; e && e !== document.body; e = e.parentElement) {
        if (!clips(e)) continue;
        const area = e.getBoundingClientRect();
        hides ||= box.left < area.left - 1 || box.right > area.right + 1;
        hides ||= box.top < area.top - 1 || box.bottom > area.bottom + 1;
      }
      if (hides) found.push(text.textContent.trim());
    }
  }
  return found;
}"""


def played(name: str, data: Path) -> dict[str, Kept]:
    """In a thread of its own: Playwright has a loop running in this one."""
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(lambda: run_virtual(evening(name, data))).result()


def signed_in(browser: Browser, url: str) -> Page:
    page = browser.new_page()
    page.set_default_timeout(STEP_MS)
    page.goto(url)
    page.locator("form[data-ready]").wait_for()
    page.fill("[name=name]", TECH)
    page.fill("[name=pin]", "246813")
    page.click("[type=submit]")
    page.locator("#tiles [data-sensor]").first.wait_for()
    return page


def look_everywhere(page: Page, moment: str) -> None:
    for width, height in (LAPTOP, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        for room in ROOMS:
            page.locator(f"nav a[data-room='{room}']").click()
            expect(page.locator(f"section[data-room='{room}']")).to_be_visible()
            hidden = page.evaluate(HIDDEN)
            assert hidden == [], f"{moment}, {room} at {width}: {hidden}"


def shows(page: Page, view: dict[str, Any]) -> None:
    """The page has taken this moment: its state, its verdicts, its step."""
    expect(page.locator("body")).to_have_attribute(
        "data-mode", "on" if view["mode"]["on"] else "off"
    )
    expect(page.locator("body")).to_have_attribute("data-work", view["mode"]["work"])
    expect(page.locator("#selftest li")).to_have_count(len(view["selftest"]))
    step = view["calibration"]["sentence"] if view["calibration"] else "Each seat is measured"
    expect(page.locator("#step")).to_contain_text(step)


@pytest.mark.parametrize("name", TABLES)
def test_everything_can_be_seen(chromium: Browser, tmp_path: Path, name: str) -> None:
    moments = played(name, tmp_path)
    still = StillTable(moments["bets"])
    with Served(build(cast(LiveTable, still))) as served:
        page = signed_in(chromium, served.url)
        for moment, kept in moments.items():
            still.show(kept)
            shows(page, kept["view"])
            look_everywhere(page, moment)
        bad = [row["part"] for row in moments["broken"]["view"]["selftest"] if not row["passed"]]
        page.locator("nav a[data-room='test']").click()
        for part in bad:
            expect(
                page.locator("#selftest li[data-passed='no']", has_text=part).first
            ).to_be_visible()
        page.close()
