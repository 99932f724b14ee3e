"""An operator's requests, whoever carries them out: the serving manager, or the command itself.

A serving manager has the ledger's lock, so exactly one of the two can. Corrections come with the
names and passwords of accounts; requests about units' identities come from whoever may open the
manager's folder.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from kit.clock import wall_ms
from manager.audit.closing import CLOSE_DAY, note_closed
from manager.booking import ADOPT_JOURNAL, RELEASE_UNIT, Booking
from manager.control import SOCKET_NAME, ask
from manager.identity import requests as identity_requests
from manager.identity.enrolments import Enrolments
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Registry
from manager.identity.requests import Identities
from manager.identity_place import identities_of
from manager.intake.units import Units
from manager.ledger.book import Book
from manager.ledger.engines.archives import FOLDER as ARCHIVE_FOLDER
from manager.ledger.engines.engine import Owner
from manager.ledger.engines.places import engine_at, spoken
from manager.ledger.errors import LedgerError
from manager.ledger.store.store import Store
from manager.ledger_place import existing_ledger
from manager.people import roles
from manager.people.first_code import FirstCode
from manager.people.passwords import Passwords, load_key
from manager.people.people import People, Person
from manager.people.signing import SignIn, Typed
from manager.people.two_people import TwoPeople

__all__ = ["ADOPT_JOURNAL", "RELEASE_UNIT", "OperatorRequests", "carry_out"]

Request = Mapping[str, str]
FIRST_CODE = "first-code"
PERSON_CODE = "person-code"
# What proves who asks goes no further than this module.
_PROOFS = ("operator", "operator-password", "second", "second-password")


class OperatorRequests:
    """`identities` carries out the requests about units' certificates."""

    def __init__(
        self,
        people: People,
        sign_in: SignIn,
        two_people: TwoPeople,
        first_code: FirstCode,
        identities: Callable[[Request], str],
        store: Store,
    ) -> None:
        self._people = people
        self._sign_in = sign_in
        self._two_people = two_people
        self._first_code = first_code
        self._identities = identities
        self._store = store

    async def carry_out(self, request: Request) -> str:
        """Carries a request out and tells what was done; refuses it with a sentence."""
        command = request.get("command", "")
        if command in identity_requests.COMMANDS:
            return self._identities(request)
        if command == FIRST_CODE:
            return self._first_code.read_out()
        if command == CLOSE_DAY:
            return note_closed(self._store, request)
        if command == PERSON_CODE:
            return self._people.code_by_hand(request.get("name", ""))
        if command not in roles.COMMANDS:
            raise LedgerError(f"There is no correction {command!r}.")
        return await self._correct(request)

    async def _correct(self, request: Request) -> str:
        if not self._people.has_admin:
            raise LedgerError("Nobody has an account yet; make the first admin on the pages.")
        operator = await self._proven(request, "operator")
        wanted = {name: text for name, text in request.items() if name not in _PROOFS}
        if not request.get("second"):
            return self._two_people.ask(operator, wanted)
        second = await self._proven(request, "second")
        return self._two_people.ask_together(operator, second, wanted)

    async def _proven(self, request: Request, who: str) -> Person:
        name = request.get(who, "")
        if not name:
            raise LedgerError("The correction needs the name of the operator who makes it.")
        password = request.get(f"{who}-password", "")
        return await self._sign_in.check(Typed(name, password))


def carry_out(data: Path, request: Request) -> str:
    """By the manager that serves from this folder, or by this process when none does."""
    answer = ask(data / SOCKET_NAME, request)
    if answer is None:
        with _offline(data) as requests:
            return asyncio.run(requests.carry_out(request))
    done, sentence = answer
    if not done:
        raise LedgerError(sentence)
    return sentence


@contextmanager
def _offline(data: Path) -> Iterator[OperatorRequests]:
    try:
        place = existing_ledger(data)
    except LedgerError as error:
        raise LedgerError(f"{str(error)[:-1]}; start the manager once first.") from error
    owner = Owner(archive_folder=data / ARCHIVE_FOLDER)
    store = Store(engine_at(place, owner=owner), wall_ms, spoken(place))
    try:
        book = Book(store)
        booking = Booking(book, Units(store, book.tables, book.alarms))
        passwords = Passwords(load_key(data))
        people = People(store, passwords)
        yield OperatorRequests(
            people,
            SignIn(people, passwords, time.monotonic),
            # No unit is connected to a manager that does not serve.
            TwoPeople(store, people, booking.book, lambda request: None),
            FirstCode(people, passwords),
            partial(_offline_identities, IdentityFolder(data), book),
            store,
        )
    finally:
        store.close()


def _offline_identities(folder: IdentityFolder, book: Book, request: Request) -> str:
    """Opens the list of identities for one request; the next manager tells the alarms of it."""
    if not folder.path.is_dir():
        raise IdentityError(
            f"There are no identities in {folder.path.parent}; start the manager once first."
        )
    store = identities_of(folder.path.parent, folder, wall_ms)
    try:
        enrolments = Enrolments(store, folder, secrets.token_bytes)
        identities = Identities(enrolments, Registry(store), folder, book.tables.ids)
        return identity_requests.carry_out(identities, request)
    finally:
        store.close()
