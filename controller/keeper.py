"""Keeps the round and its journal in step: decide, make durable, then act.

It alone changes the round. Commands are taken one at a time; an accepted one is in the journal
before anything is lit or sent, and a refused one is journaled as refused. What has begun is
finished even when the one who asked has left. After a power cut the round is rebuilt from the
journal and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from controller.core.round import commands
from controller.core.round.decide import RoundState, apply, decide, is_local
from controller.core.round.events import ENTRY, JOINED
from controller.core.round.rules import Rules
from controller.decided import DecidedLog
from controller.journal.journal import Journal
from controller.journal.records import Entry, Moment
from controller.journal.recovery import opening
from controller.journal.state_image import round_image
from controller.last_games import LastGames
from controller.last_wins import LastWins
from controller.round_clock import RoundClock
from controller.table.answer import TAKEN, Answer
from controller.table.meters import Meter
from controller.training import Training
from hal import aio
from hal.worker import Worker
from kit.clock import WallClock
from protocol import numbers
from protocol.wire import events as wire_events
from protocol.wire import messages
from protocol.wire.fields import clipped

log = logging.getLogger("controller.round")

T = TypeVar("T")

COMMANDS_WAITING_MAX = 16
REPLAY_BATCH = 256
TOO_MANY_AT_ONCE = "Too many buttons at once. Please press again."
MEMORY_REPAIRED = "The unit's memory was checked and repaired. Press START again."
COMMAND_BYTES_MAX = 64
LABEL_BYTES_MAX = 40
TRAIN_LATER = "Training can begin between games: end this one first."
# Local to the unit, and yet not lost with the power: half an entry, and seats of one player.
KEPT = (ENTRY, JOINED)


class RoundKeeper:
    def __init__(
        self,
        journal: Journal,
        disk: Worker,
        wall_ms: WallClock,
        announce: Callable[[Answer, str], None],
    ) -> None:
        """`announce` is told each answer with what was spoken, once all of it is in force."""
        self._journal = journal
        self._disk = disk
        self._wall_ms = wall_ms
        self._announce = announce
        self._turn = aio.Lock()
        self._begun: dict[asyncio.Task[Any], None] = {}  # in order, so that runs repeat
        self._is_abandoned = False
        self._clock = RoundClock()
        self.last_wins = LastWins()
        self.last_games = LastGames()
        self.decided = DecidedLog()
        self.live_state = RoundState()  # what the journal says, also while people train
        self.training: Training | None = None

    @property
    def state(self) -> RoundState:
        """The round that people see: the table's own, or the one they train with."""
        return self.training.state if self.training else self.live_state

    @property
    def clock(self) -> RoundClock:
        """Of the round that people see."""
        return self.training.clock if self.training else self._clock

    async def restore(self) -> None:
        """Rebuilds the round from the journal. Until it is whole, nobody sees any of it."""
        state, kept, wins = RoundState(), self._journal.records, LastWins()
        games = LastGames()
        state.last_claim_number = kept.baseline.claim_number
        state.round_number = kept.baseline.counters.round_number
        started_wall_ms, after = 0, kept.first_sequence - 1
        moments = await self._disk.run(self._journal.beside.moments)
        for moment in moments.get(after, ()):
            apply(state, moment)
        while True:
            records = await self._disk.run(partial(kept.after, after, REPLAY_BATCH))
            if not records:
                break
            for record in records:
                apply(state, (record.kind, record.body))
                wins.happened(record.kind, record.body, state, record.wall_ms)
                games.happened(record.kind, record.body, record.wall_ms)
                if record.kind == numbers.ROUND_START:
                    started_wall_ms = record.wall_ms
                after = record.sequence
                for moment in moments.get(after, ()):
                    apply(state, moment)
        self.live_state, self._clock.started_wall_ms = state, started_wall_ms
        self.last_wins, self.last_games = wins, games
        self._guess_round_age()

    async def see_through(self, work: Coroutine[Any, Any, T]) -> T:
        """Finishes `work` even when the caller is cancelled meanwhile.

        The disk cannot be told to forget: what it holds must also be acted on, or the round would
        differ from its journal until the next start.
        """
        if self._is_abandoned:
            work.close()
            raise asyncio.CancelledError
        task = aio.create_task(work)
        self._begun[task] = None
        task.add_done_callback(lambda done: self._begun.pop(done, None))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_log_how_it_ended)
            raise

    def abandon(self) -> None:
        """The unit goes down: nothing is begun or finished; the journal knows how far it came."""
        self._is_abandoned = True
        for task in self._begun:
            task.cancel()

    async def submit(self, rules: Rules, command: tuple[Any, ...], spoken: str = "") -> Answer:
        """One command, to its end. `spoken` is what the person did, for the record of a refusal.

        What the felt did is taken however many wait: its watch tells one thing at a time.
        """
        is_pressed = command[0] not in commands.OF_THE_FELT
        if is_pressed and len(self._begun) >= COMMANDS_WAITING_MAX:
            return self._answered(TOO_MANY_AT_ONCE, spoken)
        return await self.see_through(self._in_turn(rules, command, spoken))

    async def _in_turn(self, rules: Rules, command: tuple[Any, ...], spoken: str) -> Answer:
        async with self._turn:
            # Not before its turn: while START is being written, the age is still the last round's.
            timed = commands.since_lock(command, aio.ticks_ms(), self.clock.age_ms())
            if timed[0] == commands.REOPEN:
                timed = commands.reopen(self.clock.end_age_ms())
            if timed[0] == commands.FORGOTTEN and self.training is None:
                timed = self.last_games.filled_in(timed, self.last_wins)
            return await self._decide_and_act(rules, timed, spoken)

    async def _decide_and_act(self, rules: Rules, command: tuple[Any, ...], spoken: str) -> Answer:
        if self.training is not None:
            return self._answered(self.training.take(self.training.rules(rules), command), spoken)
        if command[0] == commands.START and await self._repaired_memory():
            return self._answered(MEMORY_REPAIRED, spoken)
        state, last_sequence = self.live_state, self._journal.last_sequence
        before = self.decided.before(self._wall_ms(), last_sequence, state, rules)
        happened, refusal = decide(state, rules, command)
        durable = [event for event in happened if not is_local(event[0])]
        if refusal:
            log.info("refused %s: %s", spoken or command[0], refusal)
            durable.append(_refused_event(spoken or command[0], refusal))
        await self._make_durable(durable, [event for event in happened if event[0] in KEPT])
        self.decided.note(before, command, spoken, happened, refusal)
        for kind, body in happened:
            self._apply(kind, body, self._wall_ms())
        if not happened and not refusal and not spoken:
            return TAKEN  # nothing changed, and nobody waits for an answer
        return self._answered(refusal, spoken)

    async def _repaired_memory(self) -> bool:
        """Checks what the bets are about to rest on; True when it had to be repaired first."""
        image = round_image(self.live_state)
        repair = await self._disk.run(partial(self._journal.check_memory, image))
        if not repair:
            return False
        log.error("%s", repair)
        await self.restore()
        await self._make_durable(
            [
                (wire_events.FAULT, wire_events.Fault("memory", "unit", raised, repair).to_body())
                for raised in (True, False)
            ]
        )
        return True

    async def adopt_state(self, state: messages.State, told: Sequence[messages.Event]) -> None:
        """A new journal goes on where another one ended, with the round that was under way."""
        async with self._turn:
            now = aio.ticks_ms(), self._wall_ms()
            adopt = partial(opening.go_on, self._journal, state, told, now)
            for record in await self._disk.run(adopt):
                self._apply(record.kind, record.body, record.wall_ms)
            self._guess_round_age()
        self._announce(TAKEN, "")

    async def record(
        self,
        body: wire_events.EventBody,
        begin: Callable[[], None] | None = None,
        refusal: str = "",
    ) -> Answer:
        """Journals something that does not change the round: a boot, a fault, adopted settings.

        With `begin` it is something that closes the table for a while, and is refused in a game. In
        its turn: a START that was pressed before is either under way or refused by then.
        """
        async with self._turn:
            if begin is not None and (self.live_state.round_open or self.training is not None):
                return Answer(False, refusal)
            await self._make_durable([(body.KIND, body.to_body())])
            if begin is not None:
                begin()
        return self._answered("", "")

    async def adopt_settings(self, body: bytes) -> None:
        """Keeps the manager's settings and the fact of their adoption, both or neither."""
        async with self._turn:
            adopt = partial(self._journal.adopt_settings, body, aio.ticks_ms(), self._wall_ms())
            await self._disk.run(adopt)
        self._announce(TAKEN, "")

    async def refuse(self, spoken: str, sentence: str) -> Answer:
        """Input that never became a command (a half-read card, two keys at once) is logged too."""
        log.info("refused %s: %s", spoken, sentence)
        if self.training is None:
            async with self._turn:
                await self._make_durable([_refused_event(spoken, sentence)])
        return self._answered(sentence, spoken)

    def _answered(self, refusal: str, spoken: str) -> Answer:
        """Everybody hears the answer, once and after all of it is in force."""
        answer = Answer(False, refusal) if refusal else TAKEN
        self._announce(answer, spoken)
        return answer

    async def _make_durable(self, happened: list[Moment], moments: Sequence[Moment] = ()) -> None:
        if not happened and not moments:
            return
        now_ticks, now_wall_ms = aio.ticks_ms(), self._wall_ms()
        entries = [Entry(kind, body, now_ticks, now_wall_ms) for kind, body in happened]
        await self._disk.run(partial(self._journal.append_many, entries, moments))

    def _apply(self, kind: int, body: dict[int, Any], wall_ms: int) -> None:
        apply(self.live_state, (kind, body))
        self.last_wins.happened(kind, body, self.live_state, wall_ms)
        self.last_games.happened(kind, body, wall_ms)
        if kind == numbers.ROUND_START:
            self._clock.started(wall_ms)
        if kind == numbers.ROUND_END:
            self._clock.ended()

    def _guess_round_age(self) -> None:
        known_ms = [offset_ms for _, offset_ms in self.live_state.late.values()]
        self._clock.guess(self._wall_ms(), known_ms)

    # --- training -----------------------------------------------------------------------------

    async def begin_training(self, meters: list[Meter], by: str) -> Answer:
        """From here on nothing that is pressed reaches the journal; that it began does."""
        async with self._turn:
            if self.live_state.round_open:
                return Answer(False, TRAIN_LATER)
            await self._make_durable([_training_event(by, "begun")])
            self.training = Training(meters, self._wall_ms())
        return self._answered("", "")

    async def end_training(self) -> Answer:
        """Back to what was before: the table's own round was never touched."""
        async with self._turn:
            if self.training is None:
                return TAKEN
            self.training = None
            await self._make_durable([_training_event("", "ended")])
        return self._answered("", "")


def _training_event(by: str, result: str) -> tuple[int, dict[int, Any]]:
    body = wire_events.Service("training", clipped(by, LABEL_BYTES_MAX), result)
    return body.KIND, body.to_body()


def _refused_event(spoken: str, sentence: str) -> tuple[int, dict[int, Any]]:
    # Clipped in bytes and made printable: what is refused is often what nobody expected.
    body = wire_events.Refused(clipped(spoken, COMMAND_BYTES_MAX), clipped(sentence))
    return body.KIND, body.to_body()


def _log_how_it_ended(task: asyncio.Task[Any]) -> None:
    """Nobody waits for it any more. A journal that failed says so again at the next command."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log.error("a command failed after its caller had left: %s", error)
