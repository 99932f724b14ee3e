"""The dealer's panel writes every name and amount whole, on every shipped table.

Mutations this catches: lamp words that run into each other on a dual table, and a hand button
that cuts off what the hand pays.
"""

from __future__ import annotations

from copy import deepcopy

import pytest
from playwright.sync_api import Browser, expect

from controller.web import app
from controller.words import HouseWords
from tests.kit.served_pages import Served
from tests.kit.shipped_views import TABLES, shipped_view
from tests.kit.table_views import FakeTable, claim, line

# The longest words of a lamp: a refused chip, and a bet of a void game.
REFUSED = {"en-US": "Refused", "es-US": "Rechazo"}
GIVE_BACK = {"en-US": "Give back", "es-US": "Devolver"}
SIZES = [(1024, 600), (1280, 800)]

# Words of lamps that touch each other, and words of a hand that leave their button.
CROWDED = """() => {
  const words = [...document.querySelectorAll('.sensor-word')];
  const boxes = words.map(e => [e, e.getBoundingClientRect()]);
  const crowded = boxes.filter(([e, a]) => boxes.some(([f, b]) => e !== f
    && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
  const cut = [...document.querySelectorAll('.hand span')].filter(e => {
    const a = e.getBoundingClientRect(), b = e.closest('.hand').getBoundingClientRect();
    return e.scrollWidth > Math.ceil(a.width) || a.right > b.right || a.bottom > b.bottom;
  });
  return [...crowded.map(([e]) => e), ...cut].map(e => e.textContent);
}"""


@pytest.mark.browser
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("language", ["en-US", "es-US"])
def test_lamp_words_and_hands_are_written_whole(
    chromium: Browser, name: str, language: str
) -> None:
    view = deepcopy(shipped_view(name))
    for seat in view["seats"]:
        for sensor in seat["sensors"]:
            sensor["light"] = "refused"
    table = FakeTable(view)
    with Served(app.build(table, words=HouseWords(language))) as served:
        page = chromium.new_page()
        page.goto(served.url)
        for words, voided in ((REFUSED, []), (GIVE_BACK, [seat["seat"] for seat in view["seats"]])):
            served.do(table.change, voided=voided)
            expect(page.locator(".sensor-word").first).to_have_text(words[language])
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                assert page.evaluate(CROWDED) == [], f"at {width} x {height}"
        page.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "sensor", "hand", "words"),
    [
        ("face-up-pai-gow-dual", "5A", "five-aces", "10 %"),
        ("face-up-pai-gow-dual", "5B", "five-aces", "100 %"),
        ("crazy-4-multi-link", "5A", "four-of-a-kind", "100 % Minor"),
    ],
)
def test_a_hand_without_an_amount_shows_what_its_own_game_pays(
    chromium: Browser, name: str, sensor: str, hand: str, words: str
) -> None:
    """Catches: five aces on sensor A shown with what they pay on sensor B."""
    table = FakeTable(deepcopy(shipped_view(name)))
    games = shipped_view(name)["games"]
    label = next(h["label"] for game in games for h in game["hands"] if h["id"] == hand)
    entered = {**line(1, 5, "four-aces", 0), "sensor": sensor, "hand": hand, "label": label}
    entered["amount_cents"] = None
    with Served(app.build(table)) as served:
        page = chromium.new_page(viewport={"width": 1024, "height": 600})
        page.goto(served.url)
        preview = claim("preview", [entered], [])
        served.do(table.change, state="claim", claim=preview)
        expect(page.locator("#preview-lines .line-amount")).to_have_text(words)
        expect(page.locator("#preview-lines .row-seat b")).to_have_text("5")
        letter = sensor[-1] if len(games) > 1 else ""
        expect(page.locator("#preview-lines .line-game")).to_have_text(letter)
        page.close()
