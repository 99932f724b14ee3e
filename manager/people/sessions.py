"""Who is signed in, and for how long: until a pause, and at the latest until the shift is over.

They are kept in memory only; a manager that starts anew asks everybody to sign in again. A session
whose person was closed or given another role is over at once. Where accounts are looked up may
change: in a manager's own books while it owns them, in the database while it stands by.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from manager.people.people import Person

IDLE_MAX_S = 15 * 60
SHIFT_MAX_S = 10 * 60 * 60
SESSIONS_MAX = 500
PER_PERSON_MAX = 5


@dataclass(slots=True)
class Session:
    person: Person
    form_key: str  # proves that a form is ours
    begun_s: float
    seen_s: float
    notice: str = ""  # what the next page has to tell


class Accounts(Protocol):
    """Who has an account at this moment."""

    def find(self, name: str) -> Person | None: ...


class Sessions:
    def __init__(
        self,
        accounts: Accounts,
        now_s: Callable[[], float],
        per_person_max: int = PER_PERSON_MAX,
    ) -> None:
        self._accounts = accounts
        self._per_person_max = per_person_max
        self._now_s = now_s
        self._open: dict[str, Session] = {}

    def go_on_with(self, accounts: Accounts) -> None:
        """Who is signed in stays so, as long as the account is still the same in these."""
        self._accounts = accounts

    def holds(self, token: str) -> bool:
        """Whether there is a session of this token, over or not."""
        return _mark(token) in self._open

    def begin(self, person: Person) -> str:
        """The token that the browser keeps; here only its hash is kept."""
        self._sweep()
        own = [mark for mark, each in self._open.items() if each.person.id == person.id]
        candidates = own if len(own) >= self._per_person_max else list(self._open)
        if len(own) >= self._per_person_max or len(self._open) >= SESSIONS_MAX:
            del self._open[min(candidates, key=lambda mark: self._open[mark].seen_s)]
        token, now_s = secrets.token_urlsafe(32), self._now_s()
        self._open[_mark(token)] = Session(person, secrets.token_urlsafe(24), now_s, now_s)
        return token

    def find(self, token: str, is_an_act: bool = True) -> Session | None:
        """The session, unless it is over. What a page does by itself keeps no session alive."""
        session = self._open.get(_mark(token))
        if session is None:
            return None
        if not self._is_in_time(session):
            del self._open[_mark(token)]
            return None
        if is_an_act:
            session.seen_s = self._now_s()
        return session

    def is_on(self, session: Session) -> bool:
        """True while nobody ended it and time did not; asking keeps nobody signed in."""
        return self._is_in_time(session) and any(each is session for each in self._open.values())

    def end(self, token: str) -> None:
        self._open.pop(_mark(token), None)

    def _is_in_time(self, session: Session) -> bool:
        now_s = self._now_s()
        is_in_time = now_s - session.seen_s < IDLE_MAX_S and now_s - session.begun_s < SHIFT_MAX_S
        return is_in_time and self._accounts.find(session.person.name) == session.person

    def _sweep(self) -> None:
        for mark in [mark for mark, each in self._open.items() if not self._is_in_time(each)]:
            del self._open[mark]


def _mark(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
