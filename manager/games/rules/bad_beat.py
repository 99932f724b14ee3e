"""The Bad Beat Bonus of the two four-card games: who was beaten, and with what.

Wins when the player loses with two pair or better, or beats the dealer's two pair or
better; pays by the hand that was beaten; a tie pays nothing.
"""

from __future__ import annotations

from manager.games.evaluators.strength import FOUR_CARD_ORDER, Strength, category
from manager.games.model import Hand, Paytable
from manager.games.rules.settlement import Settled, lose, pay_hand

_WIDER = ("straight-flush", "four-of-a-kind")


def settle_bad_beat(
    paytable: Paytable, wager_cents: int, player: Strength, dealer: Strength, folded: bool
) -> Settled:
    """Settle the bonus; a folded hand is in no contest, so it beats and loses to nobody."""
    if folded or player == dealer:
        return lose(paytable.bet, wager_cents)
    beaten = category(min(player, dealer), FOUR_CARD_ORDER)
    return pay_hand(paytable.bet, wager_cents, _paid(paytable, beaten))


def _paid(paytable: Paytable, beaten: str) -> Hand | None:
    names = {beaten, "straight-flush-or-higher"} if beaten in _WIDER else {beaten}
    return next((hand for hand in paytable.hands if hand.id in names), None)
