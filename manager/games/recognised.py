"""What recognised cards say of a claimed hand: it agrees, it differs, or nobody can tell.

It asks the evaluator of the paytable that the bet is on. Where more cards were dealt than the
paytable looks at, the player chooses, so the best choice counts. It decides no win: whoever asks
gets advice, also when the cards make no sense.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from manager.games.evaluators.cards import parse_card
from manager.games.evaluators.plain import paid_hand
from manager.games.model import Hand, Paytable


@dataclass(frozen=True)
class Recognised:
    agrees: bool
    seen: str  # the hand that these cards are paid as, "" for none


def check_hand(paytable: Paytable, claimed: str, names: Iterable[str]) -> Recognised | None:
    """None when these cards cannot be judged: too few of them, or a bet over several hands."""
    try:
        cards = tuple(parse_card(name) for name in names)
        if len(cards) < paytable.cards_considered or len(set(cards)) != len(cards):
            return None
        found = _best(paytable, cards)
    except ValueError:  # an evaluator that does not rank one hand, or a card not of its deck
        return None
    seen = found.id if found else ""
    return Recognised(seen == claimed, seen)


def _best(paytable: Paytable, cards: tuple[int, ...]) -> Hand | None:
    """The first hand of the paytable that some choice of the cards makes."""
    choices = combinations(cards, paytable.cards_considered)
    paid = {hand.id for hand in (paid_hand(paytable, choice) for choice in choices) if hand}
    return next((hand for hand in paytable.hands if hand.id in paid), None)
