"""Who may begin a training, and how it ends: a supervisor begins it, anybody ends it.

It alone knows that TRAIN was asked for and waits for a card. A training ends where it began, at an
open table; what happens in between is not known here.
"""

from __future__ import annotations

from controller.command_intake import CommandIntake
from controller.core.round import guide_words
from controller.keeper import TRAIN_LATER
from controller.table.answer import TAKEN, Answer
from controller.table.news import TableNews
from controller.table.state import TableState
from hal import aio
from protocol import numbers

TRAIN = "TRAIN"
CARD_WAIT_MS = 30_000

NEEDS_KEY = "A supervisor must turn the key to JPH. Then press CANCEL until training is offered."
NO_GAMES = "There is nothing to train with: the Game Manager was never reached."
BEGUN = "Training: nothing of this is booked. END TRAINING ends it."
BEGUN_BY_KEY = "Training: nothing of this is booked. CANCEL offers to end it."
ENDED = "The training is over. The table is live again."


class TrainingDoor:
    def __init__(self, intake: CommandIntake, table: TableState, news: TableNews) -> None:
        self._intake = intake
        self._table = table
        self._news = news
        self._asked_at: int | None = None

    async def press(self) -> Answer:
        if self._intake.is_training:
            await self._intake.end_training()
            self._news.tell(ENDED)
            return TAKEN
        if self._table.settings is None:
            return await self._intake.refuse(TRAIN, NO_GAMES)
        if self._intake.is_round_open:
            return await self._intake.refuse(TRAIN, TRAIN_LATER)
        if self._table.config.workflow == numbers.WORKFLOW_KEYPAD:
            if self._table.rules.key != numbers.KEY_JPH:
                return await self._intake.refuse(TRAIN, NEEDS_KEY)
            return await self._begin("Supervisor key")
        self._asked_at = aio.ticks_ms()
        asked = guide_words.card_asked("train-asked", self._table.link_up)
        return await self._intake.refuse(TRAIN, guide_words.sentence(asked, [], False))

    def let_go(self) -> bool:
        """Takes back that TRAIN was asked for; False when nobody had."""
        was_asked, self._asked_at = self.awaits_card(), None
        if was_asked:
            self._news.say(TAKEN, TRAIN)
        return was_asked

    def awaits_card(self) -> bool:
        """True for a while after TRAIN was asked for, at an open table."""
        if self._asked_at is None or self._intake.is_round_open or self._intake.is_training:
            return False
        return aio.ticks_diff(aio.ticks_ms(), self._asked_at) < CARD_WAIT_MS

    async def card(self, label: str, role: int) -> Answer | None:
        """A judged card: it begins the training that was asked for, or is none of ours."""
        is_awaited, self._asked_at = self.awaits_card(), None
        if not is_awaited or role < numbers.ROLE_SUPERVISOR:
            return None
        return await self._begin(label)

    async def _begin(self, by: str) -> Answer:
        answer = await self._intake.begin_training(by)
        if answer.accepted:
            is_keypad = self._table.config.workflow == numbers.WORKFLOW_KEYPAD
            self._news.tell(BEGUN_BY_KEY if is_keypad else BEGUN)
        return answer
