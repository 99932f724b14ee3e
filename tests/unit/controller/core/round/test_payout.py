"""The preview of a win: pay order, amounts, envy, and who must authorise."""

from __future__ import annotations

import itertools

import pytest

from controller.core.round import payout
from protocol import numbers


def test_the_dealers_right_is_paid_first_then_by_letter():
    lines = [["2B", "x"], ["7A", "x"], ["2A", "x"], ["12A", "x"]]
    assert [line[0] for line in payout.pay_order(lines)] == ["12A", "7A", "2A", "2B"]


def test_two_percentages_of_one_meter_are_left_to_the_manager(touch):
    """Catches: amounts that only one award policy would pay (drop `alone`)."""
    lines = [["2A", "four-of-a-kind"], ["7A", "four-of-a-kind"]]
    assert payout.price(touch.rules, lines, {"main": 1_000_019}) == [
        ["7A", "four-of-a-kind", None, "main", 1],
        ["2A", "four-of-a-kind", None, "main", 1],
    ]


def test_a_percentage_alone_is_truncated(touch):
    (line,) = payout.price(touch.rules, [["7A", "four-of-a-kind"]], {"main": 1_000_019})
    assert line[2] == 100_001


def test_a_meter_the_round_paid_from_before_is_left_to_the_manager(touch):
    """Catches: a later claim measured on what the first one left, whatever the policy."""
    paid = [["7A", "four-of-a-kind", 100_001, "main", 1], ["5A", "three-of-a-kind", 900, "", 0]]
    drawn = payout.drawn_meter_ids(touch.rules, paid)
    assert drawn == ["main"]
    assert payout.price(touch.rules, [["2A", "four-aces"]], {"main": 900_018}, drawn)[0][2] is None
    assert payout.drawn_meter_ids(touch.rules, paid[1:]) == []


def test_the_whole_meter(touch):
    assert payout.price(touch.rules, [["5A", "four-aces"]], {"main": 800_075}) == [
        ["5A", "four-aces", 800_075, "main", 1]
    ]


def test_beside_a_whole_meter_no_percentage_is_known(touch):
    """It may be divided, paid twice, or followed by a reseed."""
    lines = [["7A", "four-aces"], ["2A", "four-of-a-kind"]]
    priced = payout.price(touch.rules, lines, {"main": 800_075})
    assert [line[2] for line in priced] == [None, None]
    assert payout.total_cents(priced) is None


def test_a_meter_that_is_not_known_gives_no_amount(touch):
    assert payout.price(touch.rules, [["5A", "four-aces"]], {})[0][2] is None


def test_fixed_pays_are_n_times_the_wager(dual):
    lines = [["3A", "three-of-a-kind"], ["3B", "three-of-a-kind"]]
    assert [line[2] for line in payout.price(dual.rules, lines, {})] == [900, 2_500]


def test_a_hand_that_the_settings_do_not_know_has_no_amount_and_needs_an_executive(touch):
    priced = payout.price(touch.rules, [["5A", "gone"]], {"main": 1})
    assert priced == [["5A", "gone", None, "", 0]]
    assert payout.required_role(touch.rules, priced) == 2


def test_a_fixed_pay_is_known_but_not_the_percentage_beside_it(touch):
    touch.rules.games[0].hands = [
        hand
        if hand.hand_id != "straight-flush"
        else type(hand)("straight-flush", "", 2, 200, "main", 0)
        for hand in touch.rules.games[0].hands
    ]
    lines = [["7A", "straight-flush"], ["2A", "four-of-a-kind"]]
    priced = payout.price(touch.rules, lines, {"main": 120_000})
    assert priced == [
        ["7A", "straight-flush", 20_000, "main", 1],
        ["2A", "four-of-a-kind", None, "main", 1],
    ]


def test_envy_goes_to_every_other_bet_and_never_to_ones_own(touch):
    accepted = ["2A", "5A", "7A"]
    assert payout.envy_sheet(touch.rules, accepted, [["5A", "four-aces"]]) == [
        ["7A", 10_000],
        ["2A", 10_000],
    ]


def test_two_qualifying_players_get_each_others_envy(touch):
    lines = [["5A", "four-aces"], ["2A", "straight-flush"]]
    assert payout.envy_sheet(touch.rules, ["2A", "5A", "7A"], lines) == [
        ["7A", 10_500],
        ["5A", 500],
        ["2A", 10_000],
    ]


