"""The people at the table for one evening: players who bet, a dealer who enters what was dealt.

They act only as people can: chips, fingers, cards, the key. After every round the manager's books
must show exactly the hands that were dealt; if they do not, the evening ends with a sentence.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hal import aio
from manager.games import ForOne
from manager.games.rules.aggregate import PER_PLAYER, PER_TABLE, AggregateLimit, apply_limit
from manager.games.rules.settlement import Settled, pay_hand
from protocol.numbers import WORKFLOW_KEYPAD
from protocol.sensor_id import letter_of, seat_of
from protocol.wire.settings import TableSettings
from sim.floor.floor import Floor, FloorTable
from sim.runs.evening.dealing import Dealer, Dealt

PACE_MS = 400
WAIT_MAX_MS = 10_000
LOOK_EVERY_MS = 20
BET_CHANCE = 0.6
CARD_OF_ROLE = {"SUPERVISOR": "SUPERVISOR", "EXECUTIVE": "EXECUTIVE"}


class EveningError(Exception):
    """The table or the books are not as the cards fell; the sentence says how."""


@dataclass
class EveningCount:
    """What happened, counted at the table and not in the books."""

    rounds: int = 0
    bets: Counter[str] = field(default_factory=Counter)  # by the game's letter
    hands: Counter[tuple[str, str]] = field(default_factory=Counter)  # (letter, hand)
    folds: int = 0
    limited_rounds: int = 0  # in which fixed pays passed the aggregate limit
    cut_cents: int = 0  # by so much the limit would lower them


class Evening:
    def __init__(self, floor: Floor, table: FloorTable, seed: int) -> None:
        self._floor, self._table = floor, table
        self._chance = random.Random(seed)
        rules = table.manager.app.book.tables.rules(table.config.table_id)
        self._settings = rules.settings
        self.limit = _limit_of(rules.settings)
        self.dealer = Dealer(rules.settings, self._chance)
        self._sensors = [sensor.id for sensor in table.config.board.sensors]
        self._is_keypad = table.config.workflow == WORKFLOW_KEYPAD
        self.tally = EveningCount()

    async def play(self, rounds: int) -> None:
        for _ in range(rounds):
            await self._round()

    async def _round(self) -> None:
        await self._until("open")
        seats = self._players()
        bets = self._bets(seats)
        for sensor in bets:
            self._table.place(sensor)
        await aio.sleep_ms(PACE_MS)
        await self._press("START")
        await self._until("locked")
        for sensor in bets:  # the dealer takes the chips; the bets are the unit's to remember
            self._table.remove(sensor)
        dealt = self.dealer.deal(seats, bets)
        self._count(bets, dealt)
        if dealt.winners:
            await self._enter(dealt)
        self._compare(dealt)
        self._count_limit(dealt)
        await self._tick_off()
        await self._press("END")

    def _players(self) -> set[int]:
        everyone = sorted({seat_of(sensor) for sensor in self._sensors})
        count = self._chance.randint(1, self.dealer.players_max)
        return set(self._chance.sample(everyone, count))

    def _bets(self, seats: set[int]) -> list[str]:
        """At least one: a round without a bet is no round of the unit's."""
        offered = [sensor for sensor in self._sensors if seat_of(sensor) in seats]
        taken = [sensor for sensor in offered if self._chance.random() < BET_CHANCE]
        return taken or [self._chance.choice(offered)]

    async def _enter(self, dealt: Dealt) -> None:
        if self._is_keypad:
            await self._enter_by_keys(dealt)
        else:
            await self._enter_by_touch(dealt)
        await self._until("locked")

    async def _enter_by_keys(self, dealt: Dealt) -> None:
        """The hand, then its seat when the table asks; a big one needs the key and J-POT."""
        for sensor, hand in sorted(dealt.winners.items()):
            await self._press(f"HAND {hand.id}")
            if self._view()["guide"]["sentence"].startswith("Press the seat"):
                await self._press(f"SEAT {seat_of(sensor)}")
        if self._view()["guide"]["next"] == "CONFIRM":
            await self._press("CONFIRM")
            return
        await self._turn("JPH")
        await self._press("JPOT")
        await self._turn("RUN")

    async def _turn(self, position: str) -> None:
        self._table.turn_key(position)
        await aio.sleep_ms(PACE_MS)

    async def _enter_by_touch(self, dealt: Dealt) -> None:
        two_games = len(self.dealer.paytables) > 1
        for sensor, hand in sorted(dealt.winners.items()):
            await self._press(f"SEAT {seat_of(sensor)}")
            letter = f" {letter_of(sensor)}" if two_games else ""
            await self._press(f"HAND {hand.id}{letter}")
        await self._press("CONFIRM")
        await self._authorise()

    async def _authorise(self) -> None:
        """A win beyond the dealer's limit waits for the card that the panel asks for."""
        waited_ms = 0
        while waited_ms < WAIT_MAX_MS:
            claim = self._view()["claim"]
            if claim is None:
                return
            if claim["stage"] == "authorise" and claim["role"] in CARD_OF_ROLE:
                self._table.swipe(CARD_OF_ROLE[claim["role"]])
                await aio.sleep_ms(PACE_MS)
                return
            await aio.sleep_ms(LOOK_EVERY_MS)
            waited_ms += LOOK_EVERY_MS
        raise EveningError(f"The win was not authorised in {WAIT_MAX_MS // 1000} s.")

    async def _tick_off(self) -> None:
        """The dealer hands each seat what the pay list says, and ticks it."""
        pay = None if self._is_keypad else self._view()["pay"]
        for row in pay["rows"] if pay else ():
            await self._press(f"TICK {row['seat']}")

    def _compare(self, dealt: Dealt) -> None:
        book, table_id = self._table.manager.app.book, self._table.config.table_id
        latest = book.rounds.latest(table_id)
        wins = book.wins.of_round(table_id, latest.number) if latest else []
        booked = {line.sensor: line.hand for win in wins for line in win.lines}
        expected = {sensor: hand.id for sensor, hand in dealt.winners.items()}
        if booked != expected:
            raise EveningError(f"Dealt were {expected}, but the books have {booked}.")

    def _count_limit(self, dealt: Dealt) -> None:
        """What the house's aggregate limit does to the fixed pays of this round."""
        if self.limit is None:
            return
        wagers = {game.letter: game.wager_cents for game in self._settings.games}
        bets: dict[int, list[Settled]] = {}
        for sensor, hand in dealt.winners.items():
            if isinstance(hand.pay, ForOne):
                bet = pay_hand(sensor, wagers[letter_of(sensor)], hand)
                bets.setdefault(seat_of(sensor), []).append(bet)
        limited = apply_limit(self.limit, bets)
        cut_cents = _total(bets) - _total(limited)
        self.tally.limited_rounds += bool(cut_cents)
        self.tally.cut_cents += cut_cents

    def _count(self, bets: list[str], dealt: Dealt) -> None:
        self.tally.rounds += 1
        self.tally.folds += len(dealt.folded)
        self.tally.bets.update(sensor[-1] for sensor in bets)
        self.tally.hands.update((sensor[-1], hand.id) for sensor, hand in dealt.winners.items())

    async def _press(self, button: str) -> None:
        refusals = self._table.answers()[1]
        await self._table.press(button)
        await aio.sleep_ms(PACE_MS)
        if self._table.answers()[1] != refusals:
            raise EveningError(f"{button} was refused: {self._view()['message']['text']}")

    async def _until(self, state: str) -> None:
        waited_ms = 0
        while self._table.state() != state:
            if waited_ms >= WAIT_MAX_MS:
                raise EveningError(f"The table is {self._table.state()}, not {state}.")
            await aio.sleep_ms(LOOK_EVERY_MS)
            waited_ms += LOOK_EVERY_MS

    def _view(self) -> dict[str, Any]:
        controller = self._table.unit.controller
        if controller is None:
            raise EveningError("The unit has no power.")
        return controller.pages.view()


def _limit_of(settings: TableSettings) -> AggregateLimit | None:
    if not settings.aggregate_limit_cents:
        return None
    per = PER_PLAYER if settings.aggregate_per_player else PER_TABLE
    return AggregateLimit(settings.aggregate_limit_cents, per)


def _total(bets: Mapping[int, Sequence[Settled]]) -> int:
    return sum(bet.pay_cents for each in bets.values() for bet in each)
