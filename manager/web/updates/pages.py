"""The updates' page: bring a file in pieces, see the roll-out, and the ways to its requests.

A roll-out itself is a request like a correction: one person asks, another one decides. A piece of a
file comes by PUT, with the key of the page's form in its head: no other site can send that.
"""

from __future__ import annotations

import asyncio
import hmac
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.people.roles import UNIT_KEEPERS
from manager.rollouts.acts import ADD
from manager.rollouts.shelf import UpdateShelf
from manager.web.access import FOREIGN_FORM, Access, session_of
from manager.web.api import ManagerApi, UpdatesApi
from manager.web.rendering import Renderer

NOT_HERE = "This manager keeps no updates."
PIECE_MAX_BYTES = 2 * 1024 * 1024


class UpdatePages:
    def __init__(
        self, updates: UpdatesApi | None, manager: ManagerApi, access: Access, render: Renderer
    ) -> None:
        self._updates = updates
        self._manager = manager
        self._access = access
        self._render = render

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/updates", self.updates),
            page("/updates", self.finished, UNIT_KEEPERS, method="POST"),
            page("/updates/pieces/{place:int}", self.piece, UNIT_KEEPERS, method="PUT"),
        ]

    async def updates(self, request: Request) -> Response:
        return self._page(request)

    async def piece(self, request: Request) -> Response:
        """Some megabytes of a file, in turn; a refusal is a sentence for the page."""
        key = request.headers.get("x-form-key", "")
        if not hmac.compare_digest(key.encode(), session_of(request).form_key.encode()):
            raise HTTPException(403, FOREIGN_FORM)
        body = bytearray()
        async for more in request.stream():
            body += more
            if len(body) > PIECE_MAX_BYTES:
                raise HTTPException(413, "A piece of a file has at most 2 MB.")
        keep = partial(self._shelf().piece, request.path_params["place"], bytes(body))
        try:
            await asyncio.to_thread(keep)
        except LedgerError as error:
            return JSONResponse({"error": str(error)}, status_code=409)
        return JSONResponse({"come": request.path_params["place"] + len(body)})

    async def finished(self, request: Request) -> Response:
        """All pieces are here: the file is looked at, and kept in the name of who brought it."""
        updates, person = self._here(), session_of(request).person
        finish = partial(self._shelf().finish, person.name, updates.now_ms)
        try:
            kept = await asyncio.to_thread(finish)
            asked = {"command": ADD, "bundle": kept.digest}
            session_of(request).notice = self._access.two_people.ask(person, asked)
        except LedgerError as error:
            return self._page(request, problem=str(error))
        return RedirectResponse("/updates", status_code=303)

    def _here(self) -> UpdatesApi:
        updates = self._updates
        if updates is None or updates.shelf is None:
            raise HTTPException(404, NOT_HERE)
        return updates

    def _shelf(self) -> UpdateShelf:
        shelf = self._here().shelf
        assert shelf is not None, "it was looked for"
        return shelf

    def _page(self, request: Request, problem: str = "") -> Response:
        updates = self._updates
        is_here = updates is not None and updates.shelf is not None
        return self._render.answer(
            request,
            "updates/updates.html",
            "updates",
            409 if problem else 200,
            kept=updates.kept() if updates else [],
            rollout=updates.rollout() if updates else None,
            tables=[table for table in self._manager.view()["tables"] if table["unit"]],
            may_keep=is_here and session_of(request).person.role in UNIT_KEEPERS,
            problem=problem,
        )
