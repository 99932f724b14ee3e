"""How many deals make which hands: one enumeration per deck, shared by all its paytables.

A signature is the set of hands that the cards make, one bit per hand id of the evaluator
in the order of the vocabulary. Counting deals by signature once is enough to price every
paytable of that evaluator, also one that an operator adds. Knows nothing of pays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from manager.games.evaluators.vocabulary import EVALUATORS
from manager.odds.classes import ClassBlock, MaskColumn, suit_classes
from manager.odds.masks import ACE_BIT, KING_QUEEN, POPCOUNT, ROYAL, holds_run
from manager.odds.suited import suited_counts

Truth = NDArray[np.bool_]
Suits = tuple[MaskColumn, MaskColumn, MaskColumn, MaskColumn]
Signatures = dict[int, int]

_QUEEN_UP = 0b1110000000000
_POPCOUNT_AT_LEAST: dict[int, Truth] = {size: np.greater_equal(POPCOUNT, size) for size in (4, 5)}


@cache
def signature_counts(evaluator: str) -> Signatures:
    """Number of deals for each signature of a single-hand evaluator."""
    return _COUNTERS[evaluator]()


def hands_of(evaluator: str, signature: int) -> tuple[str, ...]:
    """The hand ids of a signature."""
    hands = EVALUATORS[evaluator].hands
    return tuple(hand for bit, hand in enumerate(hands) if signature >> bit & 1)


def _and(left: MaskColumn, right: MaskColumn | np.uint16) -> MaskColumn:
    """Bitwise and; the operator's result type is lost on the type checker."""
    result: MaskColumn = np.bitwise_and(left, right)
    return result


class RankCounts:
    """Which ranks a hand holds at least once, twice, three times, four times."""

    def __init__(self, suits: Suits) -> None:
        one, two, three, four = suits
        both, either = _and(one, two), one | two
        both_other, either_other = _and(three, four), three | four
        self.once: MaskColumn = either | either_other
        self.twice: MaskColumn = both | both_other | _and(either, either_other)
        self.thrice: MaskColumn = _and(both, either_other) | _and(both_other, either)
        self.four: MaskColumn = _and(both, both_other)

    def with_joker_as_ace(self) -> None:
        """Count the joker as one more ace; the rank masks themselves stay natural."""
        ace = np.uint16(ACE_BIT)
        self.four = self.four | _and(self.thrice, ace)
        self.thrice = self.thrice | _and(self.twice, ace)
        self.twice = self.twice | _and(self.once, ace)


def _any_suit(table: Truth, suits: Suits) -> Truth:
    return table[suits[0]] | table[suits[1]] | table[suits[2]] | table[suits[3]]


def four_card_hands(suits: Suits) -> dict[str, Truth]:
    """What five (or more) cards make when the best four count."""
    ranks = RankCounts(suits)
    return {
        "four-aces": (ranks.four & ACE_BIT) != 0,
        "four-of-a-kind": ranks.four != 0,
        "straight-flush": _any_suit(holds_run(4), suits),
        "three-of-a-kind": ranks.thrice != 0,
        "flush": _any_suit(_POPCOUNT_AT_LEAST[4], suits),
        "straight": holds_run(4)[ranks.once],
        "two-pair": POPCOUNT[ranks.twice] >= 2,
        "pair-of-aces": (ranks.twice & ACE_BIT) != 0,
        "queens-or-better": (ranks.twice & _QUEEN_UP) != 0,
    }


def five_card_hands(suits: Suits) -> dict[str, Truth]:
    """What five or more cards make when the best five count."""
    ranks = RankCounts(suits)
    return {
        "royal-flush": _any_suit(_royal(0), suits),
        "straight-flush": _any_suit(holds_run(5), suits),
        "four-of-a-kind": ranks.four != 0,
        "full-house": (ranks.thrice != 0) & (POPCOUNT[ranks.twice] >= 2),
        "flush": _any_suit(_POPCOUNT_AT_LEAST[5], suits),
        "straight": holds_run(5)[ranks.once],
        "three-of-a-kind": ranks.thrice != 0,
        "two-pair": POPCOUNT[ranks.twice] >= 2,
        "pair": ranks.twice != 0,
    }


