"""What a few cards make, hand by hand, in plain Python: for play, training and checking.

Follows the wording of the rules (every choice of five cards, every card the joker may be)
and is slow on purpose; the odds use vectorised tables that are checked against this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise

from manager.games.evaluators.cards import ACE, HEARTS, JOKER, Cards, rank_of, suit_of
from manager.games.model import Hand, Paytable

_ROYAL_RANKS = {8, 9, 10, 11, 12}
_KING, _QUEEN = 11, 10
_LENGTH_NAMES = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}


def hands_made(evaluator: str, cards: Cards) -> set[str]:
    """Every hand id of a single-hand evaluator that these cards make."""
    if evaluator not in _EVALUATORS:
        raise ValueError(f"Evaluator {evaluator!r} does not rank one hand alone.")
    return _EVALUATORS[evaluator](tuple(cards))


def paid_hand(paytable: Paytable, cards: Cards) -> Hand | None:
    """The hand that a single-hand paytable pays for these cards, or None."""
    made = hands_made(paytable.evaluator, cards)
    return next((hand for hand in paytable.hands if hand.id in made), None)


def is_run(ranks: Iterable[int]) -> bool:
    """True for consecutive different ranks; the ace is high, or low before the two."""
    ordered = sorted(ranks)
    if len(set(ordered)) != len(ordered):
        return False
    low_ace = [-1 if rank == ACE else rank for rank in ordered]
    return _is_consecutive(ordered) or _is_consecutive(sorted(low_ace))


def _is_consecutive(ordered: list[int]) -> bool:
    return all(after - before == 1 for before, after in pairwise(ordered))


def is_one_suit(cards: Cards) -> bool:
    """True when all cards share one suit."""
    return len({suit_of(card) for card in cards}) == 1


def _ranks(cards: Cards) -> list[int]:
    return [rank_of(card) for card in cards]


def _of_a_kind(counts: Counter[int]) -> set[str]:
    """Hands that only repeated ranks make."""
    made = set()
    at_least = {size: [rank for rank in counts if counts[rank] >= size] for size in (2, 3, 4, 5)}
    if at_least[2]:
        made.add("pair")
    if len(at_least[2]) >= 2:
        made.add("two-pair")
    if len(at_least[2]) >= 3:
        made.add("three-pair")
    if at_least[3]:
        made.add("three-of-a-kind")
    if at_least[4]:
        made.add("four-of-a-kind")
    if at_least[5]:
        made.add("five-aces")
    if at_least[3] and len(at_least[2]) >= 2:
        made.add("full-house")
        if ACE in at_least[3]:
            made.add("full-house-aces-up")
    return made


def _four_card(cards: Cards) -> set[str]:
    counts = Counter(_ranks(cards))
    known = {"two-pair", "three-of-a-kind", "four-of-a-kind"}
    made = _of_a_kind(counts) & known
    if counts[ACE] == 4:
        made.add("four-aces")
    if counts[ACE] >= 2:
        made.add("pair-of-aces")
    if any(counts[rank] >= 2 for rank in (_QUEEN, _KING, ACE)):
        made.add("queens-or-better")
    for four in combinations(cards, 4):
        made |= _in_order(four)
    return made


def _in_order(chosen: Cards) -> set[str]:
    """Straight, flush and straight flush of exactly these cards."""
    made = set()
    if is_run(_ranks(chosen)):
        made.add("straight")
    if is_one_suit(chosen):
        made.add("flush")
    return made | {"straight-flush"} if len(made) == 2 else made


def _fives_in_order(cards: Cards) -> set[str]:
    made = set()
    for five in combinations(cards, 5):
        own = _in_order(five)
        made |= own
        if "straight-flush" in own and set(_ranks(five)) == _ROYAL_RANKS:
            made |= {"royal-flush"} | _royal_extras(cards, five)
    return made


def _royal_extras(cards: Cards, royal: Cards) -> set[str]:
    """Royal in hearts, and a suited king and queen among the other cards."""
    extras = {"royal-flush-hearts"} if suit_of(royal[0]) == HEARTS else set()
    others = [card for card in cards if card not in royal]
    for pair in combinations(others, 2):
        if is_one_suit(pair) and set(_ranks(pair)) == {_KING, _QUEEN}:
            extras.add("royal-flush-royal-match")
    return extras


def _five_card(cards: Cards) -> set[str]:
    made = _of_a_kind(Counter(_ranks(cards))) | _fives_in_order(cards)
    return made - {"three-pair", "full-house-aces-up", "royal-flush-hearts"}


def _seven_card(cards: Cards) -> set[str]:
    made = _of_a_kind(Counter(_ranks(cards))) | _fives_in_order(cards)
    return made - {"three-pair", "full-house-aces-up", "royal-flush-royal-match"}


def _seven_card_joker(cards: Cards) -> set[str]:
    natural = tuple(card for card in cards if card != JOKER)
    if JOKER not in cards:
        made = _of_a_kind(Counter(_ranks(cards))) | _fives_in_order(cards)
        if _is_seven_card_straight_flush(cards):
            made |= {"seven-card-straight-flush", "seven-card-straight-flush-natural"}
        return made - {"royal-flush-hearts"}
    # The joker is one more ace for repeated ranks, or any card for straights and flushes.
    made = _of_a_kind(Counter([*_ranks(natural), ACE]))
    for stand_in in range(52):
        if stand_in not in natural:
            filled = (*natural, stand_in)
            made |= _filled(filled, stand_in)
    return made - {"royal-flush-hearts"}


def _filled(cards: Cards, stand_in: int) -> set[str]:
    """Straights and flushes with the joker as this card; a royal match is always natural."""
    made = _fives_in_order(cards)
    if "royal-flush-royal-match" in made and not _match_is_natural(cards, stand_in):
        made.discard("royal-flush-royal-match")
    if _is_seven_card_straight_flush(cards):
        made |= {"seven-card-straight-flush", "seven-card-straight-flush-joker"}
    return made


def _match_is_natural(cards: Cards, stand_in: int) -> bool:
    others = [card for card in cards if card != stand_in]
    pairs = [pair for pair in combinations(others, 2) if is_one_suit(pair)]
    royals = [set(five) for five in combinations(cards, 5) if _is_royal(five)]
    matches = [set(pair) for pair in pairs if set(_ranks(pair)) == {_KING, _QUEEN}]
    return any(not match & royal for match in matches for royal in royals)


def _is_royal(five: Cards) -> bool:
    return is_one_suit(five) and set(_ranks(five)) == _ROYAL_RANKS


def _is_seven_card_straight_flush(cards: Cards) -> bool:
    return len(cards) == 7 and is_one_suit(cards) and is_run(_ranks(cards))


def _suited(cards: Cards) -> set[str]:
    made = set()
    for size, name in _LENGTH_NAMES.items():
        for chosen in combinations(cards, size):
            if not is_one_suit(chosen):
                continue
            if size >= 4:
                made.add(f"{name}-card-flush")
            if is_run(_ranks(chosen)):
                made.add(f"{name}-card-straight-flush")
                if size == 6 and {ACE, _KING} <= set(_ranks(chosen)):
                    made.add("six-card-straight-flush-ace-high")
    return made


_EVALUATORS: dict[str, Callable[[Cards], set[str]]] = {
    "four-card": _four_card,
    "five-card": lambda cards: _five_card(cards) - {"royal-flush-royal-match"},
    "seven-card": _seven_card,
    "seven-card-joker": _seven_card_joker,
    "seven-card-suited": _suited,
}
