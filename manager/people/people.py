"""The accounts: one row of the ledger for each person, and an entry of the chain for each act.

An account is made with a one-time code, by which its owner chooses a password: nobody else ever
knows it. An account that is closed keeps its name, so that no later person is taken for this one.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from kit.spelling import clean, id_of, is_one_person, look_of, problem_with
from manager.ledger.engines.relations import PEOPLE
from manager.ledger.store.entries import Entry, Kind, Reference
from manager.ledger.store.store import Store
from manager.people.errors import NotAllowed, NotKnown
from manager.people.passwords import Passwords
from manager.people.roles import Role
from manager.people.tokens import Tokens, is_token
from protocol.wire.fields import clipped

CODE_VALID_MS = 24 * 60 * 60 * 1000
PEOPLE_MAX = 2000
WRONG_CODE = "The name or the code does not fit, or the code is too old."


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    name: str
    look: str
    role: Role
    verifier: str
    code: str
    code_until_ms: int
    closed: bool

    @property
    def may_sign_in(self) -> bool:
        return bool(self.verifier) and not self.closed


class People:
    def __init__(self, store: Store, passwords: Passwords) -> None:
        self._store = store
        self._passwords = passwords
        self.tokens = Tokens(store, self.act)
        # Returns when every act so far is durable; what follows from one is done only then.
        self.until_durable = store.commits.until_durable

    # -- reading -----------------------------------------------------------------------------

    def find(self, name: str) -> Person | None:
        row = self._store.get(PEOPLE, id_of(name))
        return person_in(row) if row and not is_token(row) else None

    def all(self) -> list[Person]:
        rows = [person_in(row) for row in self._store.find(PEOPLE, {}) if not is_token(row)]
        return sorted(rows, key=lambda person: person.id)

    @property
    def has_admin(self) -> bool:
        """True when somebody can let others in."""
        return any(each.role is Role.ADMIN and each.may_sign_in for each in self.all())

    # -- changing ----------------------------------------------------------------------------

    def add_first(self, name: str, verifier: str) -> Person:
        """The first admin, by whoever has the code that the manager printed."""
        if self.has_admin:
            raise NotAllowed("There is an admin already.")
        with self._store.transaction():
            person = self._changed(self._added(name, Role.ADMIN), verifier=verifier)
            self.act(person.name, "first-admin", f"{person.name} is the first admin.")
        return person

    def add(self, by: Person, name: str, role: Role) -> tuple[Person, str]:
        """A new person, and the code by which they choose a password."""
        with self._store.transaction():
            person = self._added(name, role)
            code = self._give_code(person)
            sentence = f"{by.name} gave {person.name} an account as {role}."
            self.act(by.name, "add-person", sentence, person=person.name, role=str(role))
        return person, code

    def new_code(self, by: Person, name: str) -> str:
        """For somebody who forgot the password: the old one is no longer good."""
        with self._store.transaction():
            person = self._open(name)
            self._keep_an_admin(person)
            code = self._give_code(self._changed(person, verifier=""))
            sentence = f"{by.name} gave {person.name} a code for a new password."
            self.act(by.name, "new-code", sentence, person=person.name)
        return code

    def choose_password(self, code: str, name: str, verifier: str) -> Person:
        """By the code that an admin gave; it is good once."""
        person = self.find(name)
        if person is None or person.closed or not self._fits(person, code):
            raise NotKnown(WRONG_CODE)
        return self.set_password(person, verifier)

    def code_by_hand(self, name: str) -> str:
        """A code from whoever has the manager's folder; for a floor whose admins are all gone."""
        with self._store.transaction():
            person = self._open(name)
            code = self._give_code(person)
            sentence = f"Somebody at the manager's machine made a code for {person.name}."
            self.act("", "code-by-hand", sentence, person=person.name)
        return code

    def set_password(self, person: Person, verifier: str) -> Person:
        with self._store.transaction():
            person = self._changed(person, verifier=verifier, code="", code_until_ms=0)
            self.act(person.name, "password", f"{person.name} chose a password.")
        return person

    def give_role(self, by: Person, name: str, role: Role) -> Person:
        with self._store.transaction():
            person = self._open(name)
            if role is not Role.ADMIN:
                self._keep_an_admin(person)
            sentence = f"{by.name} made {person.name} {role}, who was {person.role}."
            self.act(by.name, "role", sentence, person=person.name, role=str(role))
            return self._changed(person, role=str(role))

    def close(self, by: Person, name: str) -> Person:
        with self._store.transaction():
            person = self._open(name)
            self._keep_an_admin(person)
            self.act(by.name, "close-person", f"{by.name} closed the account of {person.name}.")
            return self._changed(person, closed=1, verifier="", code="", code_until_ms=0)

    def verifier_of(self, password: str) -> str:
        """What is kept of a password; slow on purpose."""
        return self._passwords.verifier(password)

    def act(self, who: str, what: str, sentence: str, **detail: str) -> int:
        """One act of a person, as an entry of the chain."""
        told: Mapping[str, str] = {"who": who, "act": what, **detail}
        return self._store.append(
            Entry(Kind.ACT, Reference(), clipped(sentence), (), detail=dict(told))
        )

    # -- inside ------------------------------------------------------------------------------

    def _added(self, name: str, role: Role) -> Person:
        problem = problem_with(name)
        if problem:
            raise NotAllowed(problem)
        if len(self.all()) >= PEOPLE_MAX:
            raise NotAllowed(f"There are {PEOPLE_MAX} people already.")
        twin = next((each for each in self.all() if is_one_person(each.name, name)), None)
        if twin is not None:
            raise NotAllowed(f"{clean(name)} could be taken for {twin.name}; say more of the name.")
        row = (id_of(name), clean(name), look_of(name), str(role), "", "", 0, 0)
        self._store.put(PEOPLE, row)
        return person_in(row)

    def _give_code(self, person: Person) -> str:
        code = self._passwords.new_code()
        until_ms = self._store.now_ms + CODE_VALID_MS
        self._changed(person, code=self._passwords.code_mark(code), code_until_ms=until_ms)
        return code

    def _fits(self, person: Person, code: str) -> bool:
        is_in_time = self._store.now_ms < person.code_until_ms
        return is_in_time and hmac.compare_digest(self._passwords.code_mark(code), person.code)

    def _open(self, name: str) -> Person:
        person = self.find(name)
        if person is None or person.closed:
            raise NotAllowed(f"There is no account {clean(name)}.")
        return person

    def _keep_an_admin(self, leaving: Person) -> None:
        others = [
            each
            for each in self.all()
            if each.role is Role.ADMIN and each.may_sign_in and each.id != leaving.id
        ]
        if leaving.role is Role.ADMIN and not others:
            raise NotAllowed(f"{leaving.name} is the only admin; make another one first.")

    def _changed(self, person: Person, **values: str | int) -> Person:
        self._store.update(PEOPLE, (person.id,), True, **values)
        row = self._store.get(PEOPLE, person.id)
        assert row is not None
        return person_in(row)


def person_in(row: tuple[object, ...]) -> Person:
    """The account of a row that is no token."""
    person_id, name, look, role, verifier, code, until_ms, closed = row
    return Person(
        str(person_id),
        str(name),
        str(look),
        Role(str(role)),
        str(verifier),
        str(code),
        int(until_ms),  # type: ignore[call-overload]
        bool(closed),
    )
