"""The bench in a process of its own, and a Chromium that looks at it: for figures and pictures."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

PATIENCE_MS = 120_000  # for a page to show what it waits for: the machine may be busy


@dataclass(frozen=True)
class BenchAddresses:
    bench: str
    panel: str
    display: str
    service: str
    manager: str


@contextlib.contextmanager
def running_bench(table: str) -> Iterator[BenchAddresses]:
    """`make run` with data of its own, until the caller has enough."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "sim", "bench", "--table", table, "--data", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            names = (
                *("bench", "dealer panel", "jackpot display"),
                *("service page", "Game Manager"),
            )
            yield BenchAddresses(*[_address(process.stdout, name) for name in names])
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


def _address(lines: Iterable[str], name: str) -> str:
    for line in lines:
        found = re.match(rf"\s+{name}\s+(http://\S+)", line)
        if found:
            return found[1]
    raise RuntimeError(f"the bench ended before it said where its {name} is")


@contextlib.contextmanager
def chromium_page(width: int, height: int) -> Iterator[Any]:
    """A page of the Chromium that the system installs; Playwright is not there on a unit."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise RuntimeError("this needs Chromium; `make setup-test` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield new_page(browser, width, height)
        browser.close()


def new_page(browser: Any, width: int, height: int) -> Any:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(PATIENCE_MS)
    return page


def act(page: Any, addresses: BenchAddresses, action: str, argument: str) -> None:
    """A hand on the bench: a chip, a card, the cable."""
    # On a line of its own: the bench hangs up on a silent one, and may do so as it is used again.
    page.request.post(
        f"{addresses.bench}act",
        data={"action": action, "argument": argument},
        headers={"connection": "close"},
    )
