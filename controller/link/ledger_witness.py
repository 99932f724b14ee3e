"""Holds the Game Manager's ledger to what this unit was told of it before.

It alone knows when a tail is believed. One that is refused is answered with its sentence, so that
the manager has an alarm of it, and ends the conversation; the table shows the same sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from controller.journal.journal import Journal
from protocol.proof.tail import objection
from protocol.wire import messages
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.rows import LedgerTail, TailPlace
from protocol.wire.stream import FrameStream


class LedgerWitness:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def place(self) -> tuple[TailPlace, ...]:
        """Where the remembered tail was; what stands there now is for the manager to say."""
        told = self._journal.tail.told
        return (TailPlace(told.era, told.number),) if told else ()

    async def judge(self, stream: FrameStream, welcome: messages.Welcome) -> None:
        await self._believe(stream, welcome.tail, welcome.digest_then)

    async def hear(self, stream: FrameStream, ack: messages.Ack) -> None:
        """A tail in passing says nothing of the remembered place, unless it is that very place."""
        told = self._journal.tail.told
        if ack.tail and told is not None and ack.tail[0].number != told.number:
            await self._believe(stream, ack.tail, told.digest)
        elif ack.tail:
            await self._believe(stream, ack.tail, ack.tail[0].digest)

    async def _believe(
        self, stream: FrameStream, told: Sequence[LedgerTail], digest_then: bytes
    ) -> None:
        remembered, tail = self._journal.tail.told, next(iter(told), None)
        sentence = objection(remembered, tail, digest_then) if remembered else ""
        if sentence:
            problem = ProtocolError(ErrorCode.TAIL, sentence)
            await stream.write(messages.error_for(problem).encode())
            raise problem
        if tail is not None:
            self._journal.tail.note(tail)
