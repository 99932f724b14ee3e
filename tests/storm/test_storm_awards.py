"""The checkers' own books settle awards as the money document says, worked out here by hand."""

from __future__ import annotations

from sim.runs.storm.checks.awards import MICRO, Earlier, Meter, Paid, pay
from sim.runs.storm.checks.terms import HandTerms, MeterTerms

TOP = HandTerms("main", 1_000_000, 0, 0)
TENTH = HandTerms("main", 100_000, 0, 0)
FROM_METER = HandTerms("main", 0, 5_000, 0)
FROM_TRAY = HandTerms("", 0, 700, 0)


def meter(policy: str, posted: bool = False) -> Meter:
    """1000.01 on it, of which 0.01 is the players'; 20.00 in reserve; a seed of 100.00."""
    terms = MeterTerms(10_000, 100_000, 0, 0, False, policy, posted)
    return Meter(terms, player=1 * MICRO, house=100_000 * MICRO, reserve=2_000 * MICRO)


def cents(paid: list[Paid]) -> list[tuple[int, int]]:
    return [(each.line, each.cents) for each in paid]


def test_sequential_takes_each_on_what_the_one_before_left() -> None:
    main = meter("sequential")
    paid = pay([TENTH, TOP, FROM_TRAY, TENTH], {"main": main}, {})
    # 10000 of 100001; the 90001 left; then a tenth of seed and reserve, 12000.
    assert cents(paid) == [(0, 10_000), (1, 90_001), (2, 700), (3, 1_200)]
    assert [each.reseeds for each in paid] == [False, True, False, False]
    assert (main.total, main.reserve) == (10_800 * MICRO, 0)


def test_shared_winners_are_one_award_at_the_place_of_the_first() -> None:
    main = meter("equal_share")
    paid = pay([TOP, TENTH, TOP, TOP], {"main": main}, {})
    # 100001 by three leave 2 cents; with seed and reserve 12002; then a tenth of that.
    assert cents(paid) == [(0, 33_333), (2, 33_333), (3, 33_333), (1, 1_200)]
    assert [each.reseeds for each in paid] == [False, False, True, False]
    assert main.total == (12_002 - 1_200) * MICRO


def test_everyone_in_full_is_measured_before_the_first_and_reseeded_after_the_last() -> None:
    main = meter("each_full")
    paid = pay([FROM_METER, TOP, TENTH, TOP], {"main": main}, {})
    assert cents(paid) == [(0, 5_000), (1, 100_001), (2, 10_000), (3, 100_001)]
    assert [each.reseeds for each in paid] == [False, False, False, True]
    assert sum(each.pocket for each in paid) == (5_000 + 10_000 + 100_001) * MICRO
    assert main.total == 12_000 * MICRO


def test_a_later_claim_of_the_round_is_measured_alike_and_spares_the_new_seed() -> None:
    main = meter("each_full")
    earlier = {"main": Earlier(200_000 * MICRO, emptied=True)}
    [top, fixed] = pay([TOP, FROM_METER], {"main": main}, earlier)
    assert (top.cents, top.pocket, top.reseeds) == (200_000, 200_000 * MICRO, False)
    assert (fixed.cents, fixed.pocket, fixed.reseeds) == (5_000, 0, False)
    main = meter("each_full")
    [top] = pay([TOP], {"main": main}, {"main": Earlier(200_000 * MICRO, emptied=False)})
    assert (top.cents, top.pocket, top.reseeds) == (200_000, 99_999 * MICRO, True)


def test_a_posted_prize_is_the_houses_and_never_moves() -> None:
    main = meter("each_full", posted=True)
    paid = pay([TOP, TENTH, TOP], {"main": main}, {})
    assert cents(paid) == [(0, 100_001), (1, 10_000), (2, 100_001)]
    assert all(each.pocket == each.cents * MICRO and not each.reseeds for each in paid)
    assert main.total == 100_001 * MICRO


def test_amounts_that_were_fixed_are_paid_whatever_the_meter_holds_now() -> None:
    main = meter("equal_share")
    paid = pay([TOP, TENTH, TOP], {"main": main}, {}, [70_000, 1, 70_000])
    assert cents(paid) == [(0, 70_000), (2, 70_000), (1, 1)]
    assert sum(each.pocket for each in paid) == 39_999 * MICRO
