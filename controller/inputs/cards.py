"""What a swiped card does at this table. The manager judges it: no unit knows any card.

A key is stretched from the number, off the event loop, and makes a proof for the one thing that
waits for a card here; number and key are forgotten with the answer. Too many wrong cards, and none
is taken for a while; a power cut forgives none of them. Wrong cards are journaled by a mark that
means nothing after the next start, so that one card tried often can be told from many.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from controller.command_intake import CommandIntake
from controller.core.round import commands
from controller.core.round import state as states
from controller.inputs.cabinet import Cabinet
from controller.inputs.training_door import TrainingDoor
from controller.journal.record_table import RecordTable
from controller.keeper import RoundKeeper
from controller.table.answer import TAKEN, Answer
from controller.table.faults import FaultBoard
from controller.table.state import TableState
from hal import aio
from hal.worker import Worker
from protocol import numbers
from protocol.secrets.cards import swipe_proof
from protocol.wire import events
from protocol.wire.messages import Swipe, Verdict
from protocol.wire.settings import TableSettings

WRONG_CARD = "WRONG CARD"
MARK_DIGITS = 8

NO_SETTINGS = "No card can be judged: the manager was never reached."
NO_LINK = "The Game Manager must judge the card and does not answer. Swipe again when it is back."
GONE_ON = "The card was judged for what the table showed before. Swipe again."

Stretch = Callable[[bytes, str], bytes]
Judge = Callable[[Swipe], Awaitable[Verdict | None]]


class CardLockOut:
    """Counts wrong cards, and how long none is taken any more."""

    def __init__(self, faults: FaultBoard) -> None:
        self._faults = faults
        self._wrong_at: list[int] = []
        self._locked_at: int | None = None
        self._lockout_ms = 0

    def count(self, settings: TableSettings, age_ms: int = 0) -> None:
        """A wrong card, swiped so long ago."""
        if not settings.wrong_cards_max:
            return
        at = aio.ticks_add(aio.ticks_ms(), -age_ms)
        within_ms = settings.wrong_cards_within_s * 1000
        self._wrong_at = [each for each in self._wrong_at if aio.ticks_diff(at, each) < within_ms]
        self._wrong_at.append(at)
        if len(self._wrong_at) >= settings.wrong_cards_max:
            self._wrong_at = []
            self._locked_at, self._lockout_ms = at, settings.card_lockout_s * 1000
            if self._age_ms(at) < self._lockout_ms:
                sentence = f"Too many wrong cards: none is taken for {settings.card_lockout_s} s."
                self._faults.raise_("card-lockout", "card reader", sentence)

    def restore(self, settings: TableSettings, ages_ms: list[int]) -> None:
        """What was counted before a power cut, oldest first: pulling the plug forgives nothing."""
        for age_ms in ages_ms:
            self.count(settings, max(0, age_ms))
        self.tick()

    def tick(self) -> None:
        """Ends a lock-out whose time has passed."""
        if self._locked_at is not None and self._age_ms(self._locked_at) >= self._lockout_ms:
            self._locked_at = None
            self._faults.clear("card-lockout", "card reader")

    def left_ms(self) -> int:
        """How long no card is taken any more, 0 when cards are taken."""
        if self._locked_at is None:
            return 0
        return max(0, self._lockout_ms - self._age_ms(self._locked_at))

    def refusal(self) -> str:
        """Why no card is taken now, "" when cards are taken."""
        self.tick()
        left_s = (self.left_ms() + 999) // 1000
        return f"Too many wrong cards. Wait {left_s} s." if left_s else ""

    def _age_ms(self, at: int) -> int:
        return aio.ticks_diff(aio.ticks_ms(), at)


class Waiting(NamedTuple):
    """What waits for a card, and what the table shows of it: the proof covers all of it."""

    purpose: int
    number: int
    content: Any


class CardProofs:
    """Makes proofs from account numbers, and the marks of wrong cards. It keeps neither."""

    def __init__(self, unit_id: str, stretch: Stretch, worker: Worker, mark_key: bytes) -> None:
        self._unit_id = unit_id
        self._stretch = stretch
        self._worker = worker
        self._mark_key = mark_key  # of this start, and in memory alone

    async def swipe(self, salt: bytes, account: str, waiting: Waiting) -> Swipe:
        key = await self._worker.run(lambda: self._stretch(salt, account))
        purpose, number, content = waiting
        proof = swipe_proof(key, self._unit_id, purpose, number, content)
        return Swipe(purpose, number, proof)

    def mark(self, account: str) -> str:
        return hmac.digest(self._mark_key, account.encode(), "sha256").hex()[:MARK_DIGITS]


class SwipedCards:
    """What a swipe does here: it releases a cabinet, or is taken for the training or the round."""

    def __init__(
        self,
        lock_out: CardLockOut,
        proofs: CardProofs,
        judge: Judge,
        intake: CommandIntake,
        keeper: RoundKeeper,
        table: TableState,
        cabinet: Cabinet,
        training: TrainingDoor,
    ) -> None:
        self._lock_out = lock_out
        self._proofs = proofs
        self._judge = judge
        self._intake = intake
        self._keeper = keeper
        self._table = table
        self._cabinet = cabinet
        self._training = training

    async def swiped(self, account: str) -> Answer:
        settings = self._table.settings
        if self._table.service.is_on:
            # Whose card it is, is nobody's business here: nothing of it is shown, kept or sent.
            return self._tried("card", "read")
        if settings is None:
            return await self._intake.refuse("CARD", NO_SETTINGS)
        refusal = self._lock_out.refusal()
        if refusal:
            return await self._intake.refuse("CARD", refusal)
        waiting = self._waiting()
        if waiting is None:  # the round knows why no card is wanted now
            return await self._intake.submit(commands.card(numbers.ROLE_DEALER, b""), "CARD")
        swipe = await self._proofs.swipe(settings.card_salt, account, waiting)
        verdict = await self._judge(swipe) if self._table.link_up else None
        if verdict is None:
            return await self._intake.refuse("CARD", NO_LINK)
        if verdict.is_wrong:
            self._lock_out.count(settings)
            mark = self._proofs.mark(account)
            return await self._intake.refuse(f"{WRONG_CARD} {mark}", verdict.sentence)
        if verdict.role == numbers.ROLE_DEALER:
            return await self._intake.refuse("CARD", verdict.sentence)
        if self._waiting() not in (waiting, None):
            return await self._intake.refuse("CARD", GONE_ON)
        return await self._use(verdict)

    def _tried(self, part: str, what: str) -> Answer:
        self._table.service.tried(part, what)
        return TAKEN

    async def unreadable(self, reason: str) -> Answer:
        if self._table.service.is_on:
            return self._tried("unreadable-card", reason)
        return await self._intake.refuse("CARD", f"Please swipe again: {reason}.")

    def _waiting(self) -> Waiting | None:
        live_number = self._keeper.live_state.round_number
        if self._cabinet.awaits_release():
            return Waiting(numbers.SWIPE_CABINET, live_number, [])
        if self._training.awaits_card():
            return Waiting(numbers.SWIPE_TRAINING, live_number, [])
        waiting = _of_round(self._keeper.state)
        if waiting is not None and self._keeper.training:  # a round that the manager never hears of
            return Waiting(numbers.SWIPE_TRAINING, live_number, [])
        return waiting

    async def _use(self, verdict: Verdict) -> Answer:
        """The round may have gone on meanwhile: it decides by what is true now."""
        if verdict.purpose == numbers.SWIPE_CABINET:
            released = await self._cabinet.release_by(verdict.label)
            if released is not None:
                return released
        if verdict.purpose == numbers.SWIPE_TRAINING:
            begun = await self._training.card(verdict.label, verdict.role)
            if begun is not None:
                return begun
        return await self._intake.submit(commands.card(verdict.role, verdict.ticket), "CARD")


def _of_round(state: states.RoundState) -> Waiting | None:
    number = state.round_number
    if state.reopen_asked:
        return Waiting(numbers.SWIPE_REOPEN, number, [])
    if state.void_asked:
        return Waiting(numbers.SWIPE_VOID, number, [])
    if state.late_asked:
        return Waiting(numbers.SWIPE_LATE_ENTRY, state.late_asked[0], [])
    claim = state.claim
    if claim is None or state.stage() != states.STAGE_AUTHORISE:
        return None
    return Waiting(numbers.SWIPE_CLAIM, claim.number, [claim.award_lines, claim.envy])


def wrong_card_ages_ms(records: RecordTable, settings: TableSettings, now_ms: int) -> list[int]:
    """How long ago the wrong cards were swiped that may still count, oldest first.

    To be called on the disk's worker.
    """
    counts_for_ms = (settings.wrong_cards_within_s + settings.card_lockout_s) * 1000
    ages_ms = [
        now_ms - record.wall_ms
        for record in records.newest_first(events.REFUSED)
        if now_ms - record.wall_ms <= counts_for_ms  # a clock may have been set in between
        and events.Refused.from_body(record.body).command.startswith(WRONG_CARD)
    ]
    return ages_ms[::-1]
