"""The people at one table: a dealer with habits, players who cannot keep their hands still.

A dealer looks at the panel and does what comes next, or slips. So the same dealer goes on after a
power cut, a lost link or a supervisor's mistake, as a person would. What must come of it is known
to the checkers alone.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from controller.core.round.paying import back_by_seat, due_by_seat
from controller.core.round.rules import Game
from controller.inputs.buttons import after_a_win_buttons, hand_button, panel_buttons
from sim.runs.storm.checks.table_watch import REST_MS
from sim.runs.storm.floor.table import StormTable
from sim.runs.storm.people.supervisor import Supervisor

SWEEP_SHARE = 0.6
KEY_GAP_MS = 230  # a key of the keypad is held, let go and debounced in less
TRIES_MAX = 3
SAME_HAND_SHARE = 0.5
TOP_HAND_SHARE = 0.3
TICK_SHARE = 0.8
# What the panel says of a winner who was forgotten when an award was divided.
SECOND_SHARE = "is shared by a round's winners and was paid already"


@dataclass(frozen=True)
class Habits:
    pace_ms: tuple[int, int]
    bet: float  # a player at a spot bets
    win: float  # a round has a winner
    second_win: float
    slip: float  # the next act is a wrong one
    late: float  # a player moves a chip after the lock
    rest: float  # the dealer lets the table be for a moment
    hasty: float  # START is pressed while chips still move
    misdeal: float  # all hands are void once the round is locked
    piecemeal: float  # the second winner is entered only after the first was paid

    @classmethod
    def drawn(cls, chance: random.Random) -> Habits:
        pace = chance.choice((150, 300, 700))
        return cls(
            pace_ms=(pace, pace * 4),
            bet=chance.uniform(0.3, 0.9),
            win=chance.uniform(0.3, 0.8),
            second_win=chance.uniform(0.2, 0.6),
            slip=chance.uniform(0.02, 0.15),
            late=chance.uniform(0.05, 0.3),
            rest=chance.uniform(0.02, 0.06),
            hasty=chance.uniform(0.05, 0.3),
            misdeal=chance.uniform(0.0, 0.04),
            piecemeal=chance.uniform(0.1, 0.5),
        )


class Dealer:
    def __init__(self, table: StormTable, chance: random.Random) -> None:
        self.table = table
        self.closing = False  # no new round: finish what is under way
        self.finished = False
        self.habits = Habits.drawn(chance)
        self._chance = chance
        self._supervisor = Supervisor(table, chance)
        self._planned_round = 0
        self._plan: list[tuple[str, str]] = []
        self._piecemeal = False
        self._tries = 0

    async def run(self) -> None:
        while not self.finished:
            await self._sleep_ms(self._chance.randint(*self.habits.pace_ms))
            if not self.closing and self._happens(self.habits.rest):
                self.table.watch.expect_look(REST_MS + 50)
                await self._sleep_ms(REST_MS + 50)
                self.table.check_lights()
            await self._step()

    async def _step(self) -> None:
        if not self.closing and self._happens(self.habits.slip):
            await self._slip()
            return
        pending = self._hand_without_a_seat()
        if pending and (self.closing or self._happens(0.5)):
            await self.table.press(f"HAND {pending}")  # pressed again, it is withdrawn
            return
        acts = {
            "open": self._open,
            "locked": self._locked,
            "claim": self._claim,
            "confirm": self._supervisor.confirm,
            "offline": self._impatient,
            "fault": self._impatient,
            "closed": self._impatient,
        }
        act = acts.get(self.table.panel.phase())
        if act is not None:
            await act()

    # -- a round -----------------------------------------------------------------------------

    async def _open(self) -> None:
        if self.closing:
            await self._leave()
            return
        for sensor in self.table.sensors:
            if self._happens(self.habits.bet) != self.table.world.has_chip(sensor):
                self._move(sensor)
                await self._sleep_ms(self._chance.randint(5, 60))
        if self.table.plan.workflow == "touch" and self._happens(self.habits.late):
            seats = self._chance.sample(range(1, self.table.plan.config.seat_count + 1), 2)
            await self.table.press(f"JOIN {seats[0]} {seats[1]}")  # one player holds both
        if not self._happens(self.habits.hasty):
            await self._sleep_ms(self._chance.randint(200, 600))
        await self.table.press("START")

    async def _leave(self) -> None:
        """Clears the table, and stays if a START pressed before was only being recorded."""
        for sensor in self.table.sensors:
            if self.table.world.has_chip(sensor):
                self.table.remove(sensor)
        self._supervisor.leave()
        await self._sleep_ms(REST_MS)
        self.finished |= self.table.panel.phase() == "open"  # or it was retired meanwhile

    async def _locked(self) -> None:
        self._make_plan()
        await self._sweep()
        if not self.closing and self._happens(self.habits.misdeal):
            await self._supervisor.void()
            return
        if not self.closing and self._happens(self.habits.late):
            self._move(self._chance.choice(self.table.sensors))
        if self._plan and self._tries < TRIES_MAX:
            await self._enter(*self._plan[0])
        else:
            self._plan = []
            await self._finish()

    async def _finish(self) -> None:
        """Hands out what is due, or takes back, and ticks it off; or has no patience for that."""
        controller = self.table.controller
        state = controller.keeper.state if controller else None
        dues = due_by_seat(state) + back_by_seat(state) if state else []
        if dues and self.table.plan.workflow == "touch" and self._happens(TICK_SHARE):
            await self.table.press(f"TICK {dues[0][0]}")
        else:
            await self.table.press("END")

    async def _claim(self) -> None:
        self._make_plan()
        selected = self._selected()
        self._plan = [(sensor, hand) for sensor, hand in self._plan if sensor not in selected]
        if SECOND_SHARE in self.table.panel.message():
            await self._press_hand(*next(iter(selected.items())))  # again, which turns it off
        elif self._plan and self._tries < TRIES_MAX and not self._piecemeal:
            await self._enter(*self._plan[0])
        else:
            self._plan = self._plan if self._piecemeal else []
            await self._supervisor.claim()

    def _make_plan(self) -> None:
        """Who has won, decided once for each round by the cards."""
        controller = self.table.controller
        if controller is None or controller.keeper.state.round_number == self._planned_round:
            return
        self._planned_round = controller.keeper.state.round_number
        self._plan, self._tries = [], 0
        if self.closing or not self._happens(self.habits.win):
            return
        accepted = list(controller.keeper.state.accepted)
        count = 2 if self._happens(self.habits.second_win) else 1
        self._piecemeal = self._happens(self.habits.piecemeal)
        for sensor in self._chance.sample(accepted, min(count, len(accepted))):
            games = [game for game in controller.table.rules.games if game.letter == sensor[-1]]
            self._plan += [(sensor, self._winning_hand(game)) for game in games]

    def _winning_hand(self, game: Game) -> str:
        """The top one more often than cards would have it, or the one that somebody else has.

        So awards meet on one meter, and every policy has something to settle.
        """
        same = [hand for sensor, hand in self._plan if sensor[-1] == game.letter]
        if same and self._happens(SAME_HAND_SHARE):
            return same[0]
        if self._happens(TOP_HAND_SHARE):
            return game.hands[0].hand_id
        return self._chance.choice(game.hands).hand_id

    async def _enter(self, sensor: str, hand: str) -> None:
        self._tries += 1
        await self._press_hand(sensor, hand)
        if sensor in self._selected():
            self._plan = [each for each in self._plan if each[0] != sensor]
            self._tries = 0

    async def _press_hand(self, sensor: str, hand: str) -> None:
        seat, letter = f"SEAT {sensor[:-1]}", sensor[-1]
        if self.table.plan.workflow == "keypad":
            await self.table.press(f"HAND {hand}")
            await self._sleep_ms(KEY_GAP_MS)
            if self.table.panel.phase() != "claim" or self._hand_without_a_seat():
                await self.table.press(seat)
        elif len({each[-1] for each in self.table.sensors}) > 1:
            await self._press_seat_and_hand(seat, hand_button(hand, letter))
        else:
            await self._press_seat_and_hand(seat, hand_button(hand, ""))
        await self._sleep_ms(KEY_GAP_MS)

    async def _press_seat_and_hand(self, seat: str, hand: str) -> None:
        await self.table.press(seat)
        await self._sleep_ms(self._chance.randint(30, 400))
        await self.table.press(hand)

    def _selected(self) -> dict[str, str]:
        """The hands that are on, by sensor."""
        controller = self.table.controller
        return {pair[0]: pair[1] for pair in controller.keeper.state.hands} if controller else {}

    def _hand_without_a_seat(self) -> str:
        controller = self.table.controller
        return controller.keeper.state.pending_hand if controller else ""

    async def _sweep(self) -> None:
        """The dealer takes the accepted chips off the felt: from here the unit alone knows."""
        for sensor in self.table.sensors:
            if self.table.world.has_chip(sensor) and self._happens(SWEEP_SHARE):
                self.table.remove(sensor)
                await self._sleep_ms(self._chance.randint(5, 80))

    async def _impatient(self) -> None:
        if not self.closing and self._happens(0.25):
            await self._open()  # as if nothing were wrong
        elif self._happens(0.1):
            await self._supervisor.release()

    # -- slips -------------------------------------------------------------------------------

    async def _slip(self) -> None:
        kind = self._chance.randint(0, 4)
        if kind == 0:
            await self.table.press(self._chance.choice(self._buttons()))
        elif kind == 1:
            await self._press_twice(self._chance.choice(("START", "END", "CONFIRM")))
        elif kind == 2:
            self._move(self._chance.choice(self.table.sensors))
        elif kind == 3:
            await self._supervisor.slip()
        else:
            sensor = self._chance.choice(self.table.sensors)
            self._move(sensor)
            await self._sleep_ms(self._chance.randint(1, 120))
            self._move(sensor)

    async def _press_twice(self, button: str) -> None:
        await asyncio.gather(self.table.press(button), self.table.press(button))

    def _buttons(self) -> list[str]:
        keypad = self.table.plan.config.board.keypad
        if keypad is not None:
            return list(keypad.keys)
        controller, config = self.table.controller, self.table.plan.config
        games = controller.table.rules.games if controller else []
        ticks = after_a_win_buttons(config.workflow, config.seat_count)
        return [*panel_buttons(config.workflow, config.seat_count, games), *ticks]

    def _move(self, sensor: str) -> None:
        if self.table.world.has_chip(sensor):
            self.table.remove(sensor)
        else:
            self.table.place(sensor)

    def _happens(self, share: float) -> bool:
        return self._chance.random() < share

    async def _sleep_ms(self, delay_ms: int) -> None:
        await asyncio.sleep(delay_ms / 1000)
