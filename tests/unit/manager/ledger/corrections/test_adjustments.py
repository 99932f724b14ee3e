"""How much each reason may take off a meter, to the cent, and from which part of it."""

from __future__ import annotations

import pytest

from manager.ledger.corrections.adjustments import _reduction
from manager.ledger.corrections.reasons import Reduction
from manager.ledger.errors import LedgerError
from manager.ledger.pricing import MeterState
from manager.ledger.terms import Jackpot

CENT = 1_000_000
# 300 cents of players, 1,000 of the house, 40 in the reserve, and a cent more than the limit.
STATE = MeterState("main", 1_000 * CENT, 300 * CENT, 1_000 * CENT, 40 * CENT)
LIMIT_CENTS = 1_290


def terms(limit_cents: int = LIMIT_CENTS) -> Jackpot:
    return Jackpot("main", "Main", 1_000, 1_000, 0, 0, False, "tray", limit_cents=limit_cents)


@pytest.mark.parametrize(
    ("reason", "most", "taker"),
    [
        (Reduction.GROSS_RECEIPTS, 40, "house/share"),
        (Reduction.SEED_RECOVERY, 1_000, "house/seed"),
        (Reduction.OVER_LIMIT, 10, "reserve/main"),
        (Reduction.AMOUNT_WON, 1_300, "players"),
        (Reduction.MALFUNCTION, 1_300, "house/adjustments"),
    ],
)
def test_a_reduction_takes_what_is_there_and_not_a_cent_more(
    reason: Reduction, most: int, taker: str
) -> None:
    for cents in (1, most):
        moved = dict(_reduction(terms(), STATE, cents * CENT, reason))
        assert sum(moved.values()) == 0
        assert moved[taker] == cents * CENT
        if reason in (Reduction.OVER_LIMIT, Reduction.AMOUNT_WON, Reduction.MALFUNCTION):
            players = min(cents, 300)
            drawn = (moved["meter/main/player"], moved["meter/main/house"])
            assert drawn == (-players * CENT, (players - cents) * CENT)
    with pytest.raises(LedgerError, match="no more can be taken"):
        _reduction(terms(), STATE, (most + 1) * CENT, reason)


@pytest.mark.parametrize("limit_cents", [0, 1_300, 5_000])
def test_nothing_stands_above_a_limit_that_is_not_reached(limit_cents: int) -> None:
    with pytest.raises(LedgerError, match=r"Only \$0\.00 stands on meter main above its limit"):
        _reduction(terms(limit_cents), STATE, CENT, Reduction.OVER_LIMIT)
