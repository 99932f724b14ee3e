"""The product as a newcomer starts it, and a real Chromium to look at it with."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
STOP_MAX_S = 15
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Bench:
    """A running `python -m sim bench`."""

    process: subprocess.Popen[str]
    bench_url: str
    manager_url: str

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(STOP_MAX_S)


@pytest.fixture
def start_bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    running: list[Bench] = []

    def start(table: str = "four-card-touch", *options: str) -> Bench:
        command = [sys.executable, "-m", "sim", "bench", "--table", table]
        process = subprocess.Popen(
            [*command, "--data", str(tmp_path / "data"), *options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        bench = Bench(process, _address(process, "bench"), _address(process, "Game Manager"))
        running.append(bench)
        return bench

    yield start
    for bench in running:
        if bench.process.poll() is None:
            bench.stop()
        assert bench.process.stdout is not None
        bench.process.stdout.close()


def _address(process: subprocess.Popen[str], name: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        found = re.match(rf"\s+{name}\s+(http://\S+)", line)
        if found:
            return found[1]
    raise AssertionError(f"the bench ended before it said where its {name} is")


@pytest.fixture
def page() -> Iterator[Page]:
    """A page at the size of a 10-inch touch screen's big brother; console errors fail the test."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium, "Chromium is missing: run `make setup-test`"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.extend(_foreign(request.url)))
        yield page
        browser.close()
    assert not problems, problems


def _foreign(url: str) -> list[str]:
    return [] if re.match(r"(http://127\.0\.0\.1:|data:|blob:)", url) else [f"left for {url}"]
