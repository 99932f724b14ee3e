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
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from controller import recovery
from controller.core import commands, kinds
from controller.core.round import RoundState, apply, decide, is_local
from controller.core.rules import Rules
from controller.critical import WAGERED_KEY, round_image
from controller.journal import Journal
from controller.journal_records import Entry, Moment
from hal import aio
from hal.clock import WallClock
from hal.worker import Worker
from protocol import events as wire_events
from protocol import messages
from protocol.fields import clipped

log = logging.getLogger("controller.round")

T = TypeVar("T")

COMMANDS_WAITING_MAX = 16
REPLAY_BATCH = 256
MEMORY_REPAIRED = "The unit's memory was checked and repaired. Press START again."
COMMAND_BYTES_MAX = 64
# Local to the unit, and yet not lost with the power: half an entry, and seats of one player.
KEPT = (kinds.ENTRY, kinds.JOINED)


@dataclass(frozen=True)
class Answer:
    accepted: bool
    sentence: str


class RoundKeeper:
    def __init__(
        self,
        journal: Journal,
        disk: Worker,
        wall_ms: WallClock,
        changed: Callable[[], None],
    ) -> None:
        self._journal = journal
        self._disk = disk
        self._wall_ms = wall_ms
        self._changed = changed
        self._turn = aio.Lock()
        self._begun: dict[asyncio.Task[Any], None] = {}  # in order, so that runs repeat
        self._round_age = (0, 0)  # the round's age when the ticks stood there
        self.round_started_wall_ms = 0
        self.state = RoundState()

    async def restore(self) -> None:
        """Rebuilds the round from the journal. Until it is whole, nobody sees any of it."""
        state, kept = RoundState(), self._journal.records
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
                if record.kind == kinds.ROUND_START:
                    started_wall_ms = record.wall_ms
                after = record.sequence
                for moment in moments.get(after, ()):
                    apply(state, moment)
        self.state, self.round_started_wall_ms = state, started_wall_ms
        self._guess_round_age()

    async def see_through(self, work: Coroutine[Any, Any, T]) -> T:
        """Finishes `work` even when the caller is cancelled meanwhile.

        The disk cannot be told to forget: what it holds must also be acted on, or the round would
        differ from its journal until the next start.
        """
        task = aio.create_task(work)
        self._begun[task] = None
        task.add_done_callback(lambda done: self._begun.pop(done, None))
        return await asyncio.shield(task)

    def abandon(self) -> None:
        """The unit goes down: nothing more is finished; the journal knows how far it came."""
        for task in self._begun:
            task.cancel()

    async def submit(self, rules: Rules, command: tuple[Any, ...], spoken: str = "") -> Answer:
        """One command, to its end. `spoken` is what the person did, for the record of a refusal.

        What the felt did is taken however many wait: its watch tells one thing at a time.
        """
        is_pressed = command[0] not in commands.OF_THE_FELT
        if is_pressed and len(self._begun) >= COMMANDS_WAITING_MAX:
            return Answer(False, "Too many buttons at once. Please press again.")
        return await self.see_through(self._in_turn(rules, command, spoken))

    async def _in_turn(self, rules: Rules, command: tuple[Any, ...], spoken: str) -> Answer:
        async with self._turn:
            # Not before its turn: while START is being written, the age is still the last round's.
            timed = commands.since_lock(command, aio.ticks_ms(), self.round_age_ms())
            return await self._decide_and_act(rules, timed, spoken)

    async def _decide_and_act(self, rules: Rules, command: tuple[Any, ...], spoken: str) -> Answer:
        if command[0] == commands.START and await self._repaired_memory():
            return Answer(False, MEMORY_REPAIRED)
        happened, refusal = decide(self.state, rules, command)
        durable = [_priced(event, rules) for event in happened if not is_local(event[0])]
        if refusal:
            log.info("refused %s: %s", spoken or command[0], refusal)
            durable.append(_refused_event(spoken or command[0], refusal))
        await self._make_durable(durable, [event for event in happened if event[0] in KEPT])
        for kind, body in happened:
            self._apply(kind, body, self._wall_ms())
        if happened or refusal:
            self._changed()
        return Answer(not refusal, refusal)

    async def _repaired_memory(self) -> bool:
        """Checks what the bets are about to rest on; True when it had to be repaired first."""
        image = round_image(self.state)
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
            adopt = partial(recovery.go_on, self._journal, state, told, now)
            for record in await self._disk.run(adopt):
                self._apply(record.kind, record.body, record.wall_ms)
            self._guess_round_age()
        self._changed()

    async def record(self, body: wire_events.EventBody) -> None:
        """Journals something that does not change the round: a boot, a fault, adopted settings."""
        async with self._turn:
            await self._make_durable([(body.KIND, body.to_body())])

    async def adopt_settings(self, body: bytes) -> None:
        """Keeps the manager's settings and the fact of their adoption, both or neither."""
        async with self._turn:
            adopt = partial(self._journal.adopt_settings, body, aio.ticks_ms(), self._wall_ms())
            await self._disk.run(adopt)
        self._changed()

    async def refuse(self, spoken: str, sentence: str) -> Answer:
        """Input that never became a command (a half-read card, two keys at once) is logged too."""
        log.info("refused %s: %s", spoken, sentence)
        async with self._turn:
            await self._make_durable([_refused_event(spoken, sentence)])
        return Answer(False, sentence)

    async def _make_durable(self, happened: list[Moment], moments: Sequence[Moment] = ()) -> None:
        if not happened and not moments:
            return
        now_ticks, now_wall_ms = aio.ticks_ms(), self._wall_ms()
        entries = [Entry(kind, body, now_ticks, now_wall_ms) for kind, body in happened]
        await self._disk.run(partial(self._journal.append_many, entries, moments))
        self._changed()

    def _apply(self, kind: int, body: dict[int, Any], wall_ms: int) -> None:
        apply(self.state, (kind, body))
        if kind == kinds.ROUND_START:
            self._round_age = (0, aio.ticks_ms())
            self.round_started_wall_ms = wall_ms

    def _guess_round_age(self) -> None:
        """The ticks that saw the lock are gone; the wall clock may have been set back since."""
        known_ms = [offset_ms for _, offset_ms in self.state.late.values()]
        by_the_wall_ms = self._wall_ms() - self.round_started_wall_ms
        self._round_age = (max(0, by_the_wall_ms, *known_ms), aio.ticks_ms())

    def round_age_ms(self) -> int:
        """Time since the lock. It never goes back, whatever the wall clock does."""
        age_ms, at_ticks = self._round_age
        return age_ms + aio.ticks_diff(aio.ticks_ms(), at_ticks)


def _priced(event: tuple[int, dict[int, Any]], rules: Rules) -> tuple[int, dict[int, Any]]:
    """A round's start also says what was wagered: prices may change, what was recorded may not."""
    kind, body = event
    if kind != kinds.ROUND_START:
        return event
    games = [rules.game_of(sensor) for sensor in body[2]]
    return kind, {**body, WAGERED_KEY: sum(game.wager_cents for game in games if game)}


def _refused_event(spoken: str, sentence: str) -> tuple[int, dict[int, Any]]:
    # Clipped in bytes and made printable: what is refused is often what nobody expected.
    body = wire_events.Refused(clipped(spoken, COMMAND_BYTES_MAX), clipped(sentence))
    return body.KIND, body.to_body()
