"""Who is signed in at the service page: a few technicians, each for a while.

In memory alone: a unit that starts anew knows nobody. A session ends by itself when nothing was
done in it for half an hour, and after a shift however busy it was.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

SESSIONS_MAX = 4
IDLE_MAX_S = 30 * 60
SHIFT_MAX_S = 12 * 3600


@dataclass
class Session:
    tech: str
    began_s: float
    acted_s: float


class Sessions:
    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._by_token: dict[str, Session] = {}

    def begin(self, tech: str) -> str:
        """A token for the browser; when too many are signed in, the oldest of them is out."""
        self._forget_old()
        while len(self._by_token) >= SESSIONS_MAX:
            del self._by_token[next(iter(self._by_token))]
        token, now_s = secrets.token_urlsafe(32), self._now_s()
        self._by_token[token] = Session(tech, now_s, now_s)
        return token

    def find(self, token: str, is_an_act: bool = False) -> Session | None:
        self._forget_old()
        session = self._by_token.get(token)
        if session is not None and is_an_act:
            session.acted_s = self._now_s()
        return session

    def end(self, token: str) -> None:
        self._by_token.pop(token, None)

    def _forget_old(self) -> None:
        now_s = self._now_s()
        for token, session in list(self._by_token.items()):
            if now_s - session.acted_s > IDLE_MAX_S or now_s - session.began_s > SHIFT_MAX_S:
                del self._by_token[token]
