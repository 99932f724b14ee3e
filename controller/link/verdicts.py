"""Asks the Game Manager what a swiped card may do, and waits for its answer while there is a link.

One card at a time. A swipe is a question, not a record: lost with the connection, it is asked again
by swiping again.
"""

from __future__ import annotations

from hal import aio
from protocol.wire.messages import Swipe, Verdict
from protocol.wire.stream import FrameStream
from protocol.wire.version import LINK_DOWN_MS


class Verdicts:
    def __init__(self) -> None:
        self._stream: FrameStream | None = None
        self._verdict: Verdict | None = None
        self._judged = aio.Event()
        self._turn = aio.Lock()

    def begin(self, stream: FrameStream) -> None:
        """There is a conversation, over this stream."""
        self._stream = stream

    def end(self) -> None:
        """Nobody waits for an answer that cannot come any more."""
        self._stream = None
        self._judged.set()

    def heard(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self._judged.set()

    async def judge(self, swipe: Swipe) -> Verdict | None:
        """What the manager says of a card; None when it cannot be asked or does not answer."""
        async with self._turn:
            stream, self._verdict = self._stream, None
            if stream is None:
                return None
            self._judged.clear()
            try:
                await stream.write(swipe.encode())
                await aio.wait_for_ms(self._judged.wait(), LINK_DOWN_MS)
            except (OSError, aio.TimeoutError):
                return None
            verdict = self._verdict
        if verdict is None or (verdict.purpose, verdict.number) != (swipe.purpose, swipe.number):
            return None
        return verdict
