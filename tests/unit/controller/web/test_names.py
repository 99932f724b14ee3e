"""What a hand pays is written as people at the table say it: money, level, game."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.web.app import build, build_display
from controller.web.view import _game, _heading, _notices
from protocol.numbers import PAY_FOR_ONE, PAY_PERCENT
from protocol.wire.settings import GameSetting, HandSetting, MeterSetting
from tests.kit.message_samples import SETTINGS
from tests.kit.page_client import Browser
from tests.kit.table_views import FakeTable, seats, table_view

GAME = GameSetting(
    "A",
    "crazy-4/multi-game-link/ML01",
    "Crazy 4 Poker Multi-Game Progressive",
    500,
    (MeterSetting("mega", "Mega"), MeterSetting("major", "Major")),
    (
        HandSetting("royal-flush", "Royal Flush", PAY_PERCENT, 1_000_000, "mega", 100_000),
        HandSetting("straight-flush", "Straight Flush", PAY_PERCENT, 1_000_000, "major", 0),
        HandSetting("four-of-a-kind", "Four of a Kind", PAY_FOR_ONE, 300, "", 0),
    ),
)


def test_a_fixed_pay_is_money_for_the_wager_in_play() -> None:
    """Catches: a $5 table that shows what a $1 wager pays."""
    hand = _game(GAME)["hands"][2]
    assert (hand["amount_cents"], hand["for_one"], hand["pays"]) == (150_000, 300, "300 for 1")


def test_each_percentage_names_its_level() -> None:
    hands = _game(GAME)["hands"]
    assert [(hand["pays"], hand["level_label"]) for hand in hands[:2]] == [
        ("100 %", "Mega"),
        ("100 %", "Major"),
    ]
    assert (hands[0]["amount_cents"], hands[0]["for_one"]) == (None, None)
    assert _game(GAME)["meters"] == ["mega", "major"]


def test_the_heading_is_the_games_titles_or_the_tables_name() -> None:
    assert _heading("Table 4", None) == "Table 4"
    titles = [game.title for game in SETTINGS.games]
    assert _heading("Table 4", SETTINGS) == " · ".join(titles)


def test_panel_and_display_write_money_with_for_1_beside_it() -> None:
    table = FakeTable(table_view(games=[_game(GAME)]))
    panel, display = (Browser(pages(table)).get("/").text for pages in (build, build_display))
    assert '<span class="hand-pays">$1,500.00</span>' in panel
    assert '<span class="hand-level">300 for 1</span>' in panel
    assert '<span class="hand-pays">100 %</span><span class="hand-level">Major</span>' in panel
    assert '<td class="pays">$1,500.00</td><td class="for-one">300 for 1</td>' in display
    assert '<td class="pays">100 %</td><td class="level">Mega</td>' in display


def test_both_games_of_a_dual_table_carry_their_letter_everywhere() -> None:
    games = [
        {**_game(GAME), "letter": letter, "meters": [meter]}
        for letter, meter in (("A", "main"), ("B", "second"))
    ]
    meter = table_view()["meters"][0]
    meters = [meter, {**meter, "id": "second", "label": "Second"}]
    view = table_view(games=games, meters=meters, seats=seats(["off"] * 6, "AB"))
    panel, display = Browser(build(FakeTable(view))), Browser(build_display(FakeTable(view)))
    mark = '<b class="game-letter" data-letter="{0}">{0}</b>'.format
    for letter in "AB":
        # the panel: six lamps, the meter and the row of hands; the display: meter and paytable
        assert panel.get("/").text.count(mark(letter)) == 6 + 1 + 1
        assert display.get("/").text.count(mark(letter)) == 1 + 1


def test_a_table_with_one_game_needs_no_letter() -> None:
    browser = Browser(build_display(FakeTable()))
    assert "game-letter" not in browser.get("/").text


def test_the_display_posts_the_houses_words_and_then_the_limits() -> None:
    meter = MeterSetting("mega", "Mega", limit_cents=25_000_000)
    game = GAME._replace(meters=(meter, *GAME.meters[1:]))
    settings = replace(SETTINGS, games=(game,), notices=("Each winner is paid in full.",))
    notices = _notices(settings)
    assert notices == ["Each winner is paid in full.", "Mega: limited to $250,000.00."]
    page = Browser(build_display(FakeTable(table_view(notices=notices)))).get("/").text
    assert "<span>Mega: limited to $250,000.00.</span>" in page


@pytest.mark.parametrize(("per_player", "whom"), [(False, "the table"), (True, "each player")])
def test_the_display_posts_the_aggregate_limit(per_player: bool, whom: str) -> None:
    settings = replace(
        SETTINGS, aggregate_limit_cents=2_500_000, aggregate_per_player=per_player, notices=()
    )
    assert _notices(settings)[-1] == (
        f"Aggregate limit: $25,000.00 a round for {whom}, on pays of 50 to 1 or more, not on envy."
    )
    assert not any("Aggregate" in notice for notice in _notices(SETTINGS))


def test_the_logo_is_drawn_as_a_path_and_nothing_else() -> None:
    theme = {"accent": "#e0b040", "background": "", "logo": "M1 1h9v9z"}
    page = Browser(build_display(FakeTable(table_view(theme=theme)))).get("/").text
    assert '<path id="logo" d="M1 1h9v9z"/>' in page
    assert 'id="logo"' not in Browser(build_display(FakeTable())).get("/").text
