"""People with accounts, for tests: quick hashes, one password, and pages that let somebody in."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from starlette.applications import Starlette

from kit.clock import wall_ms
from manager.ledger.engines.places import engine_at
from manager.ledger.store.store import Store
from manager.ledger_place import ledger_place
from manager.people.first_code import FirstCode
from manager.people.passwords import Passwords, load_key
from manager.people.people import People, Person
from manager.people.roles import Role
from manager.people.sessions import SESSIONS_MAX, Sessions
from manager.people.signing import SignIn
from manager.people.two_people import TwoPeople
from manager.web.access import Access, Entrance
from manager.web.app import build
from tests.kit.manager_views import FakeUnits

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
KEY = bytes(32)
PASSWORD = "four aces at noon"
ADMIN = "Addie Admin"
NOW_MS = 1_790_000_000_000


def quick_passwords(key: bytes = KEY) -> Passwords:
    return Passwords(key, QUICK)


def add_people(people: People, **roles: str) -> dict[str, Person]:
    """An admin, and somebody for each name; all with one password."""
    verifier = people.verifier_of(PASSWORD)
    admin = people.find(ADMIN) or people.add_first(ADMIN, verifier)
    made = {}
    for name, role in roles.items():
        person, _ = people.add(admin, name, Role(role))
        made[name] = people.set_password(person, verifier)
    return made


def people_of_a_folder(data: Path, **roles: str) -> None:
    """Accounts in the ledger of a folder that nobody serves from."""
    place = ledger_place(data)
    store = Store(engine_at(place), wall_ms, place)
    try:
        add_people(People(store, quick_passwords(load_key(data))), **roles)
    finally:
        store.close()


def type_passwords(monkeypatch: pytest.MonkeyPatch, count: int = 2) -> None:
    """Each person of the next command types the password."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n" * count))


class WalkIn:
    """Whoever asks for a page is this person."""

    banner = ""

    def __init__(self, name: str) -> None:
        self._name = name

    def newcomer(self, people: People) -> Person | None:
        return people.find(self._name)

    def others(self, people: People) -> Sequence[Person]:
        return ()


def access_to(
    store: Store,
    entrance: Entrance | None = None,
    book: Callable[[Mapping[str, str]], str] = lambda request: "Done.",
    now_s: Callable[[], float] = lambda: 0.0,
    is_tls: bool = False,
    tell: Callable[[Mapping[str, str]], None] = lambda request: None,
) -> Access:
    passwords = quick_passwords()
    people = People(store, passwords)
    return Access(
        people,
        # Who walks in has no cookie, and is somebody new with each request.
        Sessions(people, now_s, *([SESSIONS_MAX] if entrance else [])),
        SignIn(people, passwords, now_s),
        TwoPeople(store, people, book, tell),
        FirstCode(people, passwords),
        entrance,
        is_tls,
        now_s,
    )


def small_store(now_ms: Callable[[], int] = lambda: NOW_MS) -> Store:
    return Store(engine_at(":memory:"), now_ms)


def open_pages(manager: Any, role: Role = Role.EXECUTIVE, names: Collection[str] = ()) -> Starlette:
    """The manager's pages, in which everybody is signed in with this role."""
    access = access_to(small_store(), WalkIn("Wanda"))
    add_people(access.people, Wanda=str(role))
    return build(manager, access, names, units=FakeUnits())
