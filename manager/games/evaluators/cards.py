"""Cards as small integers: ``suit * 13 + rank``, rank 0 is the two and 12 the ace.

The joker is card 52. Knows their names, not how hands rank.
"""

from __future__ import annotations

from collections.abc import Sequence

RANKS = "23456789TJQKA"
SUITS = "cdhs"
ACE = 12
HEARTS = SUITS.index("h")
JOKER = 52

Cards = Sequence[int]


def rank_of(card: int) -> int:
    """0 for a two up to 12 for an ace; the joker has no rank."""
    if card == JOKER:
        raise ValueError("The joker has no rank of its own.")
    return card % 13


def suit_of(card: int) -> int:
    """0 to 3 for clubs, diamonds, hearts, spades; the joker has no suit."""
    if card == JOKER:
        raise ValueError("The joker has no suit of its own.")
    return card // 13


def parse_card(name: str) -> int:
    """``Ah`` is the ace of hearts, ``10c`` or ``Tc`` the ten of clubs, ``Jk`` the joker."""
    if name == "Jk":
        return JOKER
    rank, suit = name[:-1].replace("10", "T").upper(), name[-1:]
    if len(rank) != 1 or rank not in RANKS or suit not in SUITS:
        raise ValueError(f"{name!r} is not a card; write it like Ah, Tc or Jk.")
    return SUITS.index(suit) * 13 + RANKS.index(rank)


def card_name(card: int) -> str:
    """The short name that ``parse_card`` reads."""
    return "Jk" if card == JOKER else RANKS[rank_of(card)] + SUITS[suit_of(card)]