def test_a_hand_without_envy_makes_no_sheet(touch):
    assert payout.envy_sheet(touch.rules, ["2A", "5A"], [["5A", "three-of-a-kind"]]) == []


def test_envy_stays_within_its_game_and_outside_the_winners_seat(dual):
    accepted = ["2A", "2B", "3A", "3B", "5B"]
    assert payout.envy_sheet(dual.rules, accepted, [["3A", "four-aces"]]) == [["2A", 10_000]]


@pytest.mark.parametrize(
    ("hand", "amount_cents", "role"),
    [
        ("four-aces", 100, 2),
        ("four-of-a-kind", 499_999, 1),
        ("four-of-a-kind", 500_000, 2),
        ("straight-flush", 20_000, 1),
        ("three-of-a-kind", 900, 0),
        ("three-of-a-kind", 2_500, 0),
        ("three-of-a-kind", 2_501, 1),
        ("four-of-a-kind", 1, 1),
        ("four-of-a-kind", None, 1),
    ],
)
def test_the_role_by_level_and_by_amount(touch, hand, amount_cents, role):
    lines = [["5A", hand, amount_cents, "", 0]]
    assert payout.required_role(touch.rules, lines) == role


@pytest.mark.parametrize(
    ("authority", "hand", "amount_cents", "role"),
    [
        (numbers.ROLE_SUPERVISOR, "four-aces", 100, 1),
        (numbers.ROLE_SUPERVISOR, "four-aces", 499_999, 1),
        (numbers.ROLE_SUPERVISOR, "four-aces", 500_000, 2),
        (numbers.ROLE_EXECUTIVE, "four-of-a-kind", 100, 2),
        (numbers.ROLE_EXECUTIVE, "three-of-a-kind", 900, 0),
        (numbers.AUTHORITY_BY_PERCENT, "four-aces", 100, 2),
    ],
)
def test_a_meters_own_authority_and_the_amount_the_stricter_wins(
    touch, authority, hand, amount_cents, role
):
    """Catches: a Minor that grew large paid on a supervisor's card (drop the total)."""
    touch.rules.meter_authority = {"main": authority}
    assert payout.required_role(touch.rules, [["5A", hand, amount_cents, "", 0]]) == role


def test_the_amounts_of_a_claim_count_together(touch):
    lines = [["5A", "three-of-a-kind", 1_300, "", 0], ["2A", "three-of-a-kind", 1_300, "", 0]]
    assert payout.required_role(touch.rules, lines) == 1
    lines = [["5A", "four-of-a-kind", 300_000, "", 1], ["2A", "four-of-a-kind", 270_000, "", 1]]
    assert payout.required_role(touch.rules, lines) == 2


def test_two_hands_need_whoever_one_of_them_needs_or_both_together(touch):
    """Catches: an executive asked for only when every hand of a claim needs one."""
    hands = ("four-aces", "four-of-a-kind", "straight-flush", "three-of-a-kind", "no-such-hand")
    amounts = (100, 1_250, 1_251, 249_999, 250_000, 250_001)
    for first, second in itertools.product(itertools.product(hands, amounts), repeat=2):
        lines = [["5A", *first, "", 0], ["2A", *second, "", 0]]
        alone = [payout.required_role(touch.rules, [line]) for line in lines]
        total = first[1] + second[1]
        wanted = 2 if 2 in alone or total >= 500_000 else 1
        if alone == [0, 0] and total <= 2_500:
            wanted = 0
        assert payout.required_role(touch.rules, lines) == wanted, lines


def test_the_dealers_limit(touch):
    assert payout.is_within_dealer_limit(touch.rules, [["5A", "three-of-a-kind"]])
    assert not payout.is_within_dealer_limit(touch.rules, [["5A", "straight-flush"]])
    mixed = [["5A", "three-of-a-kind"], ["2A", "four-of-a-kind"]]
    assert not payout.is_within_dealer_limit(touch.rules, mixed)


def test_what_comes_after_an_unknown_hand_is_priced_all_the_same(touch):
    """Catches: pricing given up at the first hand that the settings do not know."""
    lines = payout.price(touch.rules, [["7A", "no-such-hand"], ["2A", "straight-flush"]], {})
    assert [line[2] for line in lines] == [None, 20_000]
