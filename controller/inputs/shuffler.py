"""Listens to the shuffler: what it tells of the game under way is journaled, then shown.

None of it is needed for anything. Damaged, late, senseless or missing news changes no round; it is
said once what is wrong, and the next whole frame is taken as if nothing had been.
"""

from __future__ import annotations

import logging

from controller.command_intake import CommandIntake
from controller.keeper import RoundKeeper
from controller.table.dealt_hands import DealtHands
from controller.table.faults import FaultBoard
from controller.table.news import TableNews
from hal.devices.serial_feed import SerialFeed
from protocol.wire import events, shuffler
from protocol.wire.errors import ProtocolError
from protocol.wire.serial_frames import Damaged, FrameCutter

log = logging.getLogger("controller.inputs.shuffler")

CODE, PART = "shuffler", "shuffler"
UNPLUGGED = "The shuffler is unplugged. The game goes on without it."
DAMAGED = "The shuffler's data arrive damaged. The game goes on without them."
# A deal is a count and a hand a seat. More in one game is a mad shuffler, and all of it is kept.
EVENTS_PER_ROUND_MAX = 64
# One bad frame is a plug that was just pushed in; a run of them is a bad line.
DAMAGED_MAX = 3


class ShufflerWatch:
    def __init__(
        self,
        hands: DealtHands,
        keeper: RoundKeeper,
        intake: CommandIntake,
        news: TableNews,
        faults: FaultBoard,
    ) -> None:
        self._hands = hands
        self._keeper = keeper
        self._intake = intake
        self._news = news
        self._faults = faults
        self._frames = FrameCutter()
        self._damaged = 0
        self._kept = (0, 0)  # a round, and how much of it was journaled

    async def run(self, feed: SerialFeed) -> None:
        while True:
            data = await feed.read()
            if not data:
                self._frames.reset()
                self._damaged = 0
                self._say("" if feed.plugged else UNPLUGGED)
            for found in self._frames.feed(data):
                await self._take(found)

    def round_changed(self) -> None:
        """A new game begins with nothing dealt; what came before its START is not its deal."""
        state = self._keeper.live_state
        if state.round_open and 0 < self._hands.round_number < state.round_number:
            self._hands.forget()

    async def _take(self, found: bytes | Damaged) -> None:
        try:
            message = None if isinstance(found, Damaged) else shuffler.decode(found)
        except ProtocolError as problem:
            found, message = Damaged(problem.sentence), None
        if message is None:
            assert isinstance(found, Damaged)
            self._note_damage(found.reason)
            return
        self._damaged = 0
        self._say("")
        body = self._event(message)
        if body is None or self._hands.knows(body) or not self._may_keep():
            return
        if (await self._intake.record(body)).accepted:
            self._hands.take(body)
            self._news.shown.bump()

    def _event(self, message: shuffler.ShufflerMessage) -> events.EventBody | None:
        """What it means for the game under way; None when it cannot belong to it."""
        state = self._keeper.live_state  # a training has no journal and hears nothing
        if not state.round_open:
            return None
        if isinstance(message, shuffler.Dealt):
            return events.Dealt(
                state.round_number, message.deal_number, message.hand_count, message.mode
            )
        assert isinstance(message, shuffler.Shown)
        is_this_game = self._hands.round_number == state.round_number
        if is_this_game and message.deal_number < self._hands.deal_number:
            return None  # of a deal that was thrown away
        return events.Shown(state.round_number, message.deal_number, message.seat, message.cards)

    def _may_keep(self) -> bool:
        number = self._keeper.live_state.round_number
        count = self._kept[1] if self._kept[0] == number else 0
        self._kept = (number, count + 1)
        return count < EVENTS_PER_ROUND_MAX

    def _note_damage(self, reason: str) -> None:
        self._damaged += 1
        # At 1, 2, 4, 8 …: a line of noise must not fill the log either.
        if self._damaged & (self._damaged - 1) == 0:
            log.info("A frame of the shuffler was left out, %d in a row: %s", self._damaged, reason)
        if self._damaged >= DAMAGED_MAX:
            self._say(DAMAGED)

    def _say(self, sentence: str) -> None:
        self._hands.trouble = sentence
        self._faults.set(CODE, PART, sentence)
