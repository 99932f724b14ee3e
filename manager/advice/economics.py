"""The long-run economics of one jackpot bet for the numbers an operator typed, exactly.

Per wager of one unit: what fixed pays, envy, meters, reserve and reseeding cost, what is left for
the house, and the contribution at which nothing is left. Two shares depend on how a meter lives:
what it cannot pay, and what a limit sends back. They come from the simulation; the rest is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from manager.games import ForOne, Hand, Paytable, Percent
from manager.ledger.jackpots import Jackpot
from manager.money import PARTS_PER_MILLION
from manager.odds.figures import Odds

WHOLE_METER_PPM = PARTS_PER_MILLION


@dataclass(frozen=True)
class Economics:
    """Shares of the wager in the long run; they and `house_share` add up to one."""

    fixed_return: Fraction
    envy_return: Fraction
    contribution: Fraction
    reserve: Fraction
    reseed_cost: Fraction
    largest_fixed_cents: int
    shortfall: Fraction = Fraction(0)  # fixed pays that an empty meter leaves to the house
    overflow: Fraction = Fraction(0)  # of the contribution, what the limit sends to the house

    @property
    def house_share(self) -> Fraction:
        return 1 - self.player_share

    @property
    def player_share(self) -> Fraction:
        return (
            self.fixed_return
            + self.envy_return
            + self.contribution
            + self.reserve
            + self.reseed_cost
            + self.shortfall
            - self.overflow
        )

    @property
    def break_even_contribution(self) -> Fraction:
        """The contribution rate at which the house share is zero, everything else unchanged.

        A greater contribution leaves less for the house to pay in the meter's place: it is what
        breaks even when a meter pays all of its fixed pays, and at most that when it does not.
        """
        return self.contribution + self.house_share + self.shortfall - self.overflow


def economics(
    odds: Odds, jackpots: Mapping[str, Jackpot], wager_cents: int, other_bettors: int
) -> Economics:
    """`jackpots` by level of the paytable; `other_bettors` share each qualifying envy hand."""
    paytable = odds.paytable
    envy_scale = Fraction(wager_cents, 100) if paytable.envy_scales else Fraction(1)
    return Economics(
        fixed_return=_tray_return(odds, jackpots),
        envy_return=odds.envy_cents_per_seat * envy_scale * other_bettors / wager_cents,
        contribution=_rate(jackpot.contribution_ppm for jackpot in jackpots.values()),
        reserve=_rate(jackpot.reserve_ppm for jackpot in jackpots.values()),
        reseed_cost=_reseed_cost(odds, jackpots, wager_cents),
        largest_fixed_cents=max(
            (hand.pay.n * wager_cents for hand in paytable.hands if isinstance(hand.pay, ForOne)),
            default=0,
        ),
    )


def probability(odds: Odds, hand: Hand) -> Fraction:
    return Fraction(odds.tally.counts.get(hand.id, 0), odds.tally.total)


def resets(hand: Hand) -> bool:
    return isinstance(hand.pay, Percent) and hand.pay.ppm >= WHOLE_METER_PPM


def level_of(hand: Hand) -> str:
    return hand.pay.level if isinstance(hand.pay, Percent) else ""


def _tray_return(odds: Odds, jackpots: Mapping[str, Jackpot]) -> Fraction:
    """Fixed pays that come from the tray; what a meter cannot pay of them is its shortfall."""
    if any(jackpot.fixed_pays_from == "meter" for jackpot in jackpots.values()):
        return Fraction(0)
    return odds.fixed_return or Fraction(0)


def _rate(parts_per_million: object) -> Fraction:
    return Fraction(sum(parts_per_million), PARTS_PER_MILLION)  # type: ignore[call-overload]


def _reseed_cost(odds: Odds, jackpots: Mapping[str, Jackpot], wager_cents: int) -> Fraction:
    """Each 100 % award costs the house one seed; of a posted prize it pays every percentage."""
    cost = Fraction(0)
    for hand in odds.paytable.hands:
        if not isinstance(hand.pay, Percent):
            continue
        jackpot = jackpots[hand.pay.level]
        if resets(hand) or jackpot.is_house:
            paid_cents = Fraction(jackpot.seed_cents * hand.pay.ppm, PARTS_PER_MILLION)
            cost += probability(odds, hand) * paid_cents / wager_cents
    return cost


def reset_frequency(odds: Odds, paytable: Paytable) -> Fraction:
    """How often per wager some 100 % award hits."""
    return sum((probability(odds, hand) for hand in paytable.hands if resets(hand)), Fraction(0))
