"""The arithmetic of meters, on copies."""

from __future__ import annotations

import pytest

from manager.ledger.awards.settling import settle
from manager.ledger.corrections.replacement import _still_possible
from manager.ledger.pricing import MeterState, Pay, Rate, Share, split_wager
from manager.money import MICROCENTS_PER_CENT, MoneyError

CENT = MICROCENTS_PER_CENT
ALL = Pay("5A", "all", "main", 1_000_000, 0)
TENTH = Pay("3A", "tenth", "main", 100_000, 0)


def meter(player: int = 0, house: int = 0, reserve: int = 0, seed: int = 0) -> MeterState:
    return MeterState("main", seed, player, house, reserve)


def test_a_wager_is_split_exactly() -> None:
    split = split_wager(100, [Rate("main", 250_000, 50_000)])
    assert split.shares[0].contribution_microcents == 25 * CENT
    assert split.shares[0].reserve_microcents == 5 * CENT
    assert split.house_microcents == 70 * CENT


def test_a_wager_of_one_cent_at_an_odd_rate_loses_nothing() -> None:
    split = split_wager(1, [Rate("mega", 333_333, 1), Rate("minor", 7, 0)])
    parts = sum(s.contribution_microcents + s.reserve_microcents for s in split.shares)
    assert parts + split.house_microcents == CENT
    assert split.shares[0].contribution_microcents == 333_333


def test_rates_above_the_wager_are_refused() -> None:
    with pytest.raises(MoneyError, match="more than the whole wager"):
        split_wager(100, [Rate("main", 999_999, 2)])


def test_a_whole_meter_award_pays_what_is_shown_and_reseeds_with_the_reserve_once() -> None:
    state = meter(player=75 * CENT, house=800_000 * CENT, reserve=15 * CENT, seed=1_000_000 * CENT)
    (first, second), after = settle([ALL, ALL], {"main": state})
    assert first.amount_cents == 800_075
    assert (first.player_microcents, first.house_microcents) == (75 * CENT, 800_000 * CENT)
    # The first reseed took the reserve, so the second one brings the seed alone.
    assert second.amount_cents == 1_000_015
    assert after["main"].total_microcents == 1_000_000 * CENT
    assert after["main"].reserve_microcents == 0


def test_player_money_is_drawn_before_the_house_s() -> None:
    (movement,), after = settle([TENTH], {"main": meter(player=100 * CENT, house=100 * CENT)})
    assert movement.amount_cents == 20
    assert (movement.player_microcents, movement.house_microcents) == (20 * CENT, 0)
    assert after["main"].house_microcents == 100 * CENT


def test_percentages_follow_one_another_on_what_is_left() -> None:
    movements, after = settle([TENTH, TENTH, TENTH], {"main": meter(player=1_000 * CENT)})
    assert [movement.amount_cents for movement in movements] == [100, 90, 81]
    assert after["main"].shown_cents == 729


def test_a_partial_award_never_reseeds_not_even_below_the_seed() -> None:
    state = meter(player=1_000 * CENT, reserve=50 * CENT, seed=1_000 * CENT)
    _, after = settle([TENTH], {"main": state})
    assert after["main"].total_microcents == 900 * CENT
    assert after["main"].reserve_microcents == 50 * CENT


def test_the_remainder_of_a_cent_stays_on_the_meter() -> None:
    state = meter(player=10 * CENT + 999_999, house=0, seed=5 * CENT)
    (movement,), after = settle([ALL], {"main": state})
    assert movement.amount_cents == 10
    assert after["main"].total_microcents == 5 * CENT + 999_999


def test_a_percentage_is_truncated_downward_and_may_be_nothing() -> None:
    (movement,), after = settle([TENTH], {"main": meter(player=9 * CENT)})
    assert movement.amount_cents == 0
    assert after["main"].player_microcents == 9 * CENT


def test_a_fixed_pay_from_the_meter_takes_the_rest_from_the_house() -> None:
    fixed = Pay("1A", "fifty", "main", 0, 5_000)
    (movement,), after = settle([fixed], {"main": meter(player=10 * CENT, house=90 * CENT)})
    assert movement.shortfall_microcents == 4_900 * CENT
    assert after["main"].total_microcents == 0


def test_a_fixed_pay_from_the_tray_leaves_every_meter_alone() -> None:
    meters = {"main": meter(player=10 * CENT)}
    (movement,), after = settle([Pay("1A", "fifty", "", 0, 5_000)], meters)
    assert (movement.amount_cents, after) == (5_000, meters)


def test_amounts_that_are_fixed_already_are_paid_as_they_are() -> None:
    state = meter(player=900 * CENT, seed=100 * CENT)
    (movement,), after = settle([ALL], {"main": state}, [800])
    assert movement.amount_cents == 800
    assert after["main"].total_microcents == 200 * CENT


def test_settling_leaves_the_copy_it_was_given_untouched() -> None:
    meters = {"main": meter(player=1_000 * CENT)}
    settle([ALL], meters)
    assert meters["main"].player_microcents == 1_000 * CENT


def test_a_contribution_reaches_meter_and_reserve() -> None:
    (share,) = split_wager(100, [Rate("main", 250_000, 50_000)]).shares
    assert share == Share("main", 25 * CENT, 5 * CENT)


def test_a_meter_below_zero_cannot_be() -> None:
    with pytest.raises(MoneyError):
        meter(player=-1)


@pytest.mark.parametrize(("left_cents", "is_possible"), [(1_000, True), (999, False)])
def test_what_comes_after_a_tray_pay_must_still_be_there(
    left_cents: int, is_possible: bool
) -> None:
    """Catches: a pay from the tray that ends the look at what the meters have left."""
    tray = Pay("6A", "fifty", "", 0, 5_000)
    movements, _ = settle([tray, ALL], {"main": meter(house=1_000 * CENT, seed=0)})
    now = {"main": meter(house=left_cents * CENT)}
    assert _still_possible(movements, now) is is_possible
