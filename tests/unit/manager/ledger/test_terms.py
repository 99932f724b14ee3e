"""A jackpot's terms: what they allow, and what it takes of a wager."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from manager.ledger.errors import LedgerError
from manager.ledger.terms import Jackpot
from manager.money import CENTS_MAX

CENT = 1_000_000
MAIN = Jackpot(
    id="main",
    label="Main",
    seed_cents=1_000,
    opening_cents=2_000,
    contribution_ppm=250_000,
    reserve_ppm=50_000,
    freeze_claims=False,
    fixed_pays_from="tray",
)
POSTED = replace(
    MAIN,
    type="house",
    contribution_ppm=0,
    reserve_ppm=0,
    award_policy="each_full",
    seed_cents=2_000,
)


@pytest.mark.parametrize(
    ("limit_cents", "opening_cents"), [(0, 2_000), (1_500, 1_500), (2_000, 2_000), (9_000, 2_000)]
)
def test_an_opening_above_a_later_limit_is_history(limit_cents: int, opening_cents: int) -> None:
    limited = MAIN.with_limit(limit_cents)
    assert (limited.limit_cents, limited.opening_cents) == (limit_cents, opening_cents)


def test_a_limit_leaves_so_much_room_and_never_less_than_none() -> None:
    limited = MAIN.with_limit(2_500)
    assert MAIN.rate(99 * CENT).room_microcents is None
    assert limited.rate(2_400 * CENT).room_microcents == 100 * CENT
    assert limited.rate(2_500 * CENT).room_microcents == 0
    assert limited.rate(2_600 * CENT).room_microcents == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"contribution_ppm": -1},
        {"reserve_ppm": -1},
        {"contribution_ppm": 950_001},
        {"fixed_pays_from": "purse"},
        {"type": "other"},
        {"award_policy": "other"},
        {"overflow_to": "purse"},
        {"limit_cents": 999},
        {"seed_cents": -1},
        {"opening_cents": CENTS_MAX + 1},
        {"limit_cents": 1_999},
    ],
)
def test_terms_that_cannot_hold_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(LedgerError):
        replace(MAIN, **wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"contribution_ppm": 1},
        {"reserve_ppm": 1},
        {"award_policy": "sequential"},
        {"opening_cents": 2_001},
        {"limit_cents": 5_000},
        {"fixed_pays_from": "meter"},
    ],
)
def test_a_house_jackpot_has_one_posted_prize(wrong: dict[str, Any]) -> None:
    assert POSTED.is_house
    with pytest.raises(LedgerError, match="House jackpot main"):
        replace(POSTED, **wrong)


def test_terms_at_their_bounds_hold() -> None:
    assert replace(MAIN, contribution_ppm=950_000).reserve_ppm == 50_000
    assert replace(MAIN, limit_cents=2_000).limit_cents == 2_000
    assert replace(MAIN, seed_cents=0, opening_cents=CENTS_MAX).seed_cents == 0
    assert replace(MAIN, contribution_ppm=0, reserve_ppm=0).rate().room_microcents is None
