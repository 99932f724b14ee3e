"""Playing cards as tests write them: a hand in one string, and its masks by suit."""

from __future__ import annotations

from collections.abc import Iterable

from manager.games.evaluators.cards import JOKER, parse_card, rank_of, suit_of


def parse_cards(names: str) -> tuple[int, ...]:
    """Cards separated by spaces, none of them twice."""
    cards = tuple(parse_card(name) for name in names.split())
    assert len(set(cards)) == len(cards), f"a card stands twice in {names!r}"
    return cards


def suit_masks(cards: Iterable[int]) -> list[int]:
    """One 13-bit rank mask per suit; a joker is left out."""
    masks = [0, 0, 0, 0]
    for card in cards:
        if card != JOKER:
            masks[suit_of(card)] |= 1 << rank_of(card)
    return masks
