"""The practice floor's manager: the shipped one, in which everybody is signed in already.

Two made-up people have accounts, and whoever opens the pages is the first of them. Only the bench
starts a manager this way; nothing that ships knows how to.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kit.command_line import run_command
from manager.__main__ import main
from manager.people.people import People, Person
from manager.people.roles import Role

OPERATOR, SECOND, EXECUTIVE = "Demo Operator", "Demo Supervisor", "Demo Executive"
PASSWORD = "practice felt"
_ROLES = {
    OPERATOR: Role.OPERATOR,
    SECOND: Role.SUPERVISOR,
    EXECUTIVE: Role.EXECUTIVE,
    "Demo Admin": Role.ADMIN,
}


class PracticeEntrance:
    banner = (
        f"Practice floor. You are signed in without a password. {SECOND} is there to approve;"
        f" terms, new tables and cards need {EXECUTIVE}."
        f" Where a password is asked for, it is “{PASSWORD}”."
    )

    def newcomer(self, people: People) -> Person | None:
        self._make(people)
        return people.find(OPERATOR)

    def others(self, people: People) -> Sequence[Person]:
        found = [people.find(name) for name in _ROLES]
        return [person for person in found if person is not None]

    def _make(self, people: People) -> None:
        """Once for a ledger: the people of the practice floor."""
        if people.find(OPERATOR) is not None:
            return
        verifier = people.verifier_of(PASSWORD)
        admin = people.add_first("Demo Admin", verifier)
        for name, role in _ROLES.items():
            if role is not Role.ADMIN:
                person, _ = people.add(admin, name, role)
                people.set_password(person, verifier)


def run() -> int:
    return main(sys.argv[1:], PracticeEntrance())


if __name__ == "__main__":
    run_command(run)
