"""The operators' web server: one live page, one page per win to print, the office's pages.

The live page's parts are rendered here and sent whole over its stream, so what a browser shows is
always what this server wrote. Nothing can be changed from these pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manager.web.api import ManagerApi
from manager.web.office_pages import OfficePages
from manager.web.refusals import refusal
from manager.web.templating import open_templates
from protocol.pages import SHARED
from protocol.pages.stream import Feed, Streams

HERE = Path(__file__).parent
PARTS = ("meters", "tables", "wins", "alarms")
POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; object-src 'none'; "
    "frame-ancestors 'self'"
)


class _PagePolicy:
    """Our own files only, no inline script or style, and never framed by another site."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["content-security-policy"] = POLICY
                headers["x-content-type-options"] = "nosniff"
                headers["referrer-policy"] = "no-referrer"
                headers.setdefault("cache-control", "no-cache")
            await send(message)

        await self._app(scope, receive, send_with_policy)


class _Pages:
    def __init__(self, manager: ManagerApi) -> None:
        self._manager = manager
        self.templates = open_templates()
        self._feed = Feed(self._parts, lambda: manager.version, manager.changed)
        self.streams = Streams()

    def _parts(self) -> dict[str, Any]:
        view = self._manager.view()
        return {name: self._render(f"_{name}.html", view=view) for name in PARTS}

    def _render(self, name: str, **values: Any) -> str:
        return self.templates.get_template(name).render(here="", **values)

    async def live(self, request: Request) -> Response:
        return HTMLResponse(self._render("live.html", view=self._manager.view(), parts=PARTS))

    async def events(self, request: Request) -> Response:
        return self.streams.open(self._feed)

    async def win(self, request: Request) -> Response:
        number = request.path_params["number"]
        win = self._manager.win(number)
        if win is None:
            raise HTTPException(404, f"There is no win {number}.")
        return HTMLResponse(self._render("win.html", win=win))

    async def explain(self, request: Request) -> Response:
        number = request.path_params["number"]
        page = request.path_params.get("page", 0)
        story = await self._manager.explain(number, page)
        if story is None:
            raise HTTPException(404, f"There is no win {number}.")
        if page > story["page_count"]:
            raise HTTPException(404, f"The entries of win {number} have no page {page}.")
        return HTMLResponse(self._render("explain.html", story=story))


def build(manager: ManagerApi) -> Starlette:
    """The operators' pages. `app.state.streams.close()` ends open streams before a stop."""
    pages = _Pages(manager)
    app = Starlette(
        routes=[
            Route("/", pages.live),
            Route("/events", pages.events),
            Route("/wins/{number:win}", pages.win),
            Route("/wins/{number:win}/explain", pages.explain),
            Route("/wins/{number:win}/explain/{page:page}", pages.explain),
            *OfficePages(manager.office, pages.templates).routes(),
            Mount("/static", StaticFiles(directory=HERE / "static", packages=[SHARED])),
        ],
        middleware=[Middleware(_PagePolicy)],
        exception_handlers={HTTPException: refusal},
    )
    app.state.streams = pages.streams
    return app
