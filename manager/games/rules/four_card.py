"""Four Card Poker: five cards against the dealer's six, best four count.

The dealer always qualifies and the player wins ties. ANTE with PLAY (one to three times
the ANTE) against the dealer, Aces Up against a paytable, or both; Automatic Bonus on the
ANTE; Bad Beat Bonus. Irregular deals are refused ("all hands are void").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from manager.games.evaluators.cards import Cards
from manager.games.evaluators.plain import paid_hand
from manager.games.evaluators.strength import Strength, four_card_strength
from manager.games.model import Paytable
from manager.games.rules.bad_beat import settle_bad_beat
from manager.games.rules.settlement import (
    RuleError,
    Settled,
    check_deal,
    check_play,
    check_wagers,
    lose,
    pay_cards,
    pay_hand,
    win,
)

PLAYER_CARDS, DEALER_CARDS = 5, 6
PLAY_TIMES_MAX = 3
_PAIR_OF_TENS: Strength = (1, 8)
_PAIR_OF_THREES: Strength = (1, 1)


@dataclass(frozen=True)
class Wagers:
    """A player's bets in cents; PLAY 0 with an ANTE is a fold."""

    ante_cents: int = 0
    play_cents: int = 0
    aces_up_cents: int = 0
    bad_beat_cents: int = 0


@dataclass(frozen=True)
class Paytables:
    """The paytables in force at the table."""

    automatic_bonus: Paytable
    aces_up: Paytable
    bad_beat: Paytable | None = None


def settle(player: Cards, dealer: Cards, wagers: Wagers, tables: Paytables) -> list[Settled]:
    """Settle every bet of one player, PLAY first, as the dealer reconciles them."""
    check_deal([(player, PLAYER_CARDS), (dealer, DEALER_CARDS)])
    _check(wagers, tables)
    own, other = four_card_strength(player), four_card_strength(dealer)
    settled = _against_dealer(player, own, other, wagers, tables) if wagers.ante_cents else []
    if wagers.aces_up_cents:
        settled.append(pay_cards(tables.aces_up, wagers.aces_up_cents, player))
    if wagers.bad_beat_cents and tables.bad_beat:
        folded = wagers.play_cents == 0
        settled.append(settle_bad_beat(tables.bad_beat, wagers.bad_beat_cents, own, other, folded))
    return settled


def choose_play(player: Cards) -> int:
    """A simple strategy: times the ANTE to play. 3 from a pair of tens, 1 from a pair of threes.

    These are the hands that win at least half and a quarter of the time against six cards.
    """
    strength = four_card_strength(player)
    if strength >= _PAIR_OF_TENS:
        return 3
    return 1 if strength >= _PAIR_OF_THREES else 0


def _check(wagers: Wagers, tables: Paytables) -> None:
    check_wagers(
        ante_cents=wagers.ante_cents,
        play_cents=wagers.play_cents,
        aces_up_cents=wagers.aces_up_cents,
        bad_beat_cents=wagers.bad_beat_cents,
    )
    if not wagers.ante_cents and not wagers.aces_up_cents:
        raise RuleError("A player must bet the ANTE, ACES UP, or both.")
    if wagers.bad_beat_cents and (not wagers.ante_cents or tables.bad_beat is None):
        raise RuleError("The Bad Beat Bonus needs an ANTE and a table that offers it.")
    check_play(wagers.play_cents, wagers.ante_cents, PLAY_TIMES_MAX)


def _against_dealer(
    player: Cards, own: Strength, other: Strength, wagers: Wagers, tables: Paytables
) -> list[Settled]:
    if wagers.play_cents == 0:
        return [lose("ante", wagers.ante_cents)]
    settle_bet = win if own >= other else lose
    settled = [settle_bet("play", wagers.play_cents), settle_bet("ante", wagers.ante_cents)]
    bonus = paid_hand(tables.automatic_bonus, player)
    if bonus is not None:
        # Paid against the ANTE, which was settled above: the bonus itself risks nothing.
        paid = pay_hand("automatic-bonus", wagers.ante_cents, bonus)
        settled.append(replace(paid, wager_cents=0))
    return settled
