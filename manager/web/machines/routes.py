"""The addresses for machines: the API by tokens, its document, metrics, and health for anybody."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute

from manager.web.access import Access, error_answer
from manager.web.api import MachinesApi, View
from manager.web.machines.document import LIMIT, LIMIT_MAX, NUMBER_MAX, document
from manager.web.machines.metrics import CONTENT_TYPE, text_of

_WHOLE = re.compile(r"0|[1-9][0-9]{0,15}")
Page = Callable[[int, int], list[View]]


class _Unfit(Exception):  # noqa: N818
    """A parameter is not what it must be."""


class MachineRoutes:
    def __init__(self, machines: MachinesApi, access: Access) -> None:
        self._machines = machines
        self._access = access

    def routes(self) -> list[BaseRoute]:
        api, machines = self._access.api, self._machines
        return [
            self._access.open_page("/health", self.health),
            api("/metrics", self.metrics),
            api("/api/v1/openapi.json", self.document),
            api("/api/v1/meters", partial(_all, machines.meters)),
            api("/api/v1/tables", partial(_all, machines.tables)),
            api("/api/v1/claims", partial(_all, machines.claims)),
            api("/api/v1/wins", partial(_page, machines.wins)),
            api("/api/v1/wins/{number}", self.win),
            api("/api/v1/alarms", partial(_page, machines.alarms)),
            api("/api/v1/entries", partial(_page, machines.entries)),
        ]

    async def health(self, request: Request) -> Response:
        """For a load balancer or a watchdog: nothing that anybody could not know."""
        is_well = self._machines.is_well()
        status = "ok" if is_well else "the ledger cannot be written"
        return JSONResponse({"status": status}, status_code=200 if is_well else 503)

    async def metrics(self, request: Request) -> Response:
        return PlainTextResponse(text_of(self._machines.figures()), media_type=CONTENT_TYPE)

    async def document(self, request: Request) -> Response:
        return JSONResponse(document())

    async def win(self, request: Request) -> Response:
        try:
            _refuse_unknown(request, ())
            number = _whole("number", request.path_params["number"], 0, NUMBER_MAX)
        except _Unfit as error:
            return error_answer(400, str(error))
        win = self._machines.win(number)
        return error_answer(404, f"There is no win {number}.") if win is None else _json(win)


async def _all(rows: Callable[[], list[View]], request: Request) -> Response:
    try:
        _refuse_unknown(request, ())
    except _Unfit as error:
        return error_answer(400, str(error))
    return _json({"items": rows()})


async def _page(rows: Page, request: Request) -> Response:
    try:
        _refuse_unknown(request, ("after", "limit"))
        after = _whole("after", request.query_params.get("after", "0"), 0, NUMBER_MAX)
        limit = _whole("limit", request.query_params.get("limit", str(LIMIT)), 1, LIMIT_MAX)
    except _Unfit as error:
        return error_answer(400, str(error))
    items = rows(after, limit)
    return _json({"items": items, "next": items[-1]["number"] if items else after})


def _refuse_unknown(request: Request, known: tuple[str, ...]) -> None:
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in known or names.count(name) > 1:
            raise _Unfit(f"{name[:40]!r} is not a parameter here, or is said twice.")


def _whole(name: str, text: str, minimum: int, maximum: int) -> int:
    if not _WHOLE.fullmatch(text) or not minimum <= int(text) <= maximum:
        raise _Unfit(f"{name} must be a whole number from {minimum} to {maximum}.")
    return int(text)


def _json(values: Any) -> Response:
    return JSONResponse(values)
