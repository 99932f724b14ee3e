"""Proving who one is: name and password, listened to at a pace that no robot likes.

A right password is delayed as a wrong one is, so that waiting tells nothing. The hash is worked out
in a thread, one at a time: a table never waits for it, and a flood of tries costs one core.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass

from kit.rate_limit import Pacer
from kit.spelling import clean, id_of
from manager.people.errors import NotKnown, TooSoon
from manager.people.passwords import LENGTH_MAX, Passwords, check_password
from manager.people.people import People, Person

WRONG = "The name or the password is wrong."
TRIES, TRY_AGAIN_S = 5, 15.0  # for one name, from anywhere
ADDRESS_TRIES, ADDRESS_AGAIN_S = 20, 3.0  # for one address, whatever the name
WAITING_MAX = 8  # tries that are under way; the next one is told to come again


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody typed, and where they sit."""

    name: str
    password: str
    address: str = ""
    manager: str = ""  # the one that stands by, when they sit at its pages


class SignIn:
    def __init__(self, people: People, passwords: Passwords, now_s: Callable[[], float]) -> None:
        self._people = people
        self._passwords = passwords
        self._now_s = now_s
        self._names = Pacer(TRIES, 1 / TRY_AGAIN_S)
        self._addresses = Pacer(ADDRESS_TRIES, 1 / ADDRESS_AGAIN_S)
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0

    async def check(self, typed: Typed) -> Person:
        """The person, or a refusal that does not say what was wrong."""
        self.pace(typed)
        if self._waiting >= WAITING_MAX:
            raise TooSoon(math.ceil(ADDRESS_AGAIN_S))
        self._waiting += 1
        try:
            async with self._one_at_a_time:
                person, verifier = self._asked_for(typed)
                fits = await asyncio.to_thread(self._passwords.fits, typed.password, verifier)
        finally:
            self._waiting -= 1
        return self._judged(typed, person, fits)

    async def new_verifier(self, typed: Typed) -> str:
        """What is kept of a password that somebody chooses; a poor one is refused."""
        self.pace(typed)
        check_password(typed.password, typed.name)
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._passwords.verifier, typed.password)

    def manager_mark(self, message: bytes) -> str:
        """What a message bears that another manager of this house wrote."""
        return self._passwords.manager_mark(message)

    def pace(self, typed: Typed) -> None:
        """Refuses who tries too often, before anything is worked out."""
        now_s = self._now_s()
        if typed.address and not self._addresses.take(typed.address, now_s):
            raise TooSoon(math.ceil(ADDRESS_AGAIN_S))
        if not self._names.take(id_of(typed.name)[:LENGTH_MAX], now_s):
            raise TooSoon(math.ceil(TRY_AGAIN_S))

    def _asked_for(self, typed: Typed) -> tuple[Person | None, str]:
        person = self._people.find(typed.name)
        return person, person.verifier if person and person.may_sign_in else ""

    def _judged(self, typed: Typed, person: Person | None, fits: bool) -> Person:
        # Looked up again: the account may have been closed while the hash was worked out.
        now = self._people.find(typed.name)
        if person is not None and fits and now == person:
            self._names.forget(id_of(typed.name))
            return person
        if person is not None:  # strangers' names are no act of anybody
            name = clean(person.name)
            at = f" at {typed.address}" if typed.address else ""
            at += f", on the pages of {typed.manager}" if typed.manager else ""
            self._people.act(name, "refused", f"A wrong password was typed for {name}{at}.")
        raise NotKnown(WRONG)
