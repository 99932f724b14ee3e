"""The page of all spots: what must be mended, what must be cleaned this week, and the rest."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from manager.people.roles import BUNDLE_TAKERS
from manager.web.access import Access, session_of
from manager.web.api import ManagerApi
from manager.web.health.view import CLEAN, REPLACE
from manager.web.rendering import Renderer


class SpotPages:
    def __init__(self, manager: ManagerApi, access: Access, render: Renderer) -> None:
        self._manager = manager
        self._access = access
        self._render = render

    def routes(self) -> list[BaseRoute]:
        return [self._access.page("/spots", self.spots)]

    async def spots(self, request: Request) -> Response:
        rows, tables = self._manager.spots.rows(), self._manager.spots.tables()
        return self._render.answer(
            request,
            "health/spots.html",
            "spots",
            200,
            rows=rows,
            replace=sum(row["verdict"] == REPLACE for row in rows),
            clean=sum(row["verdict"] == CLEAN for row in rows),
            unknown=[table for table in tables if not table["spots"]],
            in_service=[table for table in tables if table["state"] == "service"],
            may_ask=session_of(request).person.role in BUNDLE_TAKERS,
        )
