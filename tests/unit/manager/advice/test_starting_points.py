"""A seed and rates to start from: what the rule gives, and what that leaves for the house."""

from __future__ import annotations

import pytest

from manager.advice.advise import OTHER_BETTORS
from manager.advice.economics import economics
from manager.advice.starting_points import starting_point
from manager.advice.starting_rule import derived
from manager.games import Paytable, open_catalogue
from manager.ledger.terms import Jackpot
from manager.odds.figures import compute_odds

CATALOGUE = open_catalogue()
JACKPOTS = [name for name in CATALOGUE.ids() if CATALOGUE.load(name).is_jackpot]


def jackpot(paytable: Paytable, level: str) -> Jackpot:
    point = starting_point(paytable, level)
    assert point is not None
    return Jackpot(
        id=level,
        label=level,
        seed_cents=point.seed_cents,
        opening_cents=point.seed_cents,
        contribution_ppm=point.contribution_ppm,
        reserve_ppm=point.reserve_ppm,
        freeze_claims=False,
        fixed_pays_from="tray",
        type="progressive",
        award_policy="sequential",
        limit_cents=0,
    )


@pytest.mark.parametrize("name", JACKPOTS)
def test_the_file_has_what_the_rule_gives_and_the_house_keeps_a_fifth(name: str) -> None:
    """Catches: a pack whose odds changed, or a new one that nobody worked out."""
    paytable = CATALOGUE.load(name)
    odds = compute_odds(paytable)
    points = {level.id: starting_point(paytable, level.id) for level in paytable.levels}
    assert points == derived(odds)
    jackpots = {level: jackpot(paytable, level) for level in points}
    share = economics(odds, jackpots, 100, OTHER_BETTORS).house_share
    assert 0.19 <= float(share) <= 0.24


def test_a_paytable_of_the_houses_own_has_none() -> None:
    known = CATALOGUE.load(JACKPOTS[0])
    assert starting_point(known, "no such level") is None
