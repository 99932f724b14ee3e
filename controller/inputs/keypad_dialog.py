"""What a keypad has no key for is asked on the text display: seat, game, hand, SAME PLAYER, more.

It turns keys into the buttons that all tables have; the round decides about each as always. CANCEL
with nothing to cancel offers what else can be done now. In a question CANCEL goes on to the next
choice and CONFIRM takes this one; any other key ends the question and does what it always does.
Nothing of it is kept: after a power cut the question is asked anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from controller.core.round import commands, paying
from controller.core.round.rules import Rules
from controller.core.round.state import RoundState
from controller.inputs.buttons import hand_button
from controller.inputs.presses import Presses
from controller.inputs.questions import Choice, Question
from controller.inputs.training_door import TRAIN
from controller.keeper import RoundKeeper
from controller.table.answer import TAKEN, Answer
from controller.table.news import TableNews
from controller.table.state import TableState
from hal import aio
from protocol.sensor_id import letter_of, seat_of

# Whoever walked away does not find an old question under the fingers.
QUESTION_MS = 30_000

MORE, HANDS, BET, SAME = "MORE", "HANDS", "BET", "SAME"
TITLES = {MORE: "Do what?", HANDS: "Which hand?", BET: "Which bet?", SAME: "Same player?"}


class KeypadDialog:
    def __init__(
        self,
        keys: Collection[str],
        presses: Presses,
        keeper: RoundKeeper,
        table: TableState,
        news: TableNews,
    ) -> None:
        self._keys = frozenset(keys)
        self._presses = presses
        self._keeper = keeper
        self._table = table
        self._news = news
        self._question: Question | None = None
        self._asked_ms = aio.ticks_ms()
        self._asked_in: tuple[object, ...] = ()
        self._same: list[int] = []  # the seats that were named for SAME PLAYER

    def question(self) -> Question | None:
        """What is asked now. A question ends with the moment that it was asked in."""
        if self._question is not None:
            is_old = aio.ticks_diff(aio.ticks_ms(), self._asked_ms) >= QUESTION_MS
            if is_old or self._asked_in != self._moment():
                self._question = None
        if self._question is None and self._lacks_seats() and self._keeper.state.pending_hand:
            self._ask(BET, self._bets_of_pending(0))
        return self._question

    def asked(self) -> tuple[str, str]:
        """The question and the choice that CONFIRM takes now, in words; ("", "") without one."""
        question = self.question()
        return (question.title, question.label) if question else ("", "")

    async def pressed_together(self, names: tuple[str, ...]) -> Answer:
        return await self._presses.pressed_together(names)

    async def pressed(self, key: str) -> Answer:
        if self._table.service.is_on:
            self._question = None
            return await self._presses.pressed(key)
        question = self.question()
        if question is not None and key == commands.CANCEL:
            return self._go_on(question)
        if question is not None and key == commands.CONFIRM:
            return await self._take(question)
        if question is not None and question.name == SAME and key.startswith(commands.SEAT):
            return self._name_seat(commands.parse_seat(key.partition(" ")[2])[0])
        self._question = None
        return await self._key(key)

    # --- keys -------------------------------------------------------------------------------

    async def _key(self, key: str) -> Answer:
        state = self._keeper.state
        if key == commands.CANCEL and _is_idle(state):
            return await self._cancel()
        seat, letter = _seat_of_key(key)
        if seat and not letter:
            bets = self._bets_of_pending(seat)
            if len(bets) > 1:
                self._ask(BET, bets)
                return self._heard()
            if _is_idle(state) and seat in _to_tick(state):
                return await self._presses.pressed(f"{commands.TICK} {seat}")
        return await self._presses.pressed(key)

    async def _cancel(self) -> Answer:
        """It is refused as everywhere, and then the display says what can be done instead."""
        answer = await self._presses.pressed(commands.CANCEL)
        state = self._keeper.state
        # It may have voided the game under the key, or asked for the second press that does.
        if not answer.accepted and not state.void_asked:
            self._ask(MORE, self._offers(state))
        return answer

    async def _take(self, question: Question) -> Answer:
        answer, self._question = question.answer, None
        if answer == HANDS:
            return self._ask_heard(HANDS, self._hands_without_key())
        if answer == SAME:
            self._same = []
            return self._ask_heard(SAME, self._seats_to_name())
        if question.name == SAME and answer.startswith(commands.SEAT):
            return self._name_seat(commands.parse_seat(answer.partition(" ")[2])[0])
        return await self._presses.pressed(answer)

    def _go_on(self, question: Question) -> Answer:
        self._asked_ms = aio.ticks_ms()
        if not question.next():
            self._question = None
        return self._heard()

    def _name_seat(self, seat: int) -> Answer:
        """Names a seat of SAME PLAYER, or takes it out again."""
        named = set(self._same) ^ {seat}
        self._same = sorted(named)
        return self._ask_heard(SAME, self._seats_to_name())

    # --- questions --------------------------------------------------------------------------

    def _offers(self, state: RoundState) -> list[Choice]:
        if state.round_open:
            offers = [
                Choice(f"Seat {seat} is paid: {paying.money(cents)}", f"{commands.TICK} {seat}")
                for seat, cents in paying.due_by_seat(state)
            ]
            offers += [
                Choice(f"Seat {seat} gave back {paying.money(cents)}", f"{commands.TICK} {seat}")
                for seat, cents in paying.back_by_seat(state)
            ]
            if self._hands_without_key():
                offers.append(Choice("Enter another hand", HANDS))
            return [*offers, *self._way_out()]
        offers = [Choice("Open the last game again", commands.REOPEN)] if state.closed else []
        offers.append(Choice("Two seats are one player's", SAME))
        return offers + (self._way_out() or [Choice("Begin a training", TRAIN)])

    def _way_out(self) -> list[Choice]:
        return [Choice("End the training", TRAIN)] if self._keeper.training else []

    def _hands_without_key(self) -> list[Choice]:
        games = self._table.rules.games
        found: dict[str, str] = {}
        for game in games:
            for hand in game.hands:
                button = hand_button(hand.hand_id, "")
                with_letter = hand_button(hand.hand_id, game.letter)
                if not self._keys & {button, with_letter}:
                    found.setdefault(button, hand.label)
        return [Choice(label, button) for button, label in found.items()]

    def _bets_of_pending(self, seat: int) -> list[Choice]:
        """The bets that the hand waiting for its seat could belong to; of one seat, or of all."""
        state, rules = self._keeper.state, self._table.rules
        if not state.pending_hand:
            return []
        bets = [
            sensor
            for sensor in state.unsettled_bets(seat)
            if rules.hand_of(sensor, state.pending_hand) is not None
        ]
        return [Choice(_bet_label(rules, bet), f"{commands.SEAT} {bet}") for bet in bets]

    def _seats_to_name(self) -> list[Choice]:
        seats = sorted({seat_of(sensor) for sensor in self._table.rules.sensors})
        choices = []
        if len(self._same) > 1:
            names = " ".join(str(seat) for seat in self._same)
            choices.append(Choice(f"Seats {names} are one player's", f"{commands.JOIN} {names}"))
        for seat in seats:
            label = f"Seat {seat}: in?" if seat in self._same else f"Seat {seat}: add?"
            choices.append(Choice(label, f"{commands.SEAT} {seat}"))
        return choices

    def _ask(self, name: str, choices: Iterable[Choice]) -> None:
        found = list(choices)
        self._question = Question(name, TITLES[name], found) if found else None
        self._asked_ms, self._asked_in = aio.ticks_ms(), self._moment()
        self._news.shown.bump()

    def _ask_heard(self, name: str, choices: Iterable[Choice]) -> Answer:
        self._ask(name, choices)
        return self._heard()

    def _heard(self) -> Answer:
        """A key that only turned a page: it is answered, and nothing was decided."""
        self._news.say(TAKEN, "question")
        return TAKEN

    def _moment(self) -> tuple[object, ...]:
        state = self._keeper.state
        return (state.round_number, state.round_open, state.claim is not None, state.pending_hand)

    def _lacks_seats(self) -> bool:
        return not any(key.startswith(commands.SEAT) for key in self._keys)


def _is_idle(state: RoundState) -> bool:
    """Nothing is being entered, and nothing waits for anybody."""
    return not state.pending_hand and not state.hands and state.claim is None


def _to_tick(state: RoundState) -> set[int]:
    """The seats that are still to be handed something, or to give something back."""
    return {seat for seat, _ in (*paying.due_by_seat(state), *paying.back_by_seat(state))}


def _seat_of_key(key: str) -> tuple[int, str]:
    word, _, rest = key.partition(" ")
    return commands.parse_seat(rest) if word == commands.SEAT else (0, "")


def _bet_label(rules: Rules, sensor: str) -> str:
    game = rules.game_of(sensor)
    if len(rules.games) < 2 or game is None:
        return f"Seat {seat_of(sensor)}"
    return f"Seat {seat_of(sensor)}, {letter_of(sensor)}: {game.title}"
