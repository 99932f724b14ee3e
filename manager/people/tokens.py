"""Tokens: the accounts of machines that read. Made by an admin, shown once, kept as a digest.

A token has 256 bits of its own, so its digest needs no slow hash. It stands among the people under
a key that no name can have. One that was revoked keeps its name, so that no later one is taken for
it. What a token may read is not known here.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from kit.spelling import clean, is_one_person, problem_with
from manager.ledger.engines.relations import PEOPLE, Row
from manager.ledger.store.store import Store
from manager.people.errors import NotAllowed

ROLE = "token"  # in the column where a person's role stands; nobody's role is called so
PREFIX = "uft_"  # so that one that was lost is recognised where it lies
TOKENS_MAX = 100

Act = Callable[..., int]


@dataclass(frozen=True, slots=True)
class Token:
    id: str
    name: str
    is_revoked: bool


class Tokens:
    """`act` writes who did what into the chain."""

    def __init__(self, store: Store, act: Act) -> None:
        self._store = store
        self._act = act

    def all(self) -> list[Token]:
        rows = [row for row in self._store.find(PEOPLE, {}) if is_token(row)]
        return sorted((_token(row) for row in rows), key=lambda each: each.name)

    def find(self, secret: str) -> Token | None:
        """The token that was shown as this, unless it was revoked."""
        row = self._store.get(PEOPLE, _id_of(secret))
        token = _token(row) if row else None
        return token if token is not None and not token.is_revoked else None

    def add(self, by: str, name: str) -> tuple[Token, str]:
        """A new token, and what its owner has to keep: it is told only now."""
        problem = problem_with(name)
        if problem:
            raise NotAllowed(problem)
        if len(self.all()) >= TOKENS_MAX:
            raise NotAllowed(f"There are {TOKENS_MAX} tokens already.")
        if any(is_one_person(each.name, name) for each in self.all()):
            raise NotAllowed(f"There was a token {clean(name)} already; give it another name.")
        secret = PREFIX + secrets.token_urlsafe(32)
        row = (_id_of(secret), clean(name), _id_of(secret), ROLE, "", "", 0, 0)
        with self._store.transaction():
            self._store.put(PEOPLE, row)
            self._act(by, "add-token", f"{by} made the token {clean(name)}.", token=clean(name))
        return _token(row), secret

    def revoke(self, by: str, name: str) -> None:
        """From now on it opens nothing."""
        found = [each for each in self.all() if each.name == clean(name) and not each.is_revoked]
        if not found:
            raise NotAllowed(f"There is no token {clean(name)}.")
        with self._store.transaction():
            self._store.update(PEOPLE, (found[0].id,), True, closed=1)
            self._act(by, "revoke-token", f"{by} revoked the token {found[0].name}.")


def is_token(row: Row) -> bool:
    return bool(row[PEOPLE.place("role")] == ROLE)


def _id_of(secret: str) -> str:
    return f"token:{hashlib.sha256(secret.encode()).hexdigest()}"


def _token(row: Row) -> Token:
    return Token(str(row[0]), str(row[1]), bool(row[PEOPLE.place("closed")]))
