"""The archive of wins: a form to find them, the claims that wait, and the same as CSV."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute

from manager.web.access import Access
from manager.web.api import ArchiveApi, ManagerApi
from manager.web.archive import csv_file
from manager.web.archive.filters import STATES, Filters, filters_of
from manager.web.rendering import Renderer

NUMBER_DIGITS_MAX = 12


class ArchivePages:
    def __init__(self, manager: ManagerApi, access: Access, render: Renderer) -> None:
        self._manager = manager
        self._access = access
        self._render = render

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [page("/wins", self.wins), page("/wins.csv", self.csv)]

    async def wins(self, request: Request) -> Response:
        filters = filters_of(request.query_params)
        before = _number(request.query_params.get("before", ""))
        found = None if filters.problems else await self._manager.archive.find(filters, before)
        query = {name: text for name, text in filters.typed.items() if text}
        return self._render.answer(
            request,
            "wins/archive.html",
            "wins",
            filters=filters,
            choices=self._manager.archive.choices(),
            states=STATES,
            claims=self._manager.claims() if not query and not before else [],
            found=found,
            query=urlencode(query),
            is_filtered=bool(query),
        )

    async def csv(self, request: Request) -> Response:
        filters = filters_of(request.query_params)
        if filters.problems:
            raise HTTPException(400, next(iter(filters.problems.values())))
        headers = {"content-disposition": 'attachment; filename="wins.csv"'}
        lines = _lines(self._manager.archive, filters)
        return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=headers)


async def _lines(archive: ArchiveApi, filters: Filters) -> AsyncIterator[str]:
    yield csv_file.head()
    async for win in archive.each(filters):
        yield csv_file.lines(win)


def _number(text: str) -> int:
    """Where to go on; what is no number of a win begins with the newest."""
    is_one = text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS_MAX
    return int(text) if is_one else 0
