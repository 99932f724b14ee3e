"""The evaluators a pack may name, and the hands each one can tell.

A hand listed here means "these cards make it", not "it is their best": a paytable pays
its first hand that the cards make. Needs no NumPy; ranking itself is done by the modules
beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EvaluatorInfo:
    """Name, deck, number of cards looked at, and the ids of the hands it can tell."""

    name: str
    title: str
    deck: int
    cards_considered: int
    hands: tuple[str, ...]
    hands_at_table: int = 1


_FOUR_CARD_HANDS = (
    "four-aces",
    "four-of-a-kind",
    "straight-flush",
    "three-of-a-kind",
    "flush",
    "straight",
    "two-pair",
    "pair-of-aces",
    "queens-or-better",
)
_FIVE_CARD_HANDS = (
    "royal-flush",
    "straight-flush",
    "four-of-a-kind",
    "full-house",
    "flush",
    "straight",
    "three-of-a-kind",
    "two-pair",
    "pair",
)
_SEVEN_CARD_HANDS = ("royal-flush-hearts", *_FIVE_CARD_HANDS)
_SEVEN_CARD_JOKER_HANDS = (
    "seven-card-straight-flush-natural",
    "seven-card-straight-flush-joker",
    "seven-card-straight-flush",
    "royal-flush-royal-match",
    "five-aces",
    "royal-flush",
    "straight-flush",
    "four-of-a-kind",
    "full-house-aces-up",
    "full-house",
    "flush",
    "straight",
    "three-of-a-kind",
    "three-pair",
    "two-pair",
    "pair",
)
_SUITED_HANDS = (
    "seven-card-flush",
    "six-card-flush",
    "five-card-flush",
    "four-card-flush",
    "seven-card-straight-flush",
    "six-card-straight-flush-ace-high",
    "six-card-straight-flush",
    "five-card-straight-flush",
    "four-card-straight-flush",
    "three-card-straight-flush",
)
_BAD_BEAT_HANDS = (
    "four-of-a-kind",
    "straight-flush-or-higher",
    "straight-flush",
    "three-of-a-kind",
    "flush",
    "straight",
    "two-pair",
)
_ACE_HIGH_HANDS = (
    "dealer-and-player-ace-high",
    "dealer-ace-high-joker",
    "dealer-ace-high-no-joker",
)

_ALL = (
    EvaluatorInfo("four-card", "Best four of five cards", 52, 5, _FOUR_CARD_HANDS),
    EvaluatorInfo("five-card", "Five cards dealt", 52, 5, _FIVE_CARD_HANDS),
    EvaluatorInfo("seven-card", "Best five of seven cards", 52, 7, _SEVEN_CARD_HANDS),
    EvaluatorInfo(
        "seven-card-joker",
        "Seven cards with a joker that is an ace or completes a straight or flush",
        53,
        7,
        _SEVEN_CARD_JOKER_HANDS,
    ),
    EvaluatorInfo("seven-card-suited", "Longest flush and longest straight flush", 52, 7,
                  _SUITED_HANDS),
    EvaluatorInfo("bad-beat-five-five", "Four-card hand beaten, player 5 and dealer 5 cards", 52,
                  5, _BAD_BEAT_HANDS, 2),
    EvaluatorInfo("bad-beat-five-six", "Four-card hand beaten, player 5 and dealer 6 cards", 52,
                  5, _BAD_BEAT_HANDS, 2),
    EvaluatorInfo("ace-high-pai-gow", "Dealer's and player's ace-high pai gow", 53, 7,
                  _ACE_HIGH_HANDS, 2),
    *(
        EvaluatorInfo(f"highest-of-{hands}", f"Highest of {hands} five-card hands", 52, 5,
                      _FIVE_CARD_HANDS[:7], hands)
        for hands in range(2, 9)
    ),
)  # fmt: skip

EVALUATORS = {info.name: info for info in _ALL}

# Which hands are a special case of which: "x: y" means cards that make x also make y.
_SPECIAL_CASE_OF = {
    "four-aces": "four-of-a-kind",
    "pair-of-aces": "queens-or-better",
    "royal-flush-hearts": "royal-flush",
    "royal-flush-royal-match": "royal-flush",
    "royal-flush": "straight-flush",
    "straight-flush": "flush",
    "seven-card-straight-flush-natural": "seven-card-straight-flush",
    "seven-card-straight-flush-joker": "seven-card-straight-flush",
    "five-aces": "four-of-a-kind",
    "four-of-a-kind": "three-of-a-kind",
    "full-house-aces-up": "full-house",
    "full-house": "three-of-a-kind",
    "three-of-a-kind": "pair",
    "three-pair": "two-pair",
    "two-pair": "pair",
    "seven-card-flush": "six-card-flush",
    "six-card-flush": "five-card-flush",
    "five-card-flush": "four-card-flush",
    "six-card-straight-flush-ace-high": "six-card-straight-flush",
    "six-card-straight-flush": "five-card-straight-flush",
    "five-card-straight-flush": "four-card-straight-flush",
    "four-card-straight-flush": "three-card-straight-flush",
}


def hidden_by(hand_id: str, earlier_id: str) -> bool:
    """True when a paytable that lists ``earlier_id`` first can never pay ``hand_id``."""
    wider: str | None = hand_id
    while wider := _SPECIAL_CASE_OF.get(wider or ""):
        if wider == earlier_id:
            return True
    return False
