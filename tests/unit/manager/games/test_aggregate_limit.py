"""The aggregate limit cuts big prizes alike, per table or per player, and never envy."""

from __future__ import annotations

import pytest

from manager.games.rules.aggregate import PER_PLAYER, PER_TABLE, AggregateLimit, apply_limit
from manager.games.rules.settlement import WIN, RuleError, Settled

BIG = Settled("bonus", 500, WIN, 400_000, "royal-flush")
HALF = Settled("bonus", 500, WIN, 200_000, "straight-flush")
SMALL = Settled("bonus", 500, WIN, 24_500, "four-of-a-kind")  # 49 to 1
ENVY = Settled("envy", 0, WIN, 500_000)


def pays(limit: AggregateLimit, *seats: list[Settled]) -> list[list[int]]:
    limited = apply_limit(limit, dict(enumerate(seats, start=1)))
    return [[bet.pay_cents for bet in limited[seat]] for seat in sorted(limited)]


def test_below_the_limit_everybody_gets_everything() -> None:
    limit = AggregateLimit(600_000, PER_TABLE)
    assert pays(limit, [BIG], [HALF]) == [[400_000], [200_000]]


def test_above_it_each_prize_keeps_the_same_part() -> None:
    limit = AggregateLimit(300_000, PER_TABLE)
    assert pays(limit, [BIG], [HALF]) == [[200_000], [100_000]]
    assert pays(AggregateLimit(100_000, PER_TABLE), [BIG], [BIG], [BIG]) == [[33_333]] * 3


def test_per_player_each_has_a_limit_of_his_own() -> None:
    limit = AggregateLimit(300_000, PER_PLAYER)
    assert pays(limit, [BIG], [HALF]) == [[300_000], [200_000]]


def test_small_prizes_and_envy_are_never_cut() -> None:
    """Catches: a limit on envy, which is no odds-based pay, or on less than 50 to 1."""
    limit = AggregateLimit(100_000, PER_TABLE)
    assert pays(limit, [BIG, ENVY], [SMALL]) == [[100_000, 500_000], [24_500]]


def test_a_limit_below_fifty_wagers_is_refused() -> None:
    AggregateLimit(25_000, PER_TABLE).check(500)
    with pytest.raises(RuleError, match="at least 50 times"):
        AggregateLimit(24_999, PER_TABLE).check(500)
