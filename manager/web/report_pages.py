"""The report pages: bank cover, and advice on the numbers of a jackpot.

They are read once, not live, and change nothing: the form of the advice only asks.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute

from manager.advice.child import AdviceError
from manager.web.access import Access
from manager.web.api import ReportsApi

# One advice has a handful of short numbers; a longer address is no form of ours.
TYPED_MAX = 40
TYPED_LENGTH_MAX = 64


class ReportPages:
    def __init__(self, reports: ReportsApi, access: Access, templates: Environment) -> None:
        self._reports = reports
        self._access = access
        self._templates = templates

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/bank", self.bank),
            page("/advice", self.games),
            page("/advice/numbers", self.advice),
        ]

    async def bank(self, request: Request) -> Response:
        return self._page(request, "reports/bank.html", "bank", bank=self._reports.bank())

    async def games(self, request: Request) -> Response:
        view = self._reports.games()
        for game in view["games"]:
            game["links"] = [
                (word, f"/advice/numbers?{urlencode(query)}") for word, query in game["links"]
            ]
        return self._page(request, "setup/games.html", "setup", view=view)

    async def advice(self, request: Request) -> Response:
        typed = dict(request.query_params)
        if len(typed) > TYPED_MAX or any(len(each) > TYPED_LENGTH_MAX for each in typed.values()):
            raise HTTPException(400, "That is more than the form asks for.")
        try:
            view = await self._reports.advice(typed)
        except AdviceError as error:
            raise HTTPException(503, str(error)) from error
        if view["form"] is None:
            raise HTTPException(404, view["problems"][0])
        page = self._page(request, "setup/advice.html", "setup", view=view)
        if view["is_counting"]:
            page.headers["refresh"] = "2"  # the browser asks again by itself, without a script
        return page

    def _page(self, request: Request, name: str, here: str, **values: Any) -> Response:
        page = self._templates.get_template(name)
        return HTMLResponse(page.render(**self._access.context(request), here=here, **values))
