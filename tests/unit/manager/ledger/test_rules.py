"""What a table's settings mean for money: prices, pay order, envy, and whose authority."""

from __future__ import annotations

from typing import Any

import pytest

from manager.ledger.errors import BookingRefused
from manager.ledger.pricing import Pay
from manager.ledger.rules import TableRules, award_line, seats_of_player
from protocol.numbers import (
    ROLE_DEALER,
    ROLE_EXECUTIVE,
    ROLE_SUPERVISOR,
    SOURCE_METER,
    SOURCE_TRAY,
)
from protocol.wire.rows import EnvyLine
from tests.kit.pretend_books import LEVELS, TERMS, Books, document, game

AUTHORITY: dict[str, Any] = {
    "dealer_limit": "25.00",
    "executive_percent": 50,
    "executive_from": "5000.00",
    "key": "EXECUTIVE",
}


def rules_of(books: Books, **top: Any) -> TableRules:
    """Two games on two meters each; game B costs five times as much."""
    jackpots = {"top": TERMS | top, "low": TERMS, "top-b": TERMS, "low-b": TERMS}
    first = game(LEVELS.id, mega="top", minor="low")
    games = {"A": first, "B": game(LEVELS.id, 500, mega="top-b", minor="low-b")}
    books.open(document(jackpots=jackpots, games=games, authority=AUTHORITY))
    return books.manager.book.tables.rules("touch-1")


@pytest.mark.parametrize(
    ("cents", "role"),
    [
        (0, ROLE_DEALER),
        (2_500, ROLE_DEALER),
        (2_501, ROLE_SUPERVISOR),
        (499_999, ROLE_SUPERVISOR),
        (500_000, ROLE_EXECUTIVE),
    ],
)
def test_how_much_a_claim_is_says_who_must_stand_for_it(
    books: Books, cents: int, role: int
) -> None:
    rules = rules_of(books)
    fixed = Pay("5A", "fifty", "", 0, cents)
    assert rules.role([fixed], [cents]) == role
    assert rules.role([fixed, fixed], [cents, 0]) == role, "by the whole claim"
    assert rules.role([fixed, fixed], [0, cents]) == role


@pytest.mark.parametrize(
    ("percent_ppm", "role"),
    [(1, ROLE_SUPERVISOR), (499_999, ROLE_SUPERVISOR), (500_000, ROLE_EXECUTIVE)],
)
def test_a_part_of_a_meter_is_never_the_dealers(books: Books, percent_ppm: int, role: int) -> None:
    """Catches: a jackpot that a dealer pays alone, because the meter stood low."""
    rules = rules_of(books)
    share = Pay("5A", "tenth", "top", percent_ppm, 0)
    assert rules.role([share], [1]) == role
    assert rules.role([share, Pay("3A", "fifty", "", 0, 1)], [1, 1]) == role
    assert rules.role([share], [500_000]) == ROLE_EXECUTIVE, "the strictest wins"


def test_a_hand_pays_by_its_own_game_and_wager(books: Books) -> None:
    rules = rules_of(books)
    assert rules.pay("5A", "fifty") == Pay("5A", "fifty", "", 0, 5_000)
    assert rules.pay("5B", "fifty") == Pay("5B", "fifty", "", 0, 25_000)
    assert rules.pay("5B", "tenth") == Pay("5B", "tenth", "top-b", 100_000, 0)
    with pytest.raises(BookingRefused, match="The game at 5A pays no hand royal"):
        rules.pay("5A", "royal")
    for sensor in ("0A", "8A", "5C"):
        with pytest.raises(BookingRefused, match=f"has no sensor {sensor}"):
            rules.game(sensor)
    assert (len(rules.games), "1A" in rules.games, "7B" in rules.games) == (14, True, True)


def test_envy_goes_to_the_others_of_the_same_game_once_for_each_hand(books: Books) -> None:
    """Catches: envy for one's own hand, for another game, or for a seat joined to the winner's."""
    rules = rules_of(books)
    mega, fifty = rules.pay("5A", "mega"), rules.pay("3A", "fifty")
    accepted = ("1A", "2A", "3A", "5A", "1B", "5B")
    each = {line.sensor: line.amount_cents for line in rules.envy(accepted, [mega])}
    assert each == {"1A": 10_000, "2A": 10_000, "3A": 10_000}
    both = {line.sensor: line.amount_cents for line in rules.envy(accepted, [mega, fifty])}
    assert both == {"1A": 10_500, "2A": 10_500, "3A": 10_000, "5A": 500}
    joined = rules.envy(accepted, [mega], ((2, 5), (1, 7)))
    assert joined == (EnvyLine("3A", 10_000), EnvyLine("1A", 10_000))
    assert rules.envy(accepted, [rules.pay("5A", "tenth")]) == ()


def test_a_player_has_the_seats_that_were_joined() -> None:
    assert seats_of_player(2, ()) == {2}
    assert seats_of_player(2, ((2, 5), (1, 7))) == {2, 5}
    assert seats_of_player(3, ((2, 5),)) == {3}


def test_one_meter_with_a_limit_makes_every_wager_its_own(books: Books) -> None:
    rules = rules_of(books)
    split = rules.split(rules.game("5A"))
    assert split is not None
    assert split.wager_microcents == 100 * 1_000_000
    assert rules.freezes_claims([rules.pay("5A", "mega")]) is False


def test_with_a_limit_or_a_meter_that_freezes_it_is_said(books: Books) -> None:
    rules = rules_of(books, limit="2000.00", freeze_claims=True)
    assert rules.split(rules.game("5A")) is None
    assert rules.freezes_claims([rules.pay("5A", "fifty"), rules.pay("3A", "mega")])
    assert not rules.freezes_claims([rules.pay("5A", "fifty"), rules.pay("3A", "minor")])
    assert rules.meter_ids == ("top", "low", "top-b", "low-b")
    assert rules.meter_labels[:2] == (("top", "Main"), ("low", "Main"))


def test_an_award_says_where_it_is_paid_from(books: Books) -> None:
    rules = rules_of(books)
    assert award_line(rules.pay("5A", "mega"), 7).source == SOURCE_METER
    assert award_line(rules.pay("5A", "fifty"), 7).source == SOURCE_TRAY
