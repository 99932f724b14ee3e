"""The vectorised evaluators and the plain ones, written apart, tell the same of random hands."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from manager.games import load_paytable
from manager.games.evaluators import EVALUATORS
from manager.games.evaluators.cards import (
    JOKER,
    Cards,
    card_name,
    parse_card,
    rank_of,
    suit_of,
)
from manager.games.evaluators.plain import hands_made, paid_hand
from manager.games.evaluators.strength import (
    FIVE_CARD_ORDER,
    category,
    five_card_strength,
    flush_strength,
    four_card_strength,
    pair_strength,
)
from manager.odds.masks import longest_run
from manager.odds.signatures import (
    Suits,
    five_card_hands,
    four_card_hands,
    seven_card_joker_hands,
)
from manager.odds.strengths import CATEGORIES, four_card_strengths
from manager.odds.strengths import category as fast_category
from manager.odds.suited import hands_made as suited_hands_made
from tests.kit.playing_cards import parse_cards, suit_masks


def columns(hands: list[Cards]) -> Suits:
    masks = np.array([suit_masks(hand) for hand in hands], dtype=np.uint16)
    return (masks[:, 0], masks[:, 1], masks[:, 2], masks[:, 3])


def told(made: dict[str, np.ndarray], row: int) -> set[str]:
    return {hand for hand, truth in made.items() if truth[row]}


def random_hands(seed: int, deck: int, size: int, count: int, always: Cards = ()) -> list[Cards]:
    generator = random.Random(seed)
    rest = [card for card in range(deck) if card not in always]
    return [(*generator.sample(rest, size - len(always)), *always) for _ in range(count)]


def suited_hands(seed: int, count: int, joker: bool) -> list[Cards]:
    """Hands drawn from few cards, so that straight flushes and quads are common."""
    generator = random.Random(seed)
    hands: list[Cards] = []
    for _ in range(count):
        first = generator.randrange(13)
        near = {suit * 13 + (first + step) % 13 for suit in (0, 1) for step in range(7)}
        natural = generator.sample(sorted(near), 6 if joker else 7)
        hands.append((*natural, JOKER) if joker else tuple(natural))
    return hands


def test_four_card_hands() -> None:
    hands = random_hands(1, 52, 5, 800)
    made = four_card_hands(columns(hands))
    for row, hand in enumerate(hands):
        assert told(made, row) == hands_made("four-card", hand), hand


def test_five_card_hands() -> None:
    hands = random_hands(2, 52, 5, 800) + [hand[:5] for hand in suited_hands(3, 200, False)]
    made = five_card_hands(columns(hands))
    for row, hand in enumerate(hands):
        assert told(made, row) == hands_made("five-card", hand), hand


@pytest.mark.parametrize("joker", [False, True])
def test_seven_card_hands_with_and_without_the_joker(joker: bool) -> None:
    always = (JOKER,) if joker else ()
    hands = random_hands(4, 52, 7, 60, always) + suited_hands(5, 60, joker)
    made = seven_card_joker_hands(columns(hands), joker)
    for row, hand in enumerate(hands):
        assert told(made, row) == hands_made("seven-card-joker", hand), hand


def test_seven_card_hands_without_joker_tell_hearts() -> None:
    royal = parse_cards("Ah Kh Qh Jh Th 2c 3d")
    assert {"royal-flush", "royal-flush-hearts"} <= hands_made("seven-card", royal)
    spades = parse_cards("As Ks Qs Js Ts 2c 3d")
    assert "royal-flush-hearts" not in hands_made("seven-card", spades)


def test_suited_hands() -> None:
    run = longest_run()
    for hand in random_hands(6, 52, 7, 200) + suited_hands(7, 200, False):
        masks = suit_masks(hand)
        ace_high = any(mask & 0b1111110000000 == 0b1111110000000 for mask in masks)
        longest = max(int(run[mask]) for mask in masks)
        fast = suited_hands_made(max(mask.bit_count() for mask in masks), longest, ace_high)
        assert fast == hands_made("seven-card-suited", hand), hand


@pytest.mark.parametrize("size", [5, 6])
def test_four_card_strengths_rank_alike(size: int) -> None:
    hands = random_hands(8 + size, 52, size, 600)
    fast = four_card_strengths(columns(hands))
    slow = [four_card_strength(hand) for hand in hands]
    by_fast = sorted(range(len(hands)), key=lambda row: (fast[row], row))
    for before, after in pairwise(by_fast):
        assert (fast[before] == fast[after]) == (slow[before] == slow[after])
        assert slow[before] <= slow[after]


def test_both_strengths_name_the_same_category() -> None:
    hands = random_hands(9, 52, 5, 300)
    fast = fast_category(four_card_strengths(columns(hands)))
    for row, hand in enumerate(hands):
        assert CATEGORIES[fast[row]] == CATEGORIES[four_card_strength(hand)[0]]


@pytest.mark.parametrize(
    ("cards", "made", "not_made"),
    [
        ("Ah Kh Qh Jh Jk Ks Qs", {"royal-flush-royal-match"}, {"five-aces"}),
        ("Ah Kh Qh Jh Th Ks Jk", {"royal-flush"}, {"royal-flush-royal-match"}),
        ("Ac Ad Ah As Jk 2c 3d", {"five-aces", "four-of-a-kind"}, {"straight"}),
        ("2h 3h 4h 5h 6h 7h Jk", {"seven-card-straight-flush-joker"}, set()),
        ("Kc Kd Qc Qd Jk 2h 3s", {"two-pair"}, {"full-house", "three-of-a-kind", "three-pair"}),
        ("Kc Kd Qc Qd Jk Ah 3s", {"three-pair"}, {"full-house"}),
        ("Ac Ad Qc Qd Jk 7h 3s", {"full-house", "full-house-aces-up"}, set()),
        ("Kc Kd Kh Ac Ad 7h 3s", {"full-house"}, {"full-house-aces-up"}),
    ],
)
def test_the_jokers_limits(cards: str, made: set[str], not_made: set[str]) -> None:
    found = hands_made("seven-card-joker", parse_cards(cards))
    assert made <= found
    assert not not_made & found


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("Ac 2d 3h 4s 9c", "2c 3d 4h 5s 9c"),  # the ace is low in 4-3-2-A
        ("Ac Kd Qh Js 9c", "2c 3c 4c 5c 9d"),
        ("5c 6c 7c 8c 2d", "9c 9d 9h 9s 2c"),
        ("9c 9d 9h 2s 3c", "5c 6c 7c 8c 2d"),  # a straight flush beats three of a kind here
        ("Ac Kc Qc 9c 2d", "2c 2d 2h 3s 4c"),
    ],
)
def test_four_card_ranking(lower: str, higher: str) -> None:
    assert four_card_strength(parse_cards(lower)) < four_card_strength(parse_cards(higher))


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("Ah Kh Qh Jh Th", "Ac Ad Ah As Jk"),  # five aces are above the royal flush
        ("9h Kh Qh Jh Jk", "Ah Kh Qh Jk Th"),
        ("Ac 2d 3h 4s Jk", "2c 3d 4h 5s Jk"),
        ("Kc Kd Qc Qd Jk", "Ac Ad Kc 3d Jk"),
    ],
)
def test_five_card_ranking_with_joker(lower: str, higher: str) -> None:
    assert five_card_strength(parse_cards(lower)) < five_card_strength(parse_cards(higher))


def test_a_joker_without_a_straight_or_flush_is_an_ace() -> None:
    strength = five_card_strength(parse_cards("Kc Kd Qc Qd Jk"))
    assert category(strength, FIVE_CARD_ORDER) == "two-pair"
    assert strength[-1] == 12


def test_flushes_and_pairs() -> None:
    longer = flush_strength(parse_cards("2c 3c 4c 5c Ah Kh Qh"))
    assert longer == (4, 3, 2, 1, 0)
    assert pair_strength(parse_cards("2c 2d")) > pair_strength(parse_cards("Ac Kd"))
    assert pair_strength(parse_cards("Jk 2d")) == (0, 12, 0)


def test_the_paid_hand_is_the_first_one_made() -> None:
    fortune = load_paytable("face-up-pai-gow/fortune-bonus/1")
    both = paid_hand(fortune, parse_cards("9c 9d 9h Tc Jd Qh Ks"))
    assert both is not None
    assert both.id == "three-of-a-kind"  # stands above the straight in that table
    assert paid_hand(fortune, parse_cards("2c 4d 6h 8s Tc Qd Kh")) is None


def test_card_names() -> None:
    assert parse_card("10c") == parse_card("Tc")
    assert all(parse_card(card_name(card)) == card for card in range(53))
    with pytest.raises(ValueError, match="is not a card"):
        parse_card("1c")
    with pytest.raises(ValueError, match="no rank"):
        rank_of(JOKER)
    with pytest.raises(ValueError, match="no suit"):
        suit_of(JOKER)


def test_every_single_hand_evaluator_has_a_plain_form() -> None:
    for name, info in EVALUATORS.items():
        cards = tuple(range(0, 49, 7))[: info.cards_considered]
        if info.hands_at_table == 1:
            assert hands_made(name, cards) <= set(info.hands)
        else:
            with pytest.raises(ValueError, match="does not rank one hand"):
                hands_made(name, cards)
