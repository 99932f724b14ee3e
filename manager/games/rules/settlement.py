"""What became of one bet, and the few ways in which every game settles bets.

Amounts are whole cents; a pay that is not a whole number of cents is truncated. Knows no
game: the modules beside this one decide who wins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from manager.games.evaluators.cards import JOKER, Cards, card_name
from manager.games.evaluators.plain import paid_hand
from manager.games.model import ForOne, Hand, Paytable, ToOne

WIN, LOSE, PUSH = "win", "lose", "push"


class RuleError(ValueError):
    """A wager or a deal that the rules of the game do not permit, as a sentence."""


@dataclass(frozen=True)
class Settled:
    """One bet after the round: how it ended and what it brought beyond the wager."""

    bet: str
    wager_cents: int
    outcome: str
    pay_cents: int = 0
    hand_id: str = ""


def win(bet: str, wager_cents: int) -> Settled:
    """Even money."""
    return Settled(bet, wager_cents, WIN, wager_cents)


def lose(bet: str, wager_cents: int) -> Settled:
    """The wager is taken."""
    return Settled(bet, wager_cents, LOSE)


def push(bet: str, wager_cents: int) -> Settled:
    """The wager goes back."""
    return Settled(bet, wager_cents, PUSH)


def pay_hand(bet: str, wager_cents: int, hand: Hand | None) -> Settled:
    """A bet against a paytable: pays the hand, pushes on a push, else loses."""
    if hand is None:
        return lose(bet, wager_cents)
    pay = hand.pay
    if isinstance(pay, ForOne):
        # For one: the wager was taken, so the gain is what is paid less the wager.
        return Settled(bet, wager_cents, WIN, (pay.n - 1) * wager_cents, hand.id)
    if not isinstance(pay, ToOne):
        raise RuleError(f"The hand {hand.id} is paid from a meter; that is the ledger's business.")
    if pay.numerator == 0:
        return Settled(bet, wager_cents, PUSH, 0, hand.id)
    paid_cents = wager_cents * pay.numerator // pay.denominator
    return Settled(bet, wager_cents, WIN, paid_cents, hand.id)


def pay_cards(paytable: Paytable, wager_cents: int, cards: Cards) -> Settled:
    """A bet on one hand's own cards."""
    return pay_hand(paytable.bet, wager_cents, paid_hand(paytable, cards))


def check_deal(hands: Iterable[tuple[Cards, int]], jokers: int = 0) -> None:
    """Refuse a deal with a wrong number of cards, a card dealt twice, or a stray joker."""
    seen: set[int] = set()
    for cards, size in hands:
        if len(cards) != size:
            raise RuleError(f"A hand has {len(cards)} cards instead of {size}; all hands are void.")
        for card in cards:
            if card in seen:
                raise RuleError(f"The card {card_name(card)} was dealt twice; all hands are void.")
            if not 0 <= card < JOKER + jokers:
                raise RuleError("A card was dealt that is not in this game's deck.")
            seen.add(card)


def check_wagers(**wagers_cents: int) -> None:
    """Refuse negative wagers."""
    for name, cents in wagers_cents.items():
        if cents < 0:
            raise RuleError(f"The {name.removesuffix('_cents')} wager cannot be negative.")


def check_play(play_cents: int, ante_cents: int, times_max: int) -> None:
    """Refuse a PLAY wager outside one to ``times_max`` times the ANTE; 0 is a fold."""
    if play_cents == 0:
        return
    if not ante_cents <= play_cents <= times_max * ante_cents or ante_cents == 0:
        allowed = "equal the ANTE" if times_max == 1 else f"be 1 to {times_max} times the ANTE"
        raise RuleError(f"The PLAY wager must {allowed}.")
