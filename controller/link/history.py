"""What became of each call to the Game Manager: when the link came and went, and why.

It alone remembers it. It is evidence for a technician, bounded, and decides nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from kit.clock import WallClock
from protocol.wire import messages

CHANGES_KEPT = 60
REASONS_MAX = 24
REASON_MAX = 200
FRAMES_KEPT = 80
# Comes every second and says nothing that the rest does not.
NOT_KEPT = (messages.Heartbeat.TYPE,)
# A swipe's proof, its ticket and a tech's PIN hash stay between unit and manager.
WITHHELD = (messages.Settings, messages.Swipe, messages.Verdict)
TICKET_BYTES = 16


class LinkHistory:
    def __init__(self, wall_ms: WallClock) -> None:
        self._wall_ms = wall_ms
        self._changes: deque[tuple[int, bool]] = deque(maxlen=CHANGES_KEPT)
        self._endings: Counter[str] = Counter()
        self._frames: deque[tuple[int, bool, messages.Message]] = deque(maxlen=FRAMES_KEPT)
        self.loss_count = 0

    def changed(self, up: bool) -> None:
        self._changes.append((self._wall_ms(), up))
        self.loss_count += not up

    def ended(self, reason: str) -> None:
        """Why a call failed or a conversation ended, in words."""
        reason = reason[:REASON_MAX]
        if reason in self._endings or len(self._endings) < REASONS_MAX:
            self._endings[reason] += 1

    def sent(self, message: messages.Message) -> None:
        self._frame(True, message)

    def received(self, message: messages.Message) -> None:
        self._frame(False, message)

    def _frame(self, is_sent: bool, message: messages.Message) -> None:
        if message.TYPE not in NOT_KEPT:
            self._frames.append((self._wall_ms(), is_sent, message))

    def frames(self) -> list[dict[str, Any]]:
        """The last frames; what is withheld is named, and has no bytes."""
        return [
            {
                "wall_ms": wall_ms,
                "sent": is_sent,
                "message": type(message).__name__,
                "hex": "" if _is_secret(message) else message.encode().hex(),
            }
            for wall_ms, is_sent, message in self._frames
        ]

    def view(self) -> dict[str, Any]:
        return {
            "changes": [[wall_ms, up] for wall_ms, up in self._changes],
            "losses": self.loss_count,
            "endings": dict(self._endings),
        }


def _is_secret(message: messages.Message) -> bool:
    if isinstance(message, messages.Event):
        values = message.body.values()
        return any(type(each) is bytes and len(each) == TICKET_BYTES for each in values)
    return isinstance(message, WITHHELD)
