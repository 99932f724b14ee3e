"""Cover All Bonus for Caribbean Stud Poker: the highest hand at the table pays every bet.

The paytable follows from the number of hands dealt, the dealer's included (2 to 8). The
base game itself is resolved by house procedures and is in no document here.
"""

from __future__ import annotations

from collections.abc import Sequence

from manager.games import load_paytable
from manager.games.evaluators.cards import Cards
from manager.games.evaluators.strength import FIVE_CARD_ORDER, category, five_card_strength
from manager.games.model import Paytable
from manager.games.rules.settlement import RuleError, Settled, check_deal, check_wagers, pay_hand

CARDS = 5
HANDS_MIN, HANDS_MAX = 2, 8


def paytable_for(hand_count: int) -> Paytable:
    """The column of the paytable for this many hands, dealer included."""
    if not HANDS_MIN <= hand_count <= HANDS_MAX:
        raise RuleError(f"Cover All is played with {HANDS_MIN} to {HANDS_MAX} hands.")
    return load_paytable(f"caribbean-stud/cover-all/{hand_count}-hands")


def settle(hands: Sequence[Cards], wager_cents: int) -> Settled:
    """Settle one Cover All bet over all hands of the round, the dealer's among them."""
    check_deal([(hand, CARDS) for hand in hands])
    check_wagers(cover_all_cents=wager_cents)
    table = paytable_for(len(hands))
    highest = max(five_card_strength(hand) for hand in hands)
    name = category(highest, FIVE_CARD_ORDER)
    paid = next((hand for hand in table.hands if hand.id == name), None)
    return pay_hand(table.bet, wager_cents, paid)
