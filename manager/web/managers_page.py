"""Who owns what: every group of jackpots with its manager, who stands by, its meters and tables.

Read from the database, so every owner shows the whole floor. A manager that serves alone has no
such page.
"""

from __future__ import annotations

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.web.access import Access
from manager.web.api import FloorApi


class ManagersPage:
    def __init__(self, floor: FloorApi | None, access: Access, templates: Environment) -> None:
        self._floor = floor
        self._access = access
        self._templates = templates
        templates.globals["several_managers"] = floor is not None

    def routes(self) -> list[BaseRoute]:
        return [self._access.page("/managers", self.managers)]

    async def managers(self, request: Request) -> Response:
        if self._floor is None:
            raise HTTPException(404, "This manager serves alone; nobody stands by for it.")
        try:
            groups = await self._floor.groups()
        except LedgerError as error:
            raise HTTPException(503, str(error)) from error
        page = self._templates.get_template("managers.html")
        context = self._access.context(request)
        return HTMLResponse(page.render(here="managers", groups=groups, **context))
