"""A seed and rates to start from, derived from a paytable's exact odds, never quoted.

No approval document prints them. The rule leaves the house its share of each wager and spends the
rest on the players: a quarter on seeds, the others on the meters.
"""

from __future__ import annotations

from fractions import Fraction

from manager.advice.advise import OTHER_BETTORS
from manager.advice.economics import level_of, probability, resets
from manager.advice.starting_points import StartingPoint
from manager.money import PARTS_PER_MILLION
from manager.odds.figures import Odds

HOUSE_SHARE = Fraction(1, 5)
SEED_PART = Fraction(1, 4)  # of what is there for the players beyond fixed pays
SEED_MAX_CENTS = 2_500_000  # a house risks no more of its own on a first meter
WAGER_CENTS = 100
PPM_STEP = PARTS_PER_MILLION // 100
ROUND_AMOUNTS = (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5))


def derived(odds: Odds) -> dict[str, StartingPoint]:
    """By level of the paytable."""
    paytable = odds.paytable
    levels = [level.id for level in paytable.levels]
    envy = odds.envy_cents_per_seat * OTHER_BETTORS / WAGER_CENTS
    reserve = Fraction(paytable.reserve_ppm, PARTS_PER_MILLION)
    room = 1 - HOUSE_SHARE - (odds.fixed_return or 0) - envy - reserve
    seeds, spent = {}, Fraction(0)
    for level in levels:
        hits = sum(
            (probability(odds, h) for h in paytable.hands if resets(h) and level_of(h) == level),
            Fraction(0),
        )
        wanted = room * SEED_PART / len(levels) / hits * WAGER_CENTS
        seeds[level] = _rounded(min(wanted, Fraction(SEED_MAX_CENTS)))
        spent += hits * seeds[level] / WAGER_CENTS
    rate = (room - spent) / len(levels)
    rate_ppm = int(rate * PARTS_PER_MILLION) // PPM_STEP * PPM_STEP
    # What a document prints as reserve is for the whole bet; the first level holds it.
    reserves = {level: paytable.reserve_ppm if level == levels[0] else 0 for level in levels}
    return {level: StartingPoint(seeds[level], rate_ppm, reserves[level]) for level in levels}


def _rounded(cents: Fraction) -> int:
    """The next lower amount that people call round: 1, 2, 2.5 or 5 with noughts."""
    power = 100
    while power * 10 <= cents:
        power *= 10
    fitting = [each * power for each in ROUND_AMOUNTS if each * power <= cents]
    return int(max(fitting, default=Fraction(0)))
