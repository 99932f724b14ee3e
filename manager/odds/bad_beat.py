"""How often a four-card hand of each category is beaten, by either side, exactly.

Two pair or better that loses, the player's or the dealer's; a tie beats nobody. The dealer
has five cards in Crazy 4 Poker and six in Four Card Poker.
"""

from __future__ import annotations

import numpy as np

from manager.odds.duels import Duels, duels
from manager.odds.strengths import CATEGORIES, category

_LOWEST = CATEGORIES.index("two-pair")


def bad_beat_counts(dealer_cards: int) -> tuple[dict[str, int], int]:
    """Deals in which a hand of each category is beaten, and the number of all deals."""
    table = duels(dealer_cards)
    counts = {
        CATEGORIES[number]: _player_beaten(table, number) + _dealer_beaten(table, number)
        for number in range(_LOWEST, len(CATEGORIES))
    }
    return counts, table.total


def _player_beaten(table: Duels, number: int) -> int:
    lost = np.where(category(table.strengths) == number, table.higher, 0)
    return int((table.weights * lost).sum())


def _dealer_beaten(table: Duels, number: int) -> int:
    """Dealer hands of the category that lie below the player's hand."""
    start = table.below_category[number]
    is_last = number == len(CATEGORIES) - 1
    end = table.dealer_hands if is_last else table.below_category[number + 1]
    own = category(table.strengths)
    beaten = np.where(own > number, end - start, np.where(own == number, table.lower - start, 0))
    return int((table.weights * beaten).sum())
