"""The owner's end of what a manager that stands by hands over: judged here, and written down here.

Tries are counted with those at the owner's own pages, so that a second manager is no second chance
to guess.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.people.errors import NotAllowed, NotKnown, TooSoon
from manager.people.handing_over import (
    MOVE,
    PATH,
    SIGN_IN,
    SIGN_OUT,
    UNREADABLE,
    Answer,
    HandedOver,
)
from manager.people.people import Person
from manager.people.signing import Typed
from manager.web.access import Access
from manager.web.managers.moving import Moves

NOBODY_YET = "Nobody has an account yet. Make the first admin on the owner's pages."


class FromStandby:
    def __init__(self, access: Access, moves: Moves) -> None:
        self._access = access
        self._moves = moves

    def routes(self) -> list[BaseRoute]:
        return [self._access.from_managers(PATH, self.take)]

    async def take(self, request: Request) -> Response:
        handed: HandedOver = request.state.handed_over
        try:
            answer = Answer(True, await self._done(handed))
        except TooSoon as error:
            answer = Answer(False, str(error), error.wait_s)
        except LedgerError as error:
            answer = Answer(False, str(error))
        return Response(answer.encode(), media_type="application/json")

    # -- inside ------------------------------------------------------------------------------

    async def _done(self, handed: HandedOver) -> str:
        if handed.what == SIGN_IN:
            return await self._signed_in(handed)
        if handed.what == SIGN_OUT:
            return self._signed_out(handed)
        if handed.what == MOVE:
            person = await self._proven(handed)
            return await self._moves.ask(person, handed.group, handed.to, handed.manager)
        raise NotKnown(UNREADABLE)

    async def _signed_in(self, handed: HandedOver) -> str:
        if self._access.first_code.is_wanted:
            raise NotAllowed(NOBODY_YET)
        person = await self._proven(handed)
        where = f"at {handed.address}, on the pages of {handed.manager}, which stands by"
        self._access.people.act(person.name, SIGN_IN, f"{person.name} signed in {where}.")
        return person.name

    def _signed_out(self, handed: HandedOver) -> str:
        person = self._access.people.find(handed.name)
        if person is None:
            raise NotKnown(f"There is no account {handed.name}.")
        sentence = f"{person.name} signed out on the pages of {handed.manager}, which stands by."
        self._access.people.act(person.name, SIGN_OUT, sentence)
        return sentence

    async def _proven(self, handed: HandedOver) -> Person:
        return await self._access.sign_in.check(
            Typed(handed.name, handed.password, handed.address, handed.manager)
        )
