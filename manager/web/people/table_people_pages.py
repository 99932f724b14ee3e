"""The page of cards and techs: add, change, retire. What may confirm wins takes a second person.

A number or PIN comes in with one form, is stretched at once, and is on no page and in no request.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.people import roles
from manager.setup import table_people
from manager.web.access import Access, form_of, session_of
from manager.web.api import TablePeopleApi
from manager.web.forms import Form
from manager.web.rendering import Renderer

KEEPERS = frozenset(
    role for role in roles.ASKERS if any(roles.may_ask(role, c) for c in table_people.COMMANDS)
)
_PLAIN = ("table", "label", "role", "last-day")  # of a request; the rest is secret


class TablePeoplePages:
    def __init__(self, people: TablePeopleApi, access: Access, render: Renderer) -> None:
        self._people = people
        self._access = access
        self._render = render

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/cards", self.cards),
            page("/cards", self.acted, KEEPERS, method="POST"),
        ]

    async def cards(self, request: Request) -> Response:
        return self._page(request, {})

    async def acted(self, request: Request) -> Response:
        form = form_of(request)
        try:
            person = await self._access.prove_again(request)
            sentence = self._access.two_people.ask(person, await self._asked(form))
        except LedgerError as error:
            return self._page(request, form, str(error))
        session_of(request).notice = sentence
        return RedirectResponse("/cards", status_code=303)

    async def _asked(self, form: Form) -> dict[str, str]:
        command = form.get("act", "")
        if command not in table_people.COMMANDS:
            raise LedgerError("Nothing was asked for.")
        asked = {name: form[name].strip() for name in _PLAIN if form.get(name, "").strip()}
        if command == table_people.ADD_CARD:
            keys = await self._people.keys_of(form.get("number", ""), asked.get("table", ""))
            asked[table_people.KEYS] = keys
        if command in (table_people.ADD_TECH, table_people.CHANGE_TECH):
            asked[table_people.PIN] = await self._people.pin_of(
                form.get("pin", ""), form.get("pin-again", "")
            )
        return {"command": command, **asked}

    def _page(self, request: Request, form: Form, problem: str = "") -> Response:
        role = session_of(request).person.role
        typed = {name: form.get(name, "") for name in (*_PLAIN, "act")}
        return self._render.answer(
            request,
            "people/cards.html",
            "cards",
            409 if problem else 200,
            cards=self._people.cards(),
            techs=self._people.techs(),
            tables=self._people.tables(),
            may={each: roles.may_ask(role, each) for each in table_people.COMMANDS},
            deciders=sorted(roles.deciders(table_people.ADD_CARD)),
            typed=typed,
            problem=problem,
        )
