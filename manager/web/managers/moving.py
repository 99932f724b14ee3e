"""A group is moved on purpose, by one person who may; the ledger says before who asked."""

from __future__ import annotations

from manager.ledger.errors import LedgerError
from manager.people.errors import NotAllowed
from manager.people.people import People, Person
from manager.people.roles import UNIT_KEEPERS
from manager.web.api import FloorApi

NAME_MAX = 64


class Moves:
    def __init__(self, floor: FloorApi, people: People) -> None:
        self._floor = floor
        self._people = people

    async def ask(self, person: Person, group: str, to: str, manager: str = "") -> str:
        """For somebody who has just proven who they are; `manager` stands by, and handed it over.

        Who asked is durable before the owner of the group hears of it.
        """
        if person.role not in UNIT_KEEPERS:
            raise NotAllowed(f"{person.name} is {person.role} and may not move a group.")
        if not any(each["name"] == group for each in await self._floor.owners()):
            raise LedgerError(f"There is no group {group[:NAME_MAX]!r}.")
        where = f", on the pages of {manager}" if manager else ""
        asked = f"{person.name} asks to move {group or 'the floor'} to {to[:NAME_MAX]}{where}."
        self._people.act(person.name, "move-group", asked)
        await self._people.until_durable()
        return await self._floor.move(group, to)
