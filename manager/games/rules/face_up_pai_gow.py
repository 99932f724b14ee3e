"""Face Up Pai Gow Poker: seven cards from 53, set into five and two; the dealer shows first.

No commission; everything pushes when the dealer has exactly an ace-high pai gow. Fortune
Bonus and Ace-High pay by paytable, and envy goes to Fortune Bonus bets of $5 or more. The
document leaves ordinary play to the posted rules of Pai Gow Poker: there a copy goes to the
dealer and a foul hand loses. The house way by which a dealer sets is the casino's, so
``settle`` takes set hands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from manager.games.evaluators.cards import ACE, JOKER, Cards
from manager.games.evaluators.plain import paid_hand
from manager.games.evaluators.strength import Strength, five_card_strength, pair_strength
from manager.games.model import Hand, Paytable
from manager.games.rules.settlement import (
    RuleError,
    Settled,
    check_deal,
    check_wagers,
    lose,
    pay_cards,
    pay_hand,
    push,
    win,
)

CARDS = 7
ENVY_WAGER_CENTS_MIN = 500


@dataclass(frozen=True)
class SetHand:
    """Seven cards set into a five-card and a two-card hand."""

    five: Cards
    two: Cards

    @property
    def cards(self) -> tuple[int, ...]:
        """All seven cards."""
        return (*self.five, *self.two)

    @property
    def is_foul(self) -> bool:
        """True when the two-card hand ranks above the five-card hand."""
        five, two = five_card_strength(self.five), pair_strength(self.two)
        if two[0] == 1:
            return five < (1, two[1])
        return five[0] == 0 and five[1:3] < two[1:]


@dataclass(frozen=True)
class Wagers:
    """A player's bets in cents."""

    main_cents: int
    fortune_bonus_cents: int = 0
    ace_high_cents: int = 0


@dataclass(frozen=True)
class Paytables:
    """The paytables in force at the table; Ace-High only where it is offered."""

    fortune_bonus: Paytable
    ace_high: Paytable | None = None


def settle(player: SetHand, dealer: SetHand, wagers: Wagers, tables: Paytables) -> list[Settled]:
    """Settle every bet of one player; envy comes at the end of the round."""
    check_deal([(player.five, 5), (player.two, 2), (dealer.five, 5), (dealer.two, 2)], jokers=1)
    _check(wagers, tables, dealer)
    settled = [_main(player, dealer, wagers.main_cents)]
    if wagers.fortune_bonus_cents:
        settled.append(pay_cards(tables.fortune_bonus, wagers.fortune_bonus_cents, player.cards))
    if wagers.ace_high_cents and tables.ace_high:
        hand = ace_high_hand(tables.ace_high, player.cards, dealer.cards)
        settled.append(pay_hand("ace-high", wagers.ace_high_cents, hand))
    return settled


def is_ace_high_pai_gow(cards: Cards) -> bool:
    """Exactly ace-high: an ace, or the joker as one, and no pair, straight or flush."""
    best = five_card_strength(cards)
    return best[0] == 0 and best[1] == ACE


def ace_high_hand(paytable: Paytable, player: Cards, dealer: Cards) -> Hand | None:
    """The hand the Ace-High bet pays, if any."""
    if not is_ace_high_pai_gow(dealer):
        return None
    made = {"dealer-ace-high-joker" if JOKER in dealer else "dealer-ace-high-no-joker"}
    if is_ace_high_pai_gow(player):
        made.add("dealer-and-player-ace-high")
    return next((hand for hand in paytable.hands if hand.id in made), None)


def envy_sheet(
    paytable: Paytable, hands: Mapping[int, Cards], fortune_cents: Mapping[int, int]
) -> dict[int, int]:
    """Envy cents per seat: every lammer wins for each other player's qualifying hand."""
    envy = {seat: _envy_cents(paytable, cards) for seat, cards in hands.items()}
    return {
        seat: sum(cents for other, cents in envy.items() if other != seat)
        for seat, wager in fortune_cents.items()
        if wager >= ENVY_WAGER_CENTS_MIN
    }


def choose_setting(cards: Cards) -> SetHand:
    """A simple way to set, no house way: the highest two-card hand that costs the five no
    category, or with two pair or better the best balance of both."""
    settings = [_setting(cards, two) for two in combinations(cards, 2)]
    legal = [setting for setting in settings if not setting.is_foul]
    return max(legal, key=_balance)


def _setting(cards: Cards, two: Cards) -> SetHand:
    return SetHand(tuple(card for card in cards if card not in two), two)


def _balance(setting: SetHand) -> tuple[int, Strength, Strength]:
    five, two = five_card_strength(setting.five), pair_strength(setting.two)
    # A pair in front is worth about two categories behind.
    return (five[0] + 2 * two[0], two, five)


def _check(wagers: Wagers, tables: Paytables, dealer: SetHand) -> None:
    check_wagers(
        main_cents=wagers.main_cents,
        fortune_bonus_cents=wagers.fortune_bonus_cents,
        ace_high_cents=wagers.ace_high_cents,
    )
    if wagers.main_cents == 0:
        raise RuleError("The Pai Gow wager comes first.")
    if wagers.ace_high_cents and tables.ace_high is None:
        raise RuleError("This table does not offer the Ace-High bonus.")
    if dealer.is_foul:
        raise RuleError("The dealer's two-card hand ranks above the five-card hand; set it again.")


def _main(player: SetHand, dealer: SetHand, wager_cents: int) -> Settled:
    if is_ace_high_pai_gow(dealer.cards):
        return push("main", wager_cents)
    if player.is_foul:
        return lose("main", wager_cents)
    wins = [
        five_card_strength(player.five) > five_card_strength(dealer.five),
        pair_strength(player.two) > pair_strength(dealer.two),
    ]
    if all(wins):
        return win("main", wager_cents)
    return push("main", wager_cents) if any(wins) else lose("main", wager_cents)


def _envy_cents(paytable: Paytable, cards: Cards) -> int:
    hand = paid_hand(paytable, cards)
    return hand.envy_cents if hand else 0
