"""Counts of the odds engine against closed formulas and against other ways of counting."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from manager.games import load_paytable
from manager.odds.ace_high import _common_suits, _finish, ace_high_counts, single_count
from manager.odds.bad_beat import bad_beat_counts
from manager.odds.classes import all_classes, suit_classes
from manager.odds.duels import duels
from manager.odds.masks import ACE_BIT, POPCOUNT, holds_run, longest_run
from manager.odds.signatures import RankCounts, signature_counts
from manager.odds.strengths import CATEGORIES, category, four_card_strengths
from manager.odds.suited import _seven_card_states
from manager.odds.tally import tally


def counts(paytable_id: str) -> dict[str, int]:
    return tally(load_paytable(paytable_id)).counts


@pytest.mark.parametrize(
    ("cards", "classes"), [(0, 1), (1, 13), (2, 169), (5, 134_459), (6, 962_988), (7, 6_009_159)]
)
def test_suit_classes_stand_for_every_hand(cards: int, classes: int) -> None:
    weights = [block.weights for block in suit_classes(cards)]
    assert sum(len(block) for block in weights) == classes
    assert sum(int(block.sum(dtype=np.int64)) for block in weights) == comb(52, cards)


def test_five_card_counts_follow_from_combinatorics() -> None:
    found = counts("crazy-4/multi-game-link/01")
    assert found["royal-flush"] == 4
    assert found["straight-flush"] == 9 * 4
    assert found["four-of-a-kind"] == 13 * 48
    assert found["full-house"] == 13 * comb(4, 3) * 12 * comb(4, 2)
    assert found["flush"] == 4 * comb(13, 5) - 40
    assert found["straight"] == 10 * 4**5 - 40
    assert found["three-of-a-kind"] == 13 * comb(4, 3) * comb(12, 2) * 4 * 4
    assert tally(load_paytable("crazy-4/multi-game-link/01")).total == comb(52, 5)


def test_four_card_counts_follow_from_combinatorics() -> None:
    found = counts("four-card/aces-up/FCP-01")
    assert found["four-of-a-kind"] == 13 * 48
    assert found["three-of-a-kind"] == 13 * comb(4, 3) * comb(48, 2)
    # Of four suited cards in a row: 2 end runs and 9 others; two runs overlap in five cards.
    assert found["straight-flush"] == 4 * (11 * 48 - 10)
    straight_flushes = found["straight-flush"]
    assert found["flush"] == 4 * (comb(13, 5) + comb(13, 4) * 39) - straight_flushes
    assert counts("four-card/progressive/Pays-1")["four-aces"] == 48


def test_seven_card_counts_follow_from_combinatorics() -> None:
    found = counts("i-luv-suits/jackpot/1")
    assert found["royal-flush-hearts"] == comb(47, 2)
    assert found["royal-flush"] == 3 * comb(47, 2)
    # A king-high or lower straight flush must not hold the next higher card of its suit.
    assert found["straight-flush"] == 4 * 9 * comb(46, 2)
    assert found["four-of-a-kind"] == 13 * comb(48, 3)
    flushes = 4 * (comb(13, 7) + comb(13, 6) * 39 + comb(13, 5) * comb(39, 2))
    assert found["flush"] == flushes - found["royal-flush"] * 4 // 3 - found["straight-flush"]


def test_joker_counts_follow_from_combinatorics() -> None:
    found = counts("face-up-pai-gow/jackpot/WA01")
    assert found["seven-card-straight-flush-natural"] == 8 * 4
    assert found["royal-flush-royal-match"] == 4 * 3 + 4 * 5 * 3
    # Six of seven in a row: 8 runs less one of 7 cards each; a bare six is met twice.
    assert found["seven-card-straight-flush-joker"] == 4 * (8 * 7 - 16 + 9)
    assert found["five-aces"] == comb(48, 2)
    assert tally(load_paytable("face-up-pai-gow/jackpot/WA01")).total == comb(53, 7)
    wild = counts("face-up-pai-gow/jackpot/WA03")["seven-card-straight-flush"]
    assert wild == 32 + 196


def test_one_enumeration_serves_joker_and_plain_sevens() -> None:
    assert sum(signature_counts("seven-card").values()) == comb(52, 7)
    assert sum(signature_counts("seven-card-joker").values()) == comb(53, 7)


def test_suited_counts_agree_with_the_enumeration_of_classes() -> None:
    table: dict[tuple[int, int], int] = {}
    run = longest_run()
    for block in suit_classes(7):
        flush = np.max([POPCOUNT[suit] for suit in block.suits], axis=0).astype(np.int64)
        longest = np.max([run[suit] for suit in block.suits], axis=0)
        sums = np.bincount(flush * 8 + longest, weights=block.weights, minlength=64)
        for key in np.flatnonzero(sums):
            pair = (int(key) // 8, int(key) % 8)
            table[pair] = table.get(pair, 0) + int(sums[key])
    folded: dict[tuple[int, int], int] = {}
    for (_, length, straight, _ace), count in _seven_card_states().items():
        folded[length, straight] = folded.get((length, straight), 0) + count
    assert folded == table


def test_duels_agree_with_every_dealer_hand_of_one_player() -> None:
    table, players = duels(5), all_classes(5)
    rest_combinations = np.array(list(combinations(range(47), 5)), dtype=np.int64)
    for row in (77, 98_765):
        masks = [int(suit[row]) for suit in players.suits]
        rest = np.array([card for card in range(52) if not masks[card // 13] >> card % 13 & 1])
        dealer = rest[rest_combinations]
        bits = np.left_shift(1, dealer % 13)
        suits = [
            np.where(dealer // 13 == suit, bits, 0).sum(axis=1).astype(np.uint16)
            for suit in range(4)
        ]
        strengths = four_card_strengths((suits[0], suits[1], suits[2], suits[3]))
        own = table.strengths[row]
        assert int((strengths > own).sum()) == table.higher[row]
        assert int((strengths == own).sum()) == table.equal[row]
        assert int((strengths < own).sum()) == table.lower[row]


@pytest.mark.parametrize("dealer_cards", [5, 6])
def test_duels_hold_every_dealer_hand(dealer_cards: int) -> None:
    table = duels(dealer_cards)
    assert min(int(column.min()) for column in (table.higher, table.equal, table.lower)) >= 0
    dealers = all_classes(dealer_cards)
    own = category(four_card_strengths(dealers.suits))
    for number in range(len(CATEGORIES) - 1):
        of_category = int(dealers.weights[own == number].sum(dtype=np.int64))
        between = table.below_category[number + 1] - table.below_category[number]
        # Any dealer hand leaves the player this many hands.
        assert int((table.weights * between).sum()) == of_category * comb(52 - dealer_cards, 5)


def test_equal_hands_beat_each_other_equally_often() -> None:
    table = duels(5)
    assert int((table.weights * table.higher).sum()) == int((table.weights * table.lower).sum())
    found, total = bad_beat_counts(5)
    assert total == comb(52, 5) * comb(47, 5)
    # Two hands of three of a kind never tie, so one of them is always beaten.
    assert found["three-of-a-kind"] > found["straight-flush"] > found["four-of-a-kind"]


def ace_high_by_enumeration(joker: bool) -> int:
    total = 0
    for block in suit_classes(6 if joker else 7):
        ranks = RankCounts(block.suits)
        flush = np.max([POPCOUNT[suit] for suit in block.suits], axis=0) >= (4 if joker else 5)
        ace = (ranks.once & ACE_BIT) != 0
        fits = (ranks.twice == 0) & ~flush & ~holds_run(5, int(joker))[ranks.once]
        fits &= ~ace if joker else ace
        total += int(block.weights[fits].sum(dtype=np.int64))
    return total


@pytest.mark.parametrize("joker", [False, True])
def test_ace_high_hands_agree_with_the_enumeration(joker: bool) -> None:
    assert single_count(joker) == ace_high_by_enumeration(joker)


def test_ace_high_pairs_are_within_the_single_hands() -> None:
    deals = ace_high_counts()
    players = comb(46, 7)
    assert deals.total == comb(53, 7) * players
    dealer = deals.both + deals.dealer_with_joker + deals.dealer_without_joker
    assert dealer == (single_count(True) + single_count(False)) * players


def test_suit_patterns_of_two_hands_by_brute_force() -> None:
    """Two hands of three ranks with two in common, at most two cards of a suit each."""
    found = 0
    for suits in np.ndindex(4, 4, 4, 4, 4, 4):
        dealer, player = suits[:3], suits[3:]
        apart = all(dealer[rank] != player[rank] for rank in range(2))
        longest = max(max(hand.count(suit) for suit in range(4)) for hand in (dealer, player))
        found += apart and longest <= 2
    counted = sum(
        ways * _finish(dealer_suits, 1, 2) * _finish(player_suits, 1, 2)
        for (dealer_suits, player_suits), ways in _common_suits(2).items()
    )
    assert counted == found
