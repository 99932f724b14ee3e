"""Which hand of a paytable each deal pays, counted: the first hand made is the one paid.

Brings all evaluators to one form (rows of "these hands are made, so many deals") and walks
the paytable over them. Says whether the counts are exact. Knows nothing of amounts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from manager.games import Paytable
from manager.games.evaluators import EVALUATORS
from manager.odds import highest
from manager.odds.ace_high import ace_high_counts
from manager.odds.bad_beat import bad_beat_counts
from manager.odds.signatures import hands_of, signature_counts

Rows = list[tuple[frozenset[str], int]]

_DEALER_CARDS = {"bad-beat-five-five": 5, "bad-beat-five-six": 6}


@dataclass(frozen=True)
class DealCounts:
    """Deals per paid hand, in the order of the paytable, out of ``total``."""

    total: int
    counts: dict[str, int]
    exact: bool

    @property
    def unpaid(self) -> int:
        """Deals that pay nothing."""
        return self.total - sum(self.counts.values())


@cache
def tally(paytable: Paytable) -> DealCounts:
    """Count the deals that pay each hand of the paytable."""
    counts = {hand.id: 0 for hand in paytable.hands}
    total = 0
    for made, count in deal_rows(paytable.evaluator):
        total += count
        paid = next((hand.id for hand in paytable.hands if hand.id in made), None)
        if paid is not None:
            counts[paid] += count
    return DealCounts(total, counts, is_exact(paytable.evaluator))


def is_exact(evaluator: str) -> bool:
    """False where three or more whole hands would have to be enumerated together."""
    return EVALUATORS[evaluator].hands_at_table <= 2


@cache
def deal_rows(evaluator: str) -> Rows:
    """What deals make, and how many deals make it."""
    if evaluator in _DEALER_CARDS:
        return _bad_beat_rows(_DEALER_CARDS[evaluator])
    if evaluator == "ace-high-pai-gow":
        return _ace_high_rows()
    if evaluator.startswith("highest-of-"):
        return _highest_rows(EVALUATORS[evaluator].hands_at_table)
    signatures = signature_counts(evaluator)
    return _rows((hands_of(evaluator, sign), count) for sign, count in signatures.items())


def _bad_beat_rows(dealer_cards: int) -> Rows:
    counts, total = bad_beat_counts(dealer_cards)
    wider = {"straight-flush", "four-of-a-kind"}
    rows = _rows(
        ((name, "straight-flush-or-higher") if name in wider else (name,), count)
        for name, count in counts.items()
    )
    return [*rows, (frozenset(), total - sum(counts.values()))]


def _ace_high_rows() -> Rows:
    deals = ace_high_counts()
    paid = [
        (("dealer-and-player-ace-high",), deals.both),
        (("dealer-ace-high-joker",), deals.dealer_with_joker),
        (("dealer-ace-high-no-joker",), deals.dealer_without_joker),
    ]
    return _rows([*paid, ((), deals.total - sum(count for _, count in paid))])


def _highest_rows(hands: int) -> Rows:
    counts = highest.pair_counts() if hands == 2 else highest.sampled_counts(hands)
    names = [() if name == "nothing" else (name,) for name in highest.CATEGORIES]
    return _rows(zip(names, counts, strict=True))


def _rows(pairs: Iterable[tuple[tuple[str, ...], int]]) -> Rows:
    return [(frozenset(made), count) for made, count in pairs]
