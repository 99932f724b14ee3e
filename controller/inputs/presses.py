"""Takes presses on the panel and on the keypad and turns them into commands for the round.

It alone knows what comes before and after START: the felt is read anew for the lock, and whoever
keeps evidence hears of it afterwards. Which buttons there are is known in `buttons`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from controller.command_intake import CommandIntake
from controller.core.round import commands
from controller.core.round.guide_words import SENTENCES
from controller.felt.table_felt import TableFelt
from controller.inputs.buttons import command_of, sought_seat
from controller.inputs.repeats import Repeats
from controller.inputs.training_door import TRAIN, TrainingDoor
from controller.lights.table_lights import FIND_MS, TableLights
from controller.table.answer import TAKEN, Answer
from controller.table.news import TableNews
from controller.table.state import TableState
from hal import aio

STARTING = "The table is starting. Press again in a moment."
FIND_LATER = "A seat can be looked for between games: in a game its light tells of its bet."
SEVERAL = "Several buttons at once: nothing was taken. Press one at a time."

Act = Callable[[str], Awaitable[Answer]]


class Presses:
    def __init__(
        self,
        intake: CommandIntake,
        table: TableState,
        news: TableNews,
        felt: TableFelt,
        lights: TableLights,
        training: TrainingDoor,
        resumed: aio.Event,
        at_lock: Sequence[Callable[[], None]],
    ) -> None:
        """Until it has `resumed`, nobody knows what a press would mean."""
        self._intake = intake
        self._table = table
        self._news = news
        self._felt = felt
        self._lights = lights
        self._training = training
        self._resumed = resumed
        self._at_lock = at_lock
        self._repeats = Repeats()

    async def press(
        self, button: str, beside: Collection[str] = (), act: Act | None = None
    ) -> Answer:
        """A button of the dealer's touch panel, and the others under fingers at the same time.

        `act` takes it where a keypad asks questions.
        """
        if not self._resumed.is_set():
            answer = Answer(False, STARTING)
            self._news.say(answer, button)
            return answer
        if beside:  # a palm, and no press of any of them
            return await self.pressed_together((button, *sorted(beside)))
        return await (act or self.pressed)(button)

    async def pressed(self, button: str) -> Answer:
        """A key of the keypad, which tells chords by itself."""
        if self._table.service.is_on:
            return self._tried(button)
        if self._repeats.is_repeat(button):
            return TAKEN
        if sought_seat(button):
            return await self._find(button, sought_seat(button))
        if button == TRAIN:
            return await self._training.press()
        if button == commands.CANCEL and self._training.let_go():
            return TAKEN
        if button == commands.START:
            # Bets are locked on what the felt says now, not on what an interrupt told last.
            await self._felt.look_now()
        command = command_of(button, self._table.rules.key, self._felt.verdicts)
        if command is None:
            return await self._intake.refuse(button, f"There is no button {button}.")
        answer = await self._intake.submit(command, button)
        if answer.accepted and button == commands.START and not self._intake.is_training:
            for tell in self._at_lock:
                tell()
        return answer

    async def _find(self, button: str, seat: int) -> Answer:
        """Lets a tech or a supervisor see which seat this is. The round is not touched."""
        if seat > self._table.config.seat_count:
            return await self._intake.refuse(button, f"This table has no seat {seat}.")
        if self._intake.is_round_open:
            return await self._intake.refuse(button, FIND_LATER)
        self._lights.find(seat)
        seconds = FIND_MS // 1000
        self._news.tell(f"Seat {seat} blinks white and amber for {seconds} s where no chip lies.")
        return TAKEN

    def _tried(self, button: str) -> Answer:
        """A trial of the keys: it is shown to the technician and recorded nowhere."""
        self._table.service.tried("key", button)
        answer = Answer(False, SENTENCES["service"])
        self._news.say(answer, button)
        return answer

    async def pressed_together(self, names: tuple[str, ...]) -> Answer:
        if self._table.service.is_on:
            return self._tried(" + ".join(names))
        return await self._intake.refuse(" + ".join(names), SEVERAL)
