"""What is dealt at a table: real cards by the rules of play, and the hands its jackpot bets win.

It alone knows which rules a table's game has, how many players one deck serves, and whether a
folded hand still wins. It knows no table, no unit and no money.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from manager.games import Hand, Paytable, load_paytable
from manager.training.deal import deal_round, jackpot_hand
from manager.training.tables import TABLES, TrainingTable
from protocol.sensor_id import letter_of, seat_of
from protocol.wire.settings import TableSettings

# Games that are played by other games' rules as far as the cards go.
SAME_CARDS = {"fortune-pai-gow": "face-up-pai-gow"}
# In these a player chooses between PLAY and fold; in the others nobody folds.
GAMES_WITH_FOLDS = frozenset({"four-card", "crazy-4", "high-five", "i-luv-suits"})


@dataclass(frozen=True)
class Dealt:
    """One round's cards as far as the jackpots go: the winning hand at each bet that has one."""

    winners: Mapping[str, Hand]  # by sensor
    folded: frozenset[int]  # seats


class Dealer:
    def __init__(self, settings: TableSettings, chance: random.Random) -> None:
        self._chance = chance
        self._folded_qualify = settings.folded_hands_qualify
        self.paytables: dict[str, Paytable] = {
            game.letter: load_paytable(game.paytable) for game in settings.games
        }
        game = settings.games[0].paytable.split("/")[0]
        self._game = SAME_CARDS.get(game, game)
        self._rules: TrainingTable = TABLES[self._game]
        in_deck = (self._rules.deck - self._rules.dealer_cards) // self._rules.player_cards
        self.players_max = min(settings.seat_count, in_deck)

    def deal(self, seats: Iterable[int], bets: Iterable[str]) -> Dealt:
        """Cards for every seat that plays, and what they bring the jackpot bets among them."""
        dealt = deal_round(self._rules, sorted(seats), self._chance)
        cards = {seat.number: seat.cards for seat in dealt.seats}
        folded = frozenset(
            seat.number
            for seat in dealt.seats
            if self._game in GAMES_WITH_FOLDS and seat.play_times == 0
        )
        winners: dict[str, Hand] = {}
        for sensor in bets:
            seat = seat_of(sensor)
            if seat in folded and not self._folded_qualify:
                continue
            hand = jackpot_hand(self.paytables[letter_of(sensor)], cards[seat])
            if hand is not None:
                winners[sensor] = hand
        return Dealt(winners, folded)
