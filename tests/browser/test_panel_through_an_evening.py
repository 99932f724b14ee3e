"""Every shipped table's panel through an evening, on both panels a house uses.

Each step of a played evening is shown. Every button can be hit by a finger, and no text is cut off
or leaves its box. Mutations this catches: a button of the bar as low as its words, a header in
which one button too many pushes the link's badge off the screen, a sheet of reasons as wide as its
words, reasons that come up below what can be seen, a sentence that is longer than its line, and the
mark of a lost link above its badge.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from controller.core.round.voiding import REASON_WORDS
from controller.last_wins import COUNT_MAX
from controller.web import app
from controller.words import HouseWords
from tests.kit.cut_off import CUT_OFF, FRAMES
from tests.kit.places import ROOT
from tests.kit.played_views import played_views
from tests.kit.served_pages import Served
from tests.kit.shipped_views import LOOKS
from tests.kit.table_views import FakeTable, guided, table_view

pytestmark = pytest.mark.browser
SIZES = [(1024, 600), (1280, 800)]
GUIDE = ROOT / "tests/golden/guide.txt"
FINGER_PX = 44
TOUCH = [name for name in LOOKS if "keypad" not in name]

SMALL = """least => [...document.querySelectorAll('button, summary')]
  .filter(button => button.checkVisibility())
  .map(button => [button.textContent.trim(), button.getBoundingClientRect()])
  .filter(([_, box]) => Math.min(box.width, box.height) < least - 0.5)
  .map(([name, box]) => `${name} ${Math.round(box.width)} x ${Math.round(box.height)}`)"""
OWED = (
    "Seats 7, 6, 5, 4, 3, 2, 1 are still owed $99,999,999.99 in all. "
    "Tick them off, or press END GAME again."
)
LETTERS = ("A", "B")  # on a lamp's shoulder, outside of the lamp on purpose
# The table's own name may give way to news; everything else in the bar must be whole.
TEXTS = (
    ".bar > :not(h1, .badges), .badges > p, .badges summary, .message, .actions, .hands, .seats,"
    " .well, .sheet:not([hidden])"
)


# A badge is as high as the bar: a third line in it leaves it above and below.
TALL = """() => [...document.querySelectorAll('.badges > p')]
  .filter(badge => badge.scrollHeight > badge.clientHeight + 1)
  .map(badge => `${badge.textContent.trim()} is too tall`)"""


PROBLEMS = f"""async ([texts, least]) => {{
  await {FRAMES};
  return [...({SMALL})(least), ...({CUT_OFF})(texts), ...({TALL})()];
}}"""


def problems(page: Page, texts: str = TEXTS) -> list[str]:
    found = page.evaluate(PROBLEMS, [texts, FINGER_PX])
    return [text for text in found if text not in LETTERS]


@pytest.mark.parametrize("language", ["en-US", "es-US"])
@pytest.mark.parametrize("name", LOOKS)
def test_every_step_can_be_read_and_touched(chromium: Browser, name: str, language: str) -> None:
    steps = played_views(name)
    table = FakeTable(deepcopy(steps[0][1]))
    words = HouseWords(language)
    found: list[Any] = []
    with Served(app.build(table, words=words)) as served:
        page = chromium.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        page.goto(served.url)
        for step, view in steps:
            served.do(table.change, **deepcopy(view))
            told = words.panel.translate(view["guide"]["sentence"])
            expect(page.locator("#message-text")).to_have_text(told)
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                found += [(step, width, problem) for problem in problems(page)]
        page.close()
    assert found == []


def every_sentence() -> set[str]:
    """All that the guide says in any situation, as it was read and approved."""
    rows = [row.split(" | ") for row in GUIDE.read_text().splitlines() if " | " in row]
    return {row[2] for row in rows}


@pytest.mark.parametrize("can_reopen", [True, False])
@pytest.mark.parametrize("language", ["en-US", "es-US"])
def test_every_sentence_is_whole_beside_its_badge_and_reopen(
    chromium: Browser, language: str, can_reopen: bool
) -> None:
    """Catches: the sentence of an opened cabinet in a game, which took three lines of two."""
    table = FakeTable(table_view(can_reopen=can_reopen))
    words = HouseWords(language)
    found: list[Any] = []
    with Served(app.build(table, words=words)) as served:
        page = chromium.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        page.goto(served.url)
        expect(page.locator(".reopen")).to_be_visible(visible=can_reopen)
        for sentence in [*sorted(every_sentence(), key=len)[-15:], OWED]:
            served.do(table.change, guide=guided(sentence, "refused"))  # the widest badge
            expect(page.locator("#message-text")).to_have_text(words.panel.translate(sentence))
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                found += [(width, text) for text in problems(page, ".message")]
        page.close()
    assert found == []


def last_evening() -> dict[str, Any]:
    """As many wins and games as a table keeps, late in a long night."""
    line = {"order": 1, "seat": 5, "sensor": "5A", "hand": "four-aces", "label": "Four Aces"}
    won = {"win": 7, "reversed": True, "lines": [line | {"amount_cents": 800_075}], "envy": []}
    games = [{"round": 10_008 - n, "wall_ms": 1_767_268_800_000} for n in range(COUNT_MAX)]
    return {"last_wins": [game | won for game in games], "last_games": games}


@pytest.mark.parametrize("language", ["en-US", "es-US"])
@pytest.mark.parametrize("name", TOUCH)
def test_every_open_sheet_of_the_bar_is_whole(chromium: Browser, name: str, language: str) -> None:
    steps = dict(played_views(name))
    table = FakeTable(deepcopy(steps["START"]))
    found: list[Any] = []

    def look(sheet: str, texts: str) -> None:
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            found.extend((sheet, width, text) for text in problems(page, texts))

    with Served(app.build(table, words=HouseWords(language))) as served:
        page = chromium.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        page.goto(served.url)
        page.locator("#void summary").click()
        expect(page.locator("#void button")).to_have_count(len(REASON_WORDS))
        look("void", "#void")
        served.do(table.change, **deepcopy(steps["opened"]) | last_evening())
        page.locator("#last-wins summary").click()
        page.locator("#forgotten-games button").last.click()
        expect(page.locator("#forgotten-reasons button").last).to_be_visible()
        look("forgotten", "#forgotten, #last-wins-list > :first-child")
        page.locator("#last-wins summary").click()
        page.locator("#rules summary").click()
        expect(page.locator("#find")).to_be_visible()
        look("rules", "#rules p, #rules-list > :first-child")
        page.close()
    assert found == []


def test_the_last_wins_are_a_touch_away(chromium: Browser) -> None:
    table = FakeTable(table_view(last_wins=last_evening()["last_wins"][-1:]))
    with Served(app.build(table)) as served:
        page = chromium.new_page(viewport={"width": 1024, "height": 600})
        page.goto(served.url)
        page.locator("#last-wins summary").click()
        row = page.locator(".last-win")
        for words in ("game 10001", "Seat 5", "Four Aces", "$8,000.75", "reversed"):
            expect(row).to_contain_text(words)
        box = page.locator("#last-wins-list").bounding_box()
        assert box
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 1024
        served.do(table.change, last_wins=[])
        expect(row).to_have_text("No win yet.")
        page.close()
