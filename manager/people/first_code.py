"""The code by which the first admin comes in: printed by the manager, good once, never a default.

It lives only in the serving process, and only while no admin can sign in.
"""

from __future__ import annotations

import hmac

from manager.people.errors import NotKnown
from manager.people.passwords import Passwords
from manager.people.people import WRONG_CODE, People, Person


class FirstCode:
    def __init__(self, people: People, passwords: Passwords) -> None:
        self._people = people
        self._passwords = passwords
        self._code = passwords.new_code()

    @property
    def is_wanted(self) -> bool:
        return not self._people.has_admin

    def read_out(self) -> str:
        """For whoever may read the manager's output or its folder."""
        if not self.is_wanted:
            raise NotKnown("There is an admin already; ask them for an account.")
        return self._code

    def use(self, code: str, name: str, verifier: str) -> Person:
        mark = self._passwords.code_mark
        if not self.is_wanted or not hmac.compare_digest(mark(code), mark(self._code)):
            raise NotKnown(WRONG_CODE)
        person = self._people.add_first(name, verifier)
        self._code = self._passwords.new_code()
        return person
