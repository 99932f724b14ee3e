"""The product as a newcomer starts it, and a real Chromium to look at it with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.kit import bench_process
from tests.kit.bench_process import Bench
from tests.kit.chromium import launch_chromium


@pytest.fixture
def start_bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    running: list[Bench] = []

    def start(table: str = "four-card-touch", *options: str) -> Bench:
        bench = bench_process.start(tmp_path / "data", table, *options)
        running.append(bench)
        return bench

    yield start
    for bench in running:
        bench.clean_up()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """For who opens pages of its own; one start of it serves a whole module."""
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture
def page() -> Iterator[Page]:
    """A page at the size of a 10-inch touch screen's big brother; console errors fail the test."""
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright, whole=True)
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.extend(_foreign(request.url)))
        yield page
        browser.close()
    assert not problems, problems


def _foreign(url: str) -> list[str]:
    return [] if re.match(r"(http://127\.0\.0\.1:|data:|blob:)", url) else [f"left for {url}"]
