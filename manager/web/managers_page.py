"""Who owns what: every group of jackpots with its manager, who stands by, its meters and tables.

Read from the database, so every owner shows the whole floor, and can ask for a group to be moved. A
manager that serves alone has no such page.
"""

from __future__ import annotations

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.people.roles import UNIT_KEEPERS
from manager.web.access import Access, form_of, session_of
from manager.web.api import FloorApi

NAME_MAX = 64


class ManagersPage:
    def __init__(self, floor: FloorApi | None, access: Access, templates: Environment) -> None:
        self._floor = floor
        self._access = access
        self._templates = templates
        templates.globals["several_managers"] = floor is not None

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/managers", self.managers),
            page("/managers", self.moved, UNIT_KEEPERS, method="POST"),
        ]

    async def managers(self, request: Request) -> Response:
        return await self._page(request)

    async def moved(self, request: Request) -> Response:
        """A group goes to another manager. Who asked stands in this manager's ledger before."""
        floor, form = self._here(), form_of(request)
        group, to = form.get("group", ""), form.get("to", "")
        try:
            person = await self._access.prove_again(request)
            if not any(each["name"] == group for each in await floor.groups()):
                raise LedgerError(f"There is no group {group[:NAME_MAX]!r}.")
            asked = f"{person.name} asks to move {group or 'the floor'} to {to[:NAME_MAX]}."
            self._access.people.act(person.name, "move-group", asked)
            session_of(request).notice = await floor.move(group, to)
        except LedgerError as error:
            return await self._page(request, str(error))
        return RedirectResponse("/managers", status_code=303)

    def _here(self) -> FloorApi:
        if self._floor is None:
            raise HTTPException(404, "This manager serves alone; nobody stands by for it.")
        return self._floor

    async def _page(self, request: Request, problem: str = "") -> Response:
        floor = self._here()
        try:
            groups = await floor.groups()
        except LedgerError as error:
            raise HTTPException(503, str(error)) from error
        text = self._templates.get_template("managers.html").render(
            **self._access.context(request),
            here="managers",
            groups=groups,
            may_move=session_of(request).person.role in UNIT_KEEPERS,
            problem=problem,
        )
        return HTMLResponse(text, status_code=409 if problem else 200)
