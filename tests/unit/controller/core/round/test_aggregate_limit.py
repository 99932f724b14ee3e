"""A claim whose fixed pays pass the house's limit is named, and needs an executive."""

from __future__ import annotations

import pytest

from controller.core.round import commands, payout
from controller.core.round.guide import Around, guide
from controller.core.round.rules import Game, Hand, Rules
from protocol import numbers
from tests.kit.core_table import Table, make_rules

STRAIGHT = ["2A", "straight-flush", 20_000, "", numbers.SOURCE_TRAY]
OTHER = ["5A", "straight-flush", 20_000, "", numbers.SOURCE_TRAY]
SMALL = ["4A", "three-of-a-kind", 900_000, "", numbers.SOURCE_TRAY]
SHARE = ["3A", "four-aces", 9_000_000, "main", numbers.SOURCE_METER]


def limited(cents: int, per_player: bool = False) -> Rules:
    rules = make_rules()
    rules.aggregate_limit_cents, rules.aggregate_per_player = cents, per_player
    return rules


def test_without_a_limit_nothing_passes_it() -> None:
    assert not payout.passes_limit(limited(0), [STRAIGHT, OTHER])


@pytest.mark.parametrize(
    ("cents", "per_player", "passes"),
    [(40_000, False, False), (39_999, False, True), (20_000, True, False), (19_999, True, True)],
)
def test_the_table_counts_together_and_each_player_alone(
    cents: int, per_player: bool, passes: bool
) -> None:
    rules = limited(cents, per_player)
    assert payout.passes_limit(rules, [STRAIGHT, OTHER]) is passes
    role = payout.required_role(rules, [STRAIGHT, OTHER])
    assert role == (numbers.ROLE_EXECUTIVE if passes else numbers.ROLE_SUPERVISOR)


def test_neither_a_meters_share_nor_a_small_prize_counts() -> None:
    """Catches: a limit on the players' own money, or on less than 50 to 1."""
    assert not payout.passes_limit(limited(5_000), [SHARE, SMALL])


def test_what_is_not_priced_yet_counts_as_nothing() -> None:
    unpriced = [[*line[:2], None, *line[3:]] for line in (STRAIGHT, OTHER)]
    assert not payout.passes_limit(limited(1), unpriced)


def test_what_comes_after_a_meters_share_still_counts() -> None:
    assert payout.passes_limit(limited(19_999), [SHARE, SMALL, STRAIGHT])


def test_the_panel_names_the_limit_and_asks_for_an_executive() -> None:
    table = Table(limited(10_000))
    table.start("2A", "5A")
    table.select(2, "straight-flush")
    table.accept(commands.confirm())
    table.accept(commands.award(1, [STRAIGHT], [], numbers.ROLE_SUPERVISOR, False))
    sentence = guide(table.state, table.rules, Around([])).sentence
    assert sentence.startswith("Fixed pays pass the limit of $100.00.")
    assert sentence.endswith("swipe a card: EXECUTIVE.")
    assert "EXECUTIVE" in table.refuse(commands.card(numbers.ROLE_SUPERVISOR, b"s" * 16))
    table.accept(commands.card(numbers.ROLE_EXECUTIVE, b"e" * 16))


@pytest.mark.parametrize(("for_one", "passes"), [(50, False), (51, True)])
def test_fifty_for_one_is_forty_nine_to_one_and_not_limited(for_one: int, passes: bool) -> None:
    rules = limited(1)
    hand = Hand("edge", "Edge", numbers.PAY_FOR_ONE, for_one, "", 0)
    rules.games[0] = Game("A", "Four Card Progressive", 100, [hand])
    assert payout.passes_limit(rules, [["2A", "edge", 5_000, "", 0]]) is passes
