"""The Chromium that the system installs, started the same way for every test.

Its headless shell is the same engine without windows; an empty page takes it a third of the work.
Where the system has none, it is Chromium itself (decision 190).
"""

from __future__ import annotations

import shutil

from playwright.sync_api import Browser, Locator, Page, Playwright, expect

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUMS = ("chromium", "chromium-browser")
HEADLESS_SHELL = "chromium-headless-shell"
# Nothing is waited for longer than it takes; a busy machine may take longer than Playwright's 5 s.
expect.set_options(timeout=30_000)


def launch_chromium(playwright: Playwright, *, whole: bool = False) -> Browser:
    """`whole`: with all that a unit's screen starts, for tests of the product from end to end."""
    names = CHROMIUMS if whole else (HEADLESS_SHELL, *CHROMIUMS)
    path = next(filter(None, map(shutil.which, names)), None)
    assert path, "These tests need Chromium; `make setup-test` installs it."
    return playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)


def narrowest_px(button: Locator) -> float:
    """The shorter side of a button. Layout counts in parts of a pixel: 44 px can read 43.99999."""
    box = button.bounding_box()
    assert box is not None
    return round(min(box["width"], box["height"]), 2)


def first_view_came(page: Page) -> None:
    """The display has its table's first view. A win that is in it already is not celebrated."""
    expect(page.locator("body")).to_have_attribute("data-heard", "yes")
