"""How each game is dealt and bet in training: cards, deck, bets, strategy, settlement.

It alone knows which rules module deals how many cards, which bets a training player makes and by
which paytables, unless others are chosen. The rules themselves are in `manager.games.rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from manager.games import Paytable, UnknownPaytableError, load_paytable
from manager.games.evaluators.cards import JOKER, Cards
from manager.games.rules import (
    cover_all,
    crazy_4,
    face_up_pai_gow,
    four_card,
    high_five,
    i_luv_suits,
)
from manager.games.rules.settlement import WIN, RuleError, Settled, pay_cards

ANTE_CENTS = 1000
SIDE_CENTS = 500
SMALL_SIDE_CENTS = 200  # too small for an envy lammer
WAGER_CENTS_MAX = 3 * ANTE_CENTS
ENVY = "envy"

Papers = Mapping[str, Paytable]
"""The paytable of each bet, by the bet's name."""

Settle = Callable[[Cards, Cards, Papers], tuple[int, list[Settled]]]
SettleRound = Callable[[Cards, Mapping[int, Cards], Papers], dict[int, list[Settled]]]


def _nothing_more(
    _dealer: Cards, _hands: Mapping[int, Cards], _papers: Papers
) -> dict[int, list[Settled]]:
    return {}


@dataclass(frozen=True)
class TrainingTable:
    """One game as it is dealt.

    `settle` plays one seat's strategy and returns (PLAY times, bets); `settle_round` has the bets
    that all hands of the round decide together.
    """

    game: str
    title: str
    deck: int
    player_cards: int
    dealer_cards: int
    settle: Settle
    paytables: tuple[str, ...] = ()
    settle_round: SettleRound = _nothing_more

    def papers(self, chosen: Sequence[str] = ()) -> dict[str, Paytable]:
        """The usual paytables of its bets, with the chosen ones in their places."""
        papers = {each.bet: each for each in map(load_paytable, self.paytables)}
        for name in chosen:
            try:
                paytable = load_paytable(name)
            except UnknownPaytableError as error:
                raise RuleError(str(error)) from error
            if paytable.game != self.game or paytable.bet not in papers:
                bets = ", ".join(f"{self.game}/{bet}" for bet in papers)
                raise RuleError(f"{name} is for no bet of this training; there are {bets}.")
            papers[paytable.bet] = paytable
        return papers


def _four_card(player: Cards, dealer: Cards, papers: Papers) -> tuple[int, list[Settled]]:
    times = four_card.choose_play(player)
    tables = four_card.Paytables(papers["automatic-bonus"], papers["aces-up"], papers["bad-beat"])
    wagers = four_card.Wagers(ANTE_CENTS, times * ANTE_CENTS, SIDE_CENTS, SIDE_CENTS)
    return times, four_card.settle(player, dealer, wagers, tables)


def _crazy_4(player: Cards, dealer: Cards, papers: Papers) -> tuple[int, list[Settled]]:
    times = crazy_4.choose_play(player)
    tables = crazy_4.Paytables(papers["super-bonus"], papers["queens-up"], papers["bad-beat"])
    wagers = crazy_4.Wagers(ANTE_CENTS, ANTE_CENTS, times * ANTE_CENTS, SIDE_CENTS, SIDE_CENTS)
    return times, crazy_4.settle(player, dealer, wagers, tables)


def _high_five(player: Cards, dealer: Cards, papers: Papers) -> tuple[int, list[Settled]]:
    times = high_five.choose_play(player)
    wagers = high_five.Wagers(ANTE_CENTS, times * ANTE_CENTS, SIDE_CENTS)
    return times, high_five.settle(player, dealer, wagers, papers["trips"])


def _i_luv_suits(player: Cards, dealer: Cards, papers: Papers) -> tuple[int, list[Settled]]:
    times = i_luv_suits.choose_play(player)
    tables = i_luv_suits.Paytables(papers["flush-rush"], papers["super-flush-rush"])
    wagers = i_luv_suits.Wagers(ANTE_CENTS, times * ANTE_CENTS, SIDE_CENTS, SIDE_CENTS)
    return times, i_luv_suits.settle(player, dealer, wagers, tables)


def _face_up_pai_gow(player: Cards, dealer: Cards, papers: Papers) -> tuple[int, list[Settled]]:
    tables = face_up_pai_gow.Paytables(papers["fortune-bonus"], papers["ace-high"])
    wagers = face_up_pai_gow.Wagers(ANTE_CENTS, 0, SIDE_CENTS)
    choose = face_up_pai_gow.choose_setting
    return 0, face_up_pai_gow.settle(choose(player), choose(dealer), wagers, tables)


def fortune_cents(seat: int) -> int:
    """Odd seats bet enough for an envy lammer; the others show that a small bet gets none."""
    return SIDE_CENTS if seat % 2 else SMALL_SIDE_CENTS


def _fortune_and_envy(
    _dealer: Cards, hands: Mapping[int, Cards], papers: Papers
) -> dict[int, list[Settled]]:
    """The Fortune Bonus of each seat, and what its lammer brings for the others' hands."""
    table = papers["fortune-bonus"]
    wagers = {seat: fortune_cents(seat) for seat in hands}
    envy = face_up_pai_gow.envy_sheet(table, hands, wagers)
    return {
        seat: [
            pay_cards(table, wagers[seat], hands[seat]),
            Settled(ENVY, 0, WIN, envy.get(seat, 0)),
        ]
        for seat in hands
    }


def _nothing_alone(_player: Cards, _dealer: Cards, _papers: Papers) -> tuple[int, list[Settled]]:
    """The base game of Cover All is in no document here: nothing of it is asked."""
    return 0, []


def _cover_all(
    dealer: Cards, hands: Mapping[int, Cards], _papers: Papers
) -> dict[int, list[Settled]]:
    paid = cover_all.settle([dealer, *hands.values()], SIDE_CENTS)
    return {seat: [paid] for seat in hands}


TABLES = {
    table.game: table
    for table in (
        TrainingTable(
            "four-card",
            "Four Card Poker",
            JOKER,
            5,
            6,
            _four_card,
            (
                "four-card/automatic-bonus/FCP-01",
                "four-card/aces-up/FCP-01",
                "four-card/bad-beat/BBB-01",
            ),
        ),
        TrainingTable(
            "crazy-4",
            "Crazy 4 Poker",
            JOKER,
            5,
            5,
            _crazy_4,
            (
                "crazy-4/super-bonus/C4P-09",
                "crazy-4/queens-up/C4P-09",
                "crazy-4/bad-beat/BBB-01",
            ),
        ),
        TrainingTable(
            "high-five",
            "High Five Poker",
            JOKER + 1,
            7,
            7,
            _high_five,
            ("high-five/trips/APP-01",),
        ),
        TrainingTable(
            "i-luv-suits",
            "I Luv Suits Poker",
            JOKER,
            7,
            7,
            _i_luv_suits,
            ("i-luv-suits/flush-rush/1", "i-luv-suits/super-flush-rush/1"),
        ),
        TrainingTable(
            "face-up-pai-gow",
            "Face Up Pai Gow Poker",
            JOKER + 1,
            7,
            7,
            _face_up_pai_gow,
            ("face-up-pai-gow/fortune-bonus/1", "face-up-pai-gow/ace-high/1"),
            _fortune_and_envy,
        ),
        TrainingTable(
            "caribbean-stud",
            "Caribbean Stud Poker, Cover All Bonus",
            JOKER,
            5,
            5,
            _nothing_alone,
            settle_round=_cover_all,
        ),
    )
}
