"""Compares hands at the table: a strength is a tuple, the higher one wins, equal ones tie.

Four-card hands, five-card hands with the joker's limits, the flushes of I Luv Suits, and
the two-card hand of pai gow. Knows nothing of wagers.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from manager.games.evaluators.cards import ACE, JOKER, SUITS, Cards, rank_of, suit_of
from manager.games.evaluators.plain import is_one_suit, is_run

Strength = tuple[int, ...]

FOUR_CARD_ORDER = (
    "high-card", "pair", "two-pair", "straight", "flush", "three-of-a-kind", "straight-flush",
    "four-of-a-kind",
)  # fmt: skip
FIVE_CARD_ORDER = (
    "high-card", "pair", "two-pair", "three-of-a-kind", "straight", "flush", "full-house",
    "four-of-a-kind", "straight-flush", "royal-flush", "five-aces",
)  # fmt: skip
_KINDS = {
    (1, 1, 1, 1): "high-card",
    (2, 1, 1): "pair",
    (2, 2): "two-pair",
    (3, 1): "three-of-a-kind",
    (4,): "four-of-a-kind",
    (1, 1, 1, 1, 1): "high-card",
    (2, 1, 1, 1): "pair",
    (2, 2, 1): "two-pair",
    (3, 1, 1): "three-of-a-kind",
    (3, 2): "full-house",
    (4, 1): "four-of-a-kind",
    (5,): "five-aces",
}


def four_card_strength(cards: Cards) -> Strength:
    """The best four of four or more cards, without a joker."""
    return max(_strength(four, FOUR_CARD_ORDER) for four in combinations(cards, 4))


def five_card_strength(cards: Cards) -> Strength:
    """The best five of five or more cards; a joker is an ace or completes a straight or flush."""
    return max(_five_with_joker(five) for five in combinations(cards, 5))


def category(strength: Strength, order: tuple[str, ...]) -> str:
    """The name of a strength's category in the order it was made with."""
    return order[strength[0]]


def pair_strength(cards: Cards) -> Strength:
    """A two-card hand of pai gow: pairs above single cards; a joker is an ace."""
    high, low = sorted((ACE if card == JOKER else rank_of(card) for card in cards), reverse=True)
    return (int(high == low), high, low)


def flush_strength(cards: Cards) -> Strength:
    """The longest flush of seven cards, then its ranks from the top; the ace is high."""
    return max(_suit_strength(cards, suit) for suit in range(len(SUITS)))


def _suit_strength(cards: Cards, suit: int) -> Strength:
    ranks = sorted((rank_of(card) for card in cards if suit_of(card) == suit), reverse=True)
    return (len(ranks), *ranks)


def _five_with_joker(five: Cards) -> Strength:
    natural = tuple(card for card in five if card != JOKER)
    if len(natural) == 5:
        return _strength(five, FIVE_CARD_ORDER)
    as_ace = _by_kind([*(rank_of(card) for card in natural), ACE], FIVE_CARD_ORDER)
    filled = [
        _in_order((*natural, stand_in), FIVE_CARD_ORDER)
        for stand_in in range(52)
        if stand_in not in natural
    ]
    return max([as_ace, *(strength for strength in filled if strength)])


def _strength(cards: Cards, order: tuple[str, ...]) -> Strength:
    by_kind = _by_kind([rank_of(card) for card in cards], order)
    return max(by_kind, _in_order(cards, order))


def _by_kind(ranks: list[int], order: tuple[str, ...]) -> Strength:
    """Repeated ranks first, then the rest, each from the top."""
    counts = sorted(Counter(ranks).items(), key=lambda item: (item[1], item[0]), reverse=True)
    name = _KINDS[tuple(count for _, count in counts)]
    return (order.index(name), *(rank for rank, _ in counts))


def _in_order(cards: Cards, order: tuple[str, ...]) -> Strength:
    """Straight, flush, straight flush and royal; empty, so below everything, if none."""
    ranks = sorted((rank_of(card) for card in cards), reverse=True)
    run, suited = is_run(ranks), is_one_suit(cards)
    if run:
        # The ace is low in the lowest run only, so the second card decides there.
        high = ranks[1] if ranks[0] == ACE and ranks[1] != ACE - 1 else ranks[0]
        if suited and high == ACE and "royal-flush" in order:
            return (order.index("royal-flush"),)
        return (order.index("straight-flush" if suited else "straight"), high)
    return (order.index("flush"), *ranks) if suited else ()
