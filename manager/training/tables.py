"""How each game is dealt and bet in training: cards, deck, bets, strategy, settlement.

It alone knows which rules module deals how many cards and which bets a training player makes. The
rules themselves are in `manager.games.rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from manager.games import load_paytable
from manager.games.evaluators.cards import JOKER, Cards
from manager.games.rules import crazy_4, face_up_pai_gow, four_card, high_five, i_luv_suits
from manager.games.rules.settlement import Settled

ANTE_CENTS = 1000
SIDE_CENTS = 500

Settle = Callable[[Cards, Cards], tuple[int, list[Settled]]]


@dataclass(frozen=True)
class TrainingTable:
    """One game as it is dealt; `settle` plays the strategy and returns (PLAY times, bets)."""

    game: str
    title: str
    deck: int
    player_cards: int
    dealer_cards: int
    settle: Settle


def _four_card(player: Cards, dealer: Cards) -> tuple[int, list[Settled]]:
    times = four_card.choose_play(player)
    tables = four_card.Paytables(
        load_paytable("four-card/automatic-bonus/FCP-01"),
        load_paytable("four-card/aces-up/FCP-01"),
        load_paytable("four-card/bad-beat/BBB-01"),
    )
    wagers = four_card.Wagers(ANTE_CENTS, times * ANTE_CENTS, SIDE_CENTS, SIDE_CENTS)
    return times, four_card.settle(player, dealer, wagers, tables)


def _crazy_4(player: Cards, dealer: Cards) -> tuple[int, list[Settled]]:
    times = crazy_4.choose_play(player)
    tables = crazy_4.Paytables(
        load_paytable("crazy-4/super-bonus/C4P-09"),
        load_paytable("crazy-4/queens-up/C4P-09"),
        load_paytable("crazy-4/bad-beat/BBB-01"),
    )
    wagers = crazy_4.Wagers(ANTE_CENTS, ANTE_CENTS, times * ANTE_CENTS, SIDE_CENTS, SIDE_CENTS)
    return times, crazy_4.settle(player, dealer, wagers, tables)


def _high_five(player: Cards, dealer: Cards) -> tuple[int, list[Settled]]:
    times = high_five.choose_play(player)
    wagers = high_five.Wagers(ANTE_CENTS, times * ANTE_CENTS, SIDE_CENTS)
    return times, high_five.settle(player, dealer, wagers, load_paytable("high-five/trips/APP-01"))


def _i_luv_suits(player: Cards, dealer: Cards) -> tuple[int, list[Settled]]:
    times = i_luv_suits.choose_play(player)
    tables = i_luv_suits.Paytables(
        load_paytable("i-luv-suits/flush-rush/1"), load_paytable("i-luv-suits/super-flush-rush/1")
    )
    wagers = i_luv_suits.Wagers(ANTE_CENTS, times * ANTE_CENTS, SIDE_CENTS, SIDE_CENTS)
    return times, i_luv_suits.settle(player, dealer, wagers, tables)


def _face_up_pai_gow(player: Cards, dealer: Cards) -> tuple[int, list[Settled]]:
    tables = face_up_pai_gow.Paytables(
        load_paytable("face-up-pai-gow/fortune-bonus/1"),
        load_paytable("face-up-pai-gow/ace-high/1"),
    )
    wagers = face_up_pai_gow.Wagers(ANTE_CENTS, SIDE_CENTS, SIDE_CENTS)
    choose = face_up_pai_gow.choose_setting
    return 0, face_up_pai_gow.settle(choose(player), choose(dealer), wagers, tables)


TABLES = {
    table.game: table
    for table in (
        TrainingTable("four-card", "Four Card Poker", JOKER, 5, 6, _four_card),
        TrainingTable("crazy-4", "Crazy 4 Poker", JOKER, 5, 5, _crazy_4),
        TrainingTable("high-five", "High Five Poker", JOKER + 1, 7, 7, _high_five),
        TrainingTable("i-luv-suits", "I Luv Suits Poker", JOKER, 7, 7, _i_luv_suits),
        TrainingTable(
            "face-up-pai-gow", "Face Up Pai Gow Poker", JOKER + 1, 7, 7, _face_up_pai_gow
        ),
    )
}
