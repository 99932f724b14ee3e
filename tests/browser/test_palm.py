"""Several fingers on the panel, in real Chromium: a palm presses nothing, a thumb stops nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from controller.inputs.presses import SEVERAL
from controller.web import app
from tests.kit.chromium import launch_chromium
from tests.kit.served_pages import Served
from tests.kit.table_views import FakeAnswer, FakeTable

pytestmark = pytest.mark.browser
BLANK = {"x": 3, "y": 3}


class Table(FakeTable):
    """Refuses what was touched together, as the unit does."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, list[str]]] = []

    async def press(self, button: str, beside: Collection[str] = ()) -> FakeAnswer:
        self.told.append((button, list(beside)))
        return FakeAnswer(not beside, SEVERAL if beside else "")


class Glass:
    """The touch screen: every finger by its own, as a driver tells them."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._driver = page.context.new_cdp_session(page)

    def at(self, button: str) -> dict[str, float]:
        box = self._page.locator(f'[data-button="{button}"]').first.bounding_box()
        assert box is not None
        return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}

    def fingers(self, kind: str, *points: dict[str, float]) -> None:
        numbered: list[dict[str, Any]] = [{**point, "id": n} for n, point in enumerate(points)]
        self._driver.send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": numbered}
        )

    def tap(self, *points: dict[str, float]) -> None:
        """All at once on the glass and off it; the panel has asked and heard the answer."""
        with self._page.expect_response(lambda answer: answer.url.endswith("/press")):
            self.fingers("Start", *points)
            self.fingers("End")


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[Page, Table]]:
    table = Table()
    with Served(app.build(table)) as served, sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        size = {"width": 1024, "height": 600}
        page = browser.new_context(has_touch=True, viewport=size).new_page()  # type: ignore[arg-type]
        page.goto(served.url)
        yield page, table
        browser.close()


@pytest.fixture
def glass(opened: tuple[Page, Table]) -> Glass:
    page, table = opened
    page.reload()  # no button was pressed a moment ago
    expect(page.locator(".action[data-next]")).not_to_have_count(0)  # the first view came
    table.told.clear()
    return Glass(page)


def test_a_press_alone_is_told_alone(glass: Glass, opened: tuple[Page, Table]) -> None:
    glass.tap(glass.at("START"))
    assert opened[1].told == [("START", [])]


def test_a_palm_is_told_once_and_with_everything_it_touched(
    glass: Glass, opened: tuple[Page, Table]
) -> None:
    """Catches: a palm that starts a game, and one that the panel passes over in silence."""
    page, table = opened
    glass.tap(glass.at("START"), glass.at("END"), glass.at("SEAT 5"))
    expect(page.get_by_text(SEVERAL)).to_be_visible()
    ((button, beside),) = table.told
    assert sorted([button, *beside]) == ["END", "SEAT 5", "START"]


def test_a_thumb_on_the_edge_takes_no_press_away(glass: Glass, opened: tuple[Page, Table]) -> None:
    """Catches: waiting for a click, which no browser makes under two fingers."""
    glass.tap(BLANK, glass.at("START"))
    assert opened[1].told == [("START", [])]


def test_fingers_that_roll_over_two_buttons_are_told_together(
    glass: Glass, opened: tuple[Page, Table]
) -> None:
    start, seat = glass.at("START"), glass.at("SEAT 5")
    glass.fingers("Start", start)
    glass.tap(start, seat)
    ((button, beside),) = opened[1].told
    assert sorted([button, *beside]) == ["SEAT 5", "START"]


def test_one_finger_after_another_presses_both(glass: Glass, opened: tuple[Page, Table]) -> None:
    glass.tap(glass.at("SEAT 5"))
    glass.tap(glass.at("CONFIRM"))
    assert opened[1].told == [("SEAT 5", []), ("CONFIRM", [])]


def test_a_key_of_a_keyboard_touches_nothing_else(glass: Glass, opened: tuple[Page, Table]) -> None:
    page, table = opened
    page.locator('[data-button="END"]').first.focus()
    with page.expect_response(lambda answer: answer.url.endswith("/press")):
        page.keyboard.press("Enter")
    assert table.told == [("END", [])]