def seven_card_joker_hands(suits: Suits, joker: bool) -> dict[str, Truth]:
    """What seven cards make; with ``joker`` the suits hold the other six."""
    ranks = RankCounts(suits)
    five_aces = ranks.four & ACE_BIT if joker else ranks.four & 0
    if joker:
        ranks.with_joker_as_ace()
    missing = int(joker)
    royal = _royal(missing)
    seven = _any_suit(holds_run(7, missing), suits)
    match = _any_suit(~royal & _holds(KING_QUEEN), suits)
    full_house = (ranks.thrice != 0) & (POPCOUNT[ranks.twice] >= 2)
    return {
        "seven-card-straight-flush-natural": seven & (not joker),
        "seven-card-straight-flush-joker": seven & joker,
        "seven-card-straight-flush": seven,
        "royal-flush-royal-match": _any_suit(royal, suits) & match,
        "five-aces": five_aces != 0,
        "royal-flush": _any_suit(royal, suits),
        "straight-flush": _any_suit(holds_run(5, missing), suits),
        "four-of-a-kind": ranks.four != 0,
        "full-house-aces-up": full_house & ((ranks.thrice & ACE_BIT) != 0),
        "full-house": full_house,
        "flush": _any_suit(_POPCOUNT_AT_LEAST[5 - missing], suits),
        "straight": holds_run(5, missing)[ranks.once],
        "three-of-a-kind": ranks.thrice != 0,
        "three-pair": POPCOUNT[ranks.twice] >= 3,
        "two-pair": POPCOUNT[ranks.twice] >= 2,
        "pair": ranks.twice != 0,
    }


@cache
def _holds(wanted: int, missing: int = 0) -> Truth:
    """Masks that hold all ``wanted`` ranks but ``missing`` of them."""
    masks = np.arange(len(POPCOUNT))
    held: Truth = POPCOUNT[masks & wanted] >= wanted.bit_count() - missing
    return held


def _royal(missing: int) -> Truth:
    return _holds(ROYAL, missing)


def _count(evaluator: str, cards: int, tell: Callable[[Suits], dict[str, Truth]]) -> Signatures:
    """Count the deals of ``cards`` cards from 52 by signature."""
    hands = EVALUATORS[evaluator].hands
    counts = np.zeros(1 << len(hands))
    for block in suit_classes(cards):
        counts += _block_counts(hands, block, tell(block.suits))
    # Weights are whole numbers far below 2**53, so the floating sums are exact.
    return {int(sign): int(counts[sign]) for sign in np.flatnonzero(counts)}


def _block_counts(
    hands: tuple[str, ...], block: ClassBlock, told: dict[str, Truth]
) -> NDArray[np.float64]:
    signatures = np.zeros(len(block.weights), dtype=np.uint16)
    for bit, hand in enumerate(hands):
        if hand in told:
            signatures |= told[hand].astype(np.uint16) << np.uint16(bit)
    weights = block.weights.astype(np.float64)
    counts = np.bincount(signatures, weights=weights, minlength=1 << len(hands))
    return np.asarray(counts, dtype=np.float64)


@cache
def _natural_sevens() -> Signatures:
    """Seven cards without a joker, in the signatures of the joker evaluator."""
    return _count("seven-card-joker", 7, lambda suits: seven_card_joker_hands(suits, False))


def _count_joker() -> Signatures:
    with_joker = _count("seven-card-joker", 6, lambda suits: seven_card_joker_hands(suits, True))
    return _sum([*_natural_sevens().items(), *with_joker.items()])


def _count_sevens() -> Signatures:
    """Best five of seven from the same enumeration; a quarter of the royals are hearts."""
    hands = EVALUATORS["seven-card"].hands
    rows = []
    for signature, count in _natural_sevens().items():
        made = set(hands_of("seven-card-joker", signature))
        own = sum(1 << bit for bit, hand in enumerate(hands) if hand in made)
        if "royal-flush" in made:
            # Seven cards hold one royal at most and every suit is alike.
            rows.append((own | 1 << hands.index("royal-flush-hearts"), count // 4))
            count -= count // 4
        rows.append((own, count))
    return _sum(rows)


def _sum(rows: list[tuple[int, int]]) -> Signatures:
    total: Signatures = {}
    for signature, count in rows:
        total[signature] = total.get(signature, 0) + count
    return total


_COUNTERS: dict[str, Callable[[], Signatures]] = {
    "four-card": lambda: _count("four-card", 5, four_card_hands),
    "five-card": lambda: _count("five-card", 5, five_card_hands),
    "seven-card": _count_sevens,
    "seven-card-joker": _count_joker,
    "seven-card-suited": lambda: suited_counts(EVALUATORS["seven-card-suited"].hands),
}
