"""From counts to figures: hit frequency, house edge, returns, and the verdict on print.

Every figure of an exact tally is a fraction; where a tally was simulated the standard error
stands beside it. Knows nothing of JSON or text.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from manager.games import ForOne, Paytable, Percent, PrintedFigure, ToOne
from manager.games.evaluators import EVALUATORS
from manager.odds import highest
from manager.odds.base_games import BaseGameValue, base_game_value
from manager.odds.tally import DealCounts, tally

VERDICTS = ("agrees", "rounding", "misprint")  # from best to worst
METER_CENTS = 100_000  # meter returns are given per $1,000 on the meter


@dataclass(frozen=True)
class Figure:
    """A value that is exact, or an estimate with its standard error."""

    value: Fraction
    standard_error: float = 0.0


@dataclass(frozen=True)
class JudgedFigure:
    """A printed figure beside ours, and what is to be thought of it."""

    printed: PrintedFigure
    computed: Fraction
    verdict: str


@dataclass(frozen=True)
class Odds:
    """All that is known about the odds of one paytable."""

    paytable: Paytable
    tally: DealCounts
    hit_frequency: Figure
    push_frequency: Fraction
    house_edge: Figure | None
    edge_basis: str
    fixed_return: Fraction | None
    meter_return_cents: dict[str, Fraction]
    envy_cents_per_seat: Fraction
    base_game: BaseGameValue | None
    printed: tuple[JudgedFigure, ...]

    @property
    def verdict(self) -> str | None:
        """The worst verdict on a printed figure of this paytable; None if none is printed."""
        verdicts = [judged.verdict for judged in self.printed]
        return max(verdicts, key=VERDICTS.index) if verdicts else None


def compute_odds(paytable: Paytable) -> Odds:
    """Count, price and judge one paytable."""
    counted = tally(paytable)
    base_game = base_game_value(paytable) if paytable.base_game else None
    is_felt = all(isinstance(hand.pay, ToOne) for hand in paytable.hands)
    edge, basis = _edge(paytable, counted, base_game) if is_felt else (None, "")
    hit = _hit_frequency(paytable, counted)
    return Odds(
        paytable=paytable,
        tally=counted,
        hit_frequency=hit,
        push_frequency=Fraction(_pushes(paytable, counted), counted.total),
        house_edge=edge,
        edge_basis=basis,
        fixed_return=None if is_felt else _fixed_return(paytable, counted),
        meter_return_cents=_meter_returns(paytable, counted),
        envy_cents_per_seat=_envy(paytable, counted),
        base_game=base_game,
        printed=_judge_all(paytable, hit, edge, base_game),
    )


def judge(text: str, computed: Fraction) -> str:
    """Agrees to the last printed digit, is one off there, or is a misprint."""
    digits = text.removesuffix("%")
    decimals = len(digits.partition(".")[2])
    units = 10**decimals
    off = abs(round_half_up(computed * 100 * units) - round_half_up(Fraction(digits) * units))
    return VERDICTS[min(off, 2)]


def round_half_up(value: Fraction) -> int:
    """The nearest whole number; halves go up."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


def gross_return(paytable: Paytable, hand_id: str) -> Fraction:
    """What comes back per unit wagered, the wager included where it is returned."""
    pay = paytable.hand(hand_id).pay
    if isinstance(pay, ToOne):
        return 1 + Fraction(pay.numerator, pay.denominator)
    return Fraction(pay.n) if isinstance(pay, ForOne) else Fraction(0)


def _edge(
    paytable: Paytable, counted: DealCounts, base_game: BaseGameValue | None
) -> tuple[Figure, str]:
    if base_game is not None and paytable.base_game == "four-card":
        basis = f"base game, per unit wagered; {base_game.strategy}"
        return Figure(base_game.edge_per_wagered), basis
    if base_game is not None:
        return Figure(base_game.edge_per_ante), f"base game, per ANTE; {base_game.strategy}"
    if not counted.exact:
        back = _estimate(paytable, [gross_return(paytable, hand.id) for hand in paytable.hands])
        return Figure(1 - back.value, back.standard_error), "per unit wagered"
    back_total = sum(
        (count * gross_return(paytable, hand) for hand, count in counted.counts.items()),
        Fraction(0),
    )
    return Figure(1 - back_total / counted.total), "per unit wagered"


def _hit_frequency(paytable: Paytable, counted: DealCounts) -> Figure:
    """How often more than the wager comes back (or anything, where it is not returned)."""
    if not counted.exact:
        return _estimate(paytable, [Fraction(1)] * len(paytable.hands))
    hits = sum(counted.counts.values()) - _pushes(paytable, counted)
    return Figure(Fraction(hits, counted.total))


def _estimate(paytable: Paytable, per_hand: list[Fraction]) -> Figure:
    values = dict(zip((hand.id for hand in paytable.hands), per_hand, strict=True))
    by_category = [values.get(name, Fraction(0)) for name in highest.CATEGORIES]
    hands = EVALUATORS[paytable.evaluator].hands_at_table
    estimate = highest.expected_value(hands, by_category)
    return Figure(estimate.mean, estimate.standard_error)


def _pushes(paytable: Paytable, counted: DealCounts) -> int:
    return sum(
        counted.counts[hand.id]
        for hand in paytable.hands
        if isinstance(hand.pay, ToOne) and hand.pay.numerator == 0
    )


def _fixed_return(paytable: Paytable, counted: DealCounts) -> Fraction:
    paid = sum(
        (count * gross_return(paytable, hand) for hand, count in counted.counts.items()),
        Fraction(0),
    )
    return paid / counted.total


def _meter_returns(paytable: Paytable, counted: DealCounts) -> dict[str, Fraction]:
    """Expected cents per wager for each $1,000 that stands on each level."""
    returns = {level.id: Fraction(0) for level in paytable.levels}
    for hand in paytable.hands:
        if isinstance(hand.pay, Percent):
            share = Fraction(hand.pay.ppm, 1_000_000)
            chance = Fraction(counted.counts[hand.id], counted.total)
            returns[hand.pay.level] += METER_CENTS * share * chance
    return returns


def _envy(paytable: Paytable, counted: DealCounts) -> Fraction:
    """Expected envy cents that one other seat's hand brings, at a $1 wager where it scales."""
    paid = sum(hand.envy_cents * counted.counts[hand.id] for hand in paytable.hands)
    return Fraction(paid, counted.total)


def _judge_all(
    paytable: Paytable, hit: Figure, edge: Figure | None, base_game: BaseGameValue | None
) -> tuple[JudgedFigure, ...]:
    own = {"hit-frequency": hit.value}
    if edge is not None:
        own["house-edge"] = edge.value
    if base_game is not None:
        own["base-game-hit-frequency"] = base_game.hit_frequency
    return tuple(
        JudgedFigure(printed, own[printed.figure], judge(printed.text, own[printed.figure]))
        for printed in paytable.printed
        if printed.figure in own
    )
