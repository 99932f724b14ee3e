"""The bundles' pages: ask a table's unit, see what came, open it, take it home.

Who asked, and whose it is, is an entry of the chain. Nothing at the table changes, so no password
is asked again.
"""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.people.roles import BUNDLE_TAKERS
from manager.web.access import Access, form_of, session_of
from manager.web.api import BundlesApi, ManagerApi
from manager.web.rendering import Renderer

NOT_HERE = "No unit calls at this manager."
GONE = "That bundle is not kept here any more."
ACT = "ask-bundle"


class BundlePages:
    def __init__(self, manager: ManagerApi, access: Access, render: Renderer) -> None:
        self._manager = manager
        self._access = access
        self._render = render

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/bundles", self.bundles, BUNDLE_TAKERS),
            page("/bundles", self.asked, BUNDLE_TAKERS, method="POST"),
            page("/bundles/{number:win}", self.opened, BUNDLE_TAKERS),
            page("/bundles/{number:win}.zip", self.download, BUNDLE_TAKERS),
        ]

    async def bundles(self, request: Request) -> Response:
        return self._page(request)

    async def asked(self, request: Request) -> Response:
        table_id, person = form_of(request).get("table", ""), session_of(request).person
        try:
            sentence = self._here().ask(table_id, person.name)
        except LedgerError as error:
            return self._page(request, problem=str(error))
        told = f"{person.name} asked table {table_id} for a bundle."
        self._access.people.act(person.name, ACT, told, table=table_id)
        session_of(request).notice = sentence
        return RedirectResponse("/bundles", status_code=303)

    async def opened(self, request: Request) -> Response:
        bundle = await self._here().opened(request.path_params["number"])
        if bundle is None:
            raise HTTPException(404, GONE)
        return self._render.answer(request, "bundles/bundle.html", "bundles", bundle=bundle)

    async def download(self, request: Request) -> Response:
        number = request.path_params["number"]
        content = await self._here().content(number)
        if content is None:
            raise HTTPException(404, GONE)
        name = f'attachment; filename="{number}.bundle.zip"'
        return Response(
            content, media_type="application/zip", headers={"content-disposition": name}
        )

    def _here(self) -> BundlesApi:
        bundles = self._manager.bundles
        if bundles is None:
            raise HTTPException(404, NOT_HERE)
        return bundles

    def _page(self, request: Request, problem: str = "") -> Response:
        bundles = self._here()
        return self._render.answer(
            request,
            "bundles/bundles.html",
            "bundles",
            409 if problem else 200,
            kept=bundles.kept(),
            waiting=bundles.waiting(),
            tables=[table for table in self._manager.view()["tables"] if table["unit"]],
            chosen=request.query_params.get("table", ""),
            problem=problem,
        )
