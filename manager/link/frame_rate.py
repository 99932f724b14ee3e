"""How many frames without a receipt one connection may send: a few at once, then so many a second.

A unit beats once a second and seldom reports an error; more than that only costs time that belongs
to the other tables. Events need no such limit: each waits for its receipt, and only a window of
them may be under way.
"""

from __future__ import annotations

from kit.rate_limit import Bucket
from protocol.wire.errors import ErrorCode, ProtocolError

# A network that was stuck for a while delivers a few seconds' worth of heartbeats at once.
BURST = 20
PER_S = 4


class FrameRate:
    def __init__(self, now_s: float) -> None:
        self._bucket = Bucket(BURST, PER_S, now_s)

    def count(self, now_s: float) -> None:
        """One more frame has come; raises when it is one too many."""
        if not self._bucket.take(now_s):
            sentence = f"More than {PER_S} frames a second were sent that ask for no receipt."
            raise ProtocolError(ErrorCode.RATE, sentence)
