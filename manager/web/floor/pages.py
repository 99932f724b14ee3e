"""The pages of the floor: all of it, one table, one meter; each live, and each says when it is old.

A page's parts are rendered here and sent whole over its stream, so what a browser shows is always
what this server wrote. A stream ends with the session of whoever opened it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute

from kit.web.event_stream import Feed, Streams
from manager.web.access import Access
from manager.web.api import ManagerApi, View
from manager.web.floor.history import SPANS
from manager.web.floor.meters import SPAN
from manager.web.rendering import Renderer, in_turns

# A view of 500 tables takes 20 ms of the loop that serves the units. Many readers on a busy floor
# must not make it many times: it is made twice a second for all of them, a little at a time.
VIEW_EVERY_MS = 500
STREAMS_MAX = 64  # as many as the page server has places
PARTS = {
    "meters": "floor/_meters.html",
    "tables": "floor/_tables.html",
    "wins": "wins/_wins.html",
    "alarms": "alarms/_alarms.html",
}


class FloorPages:
    def __init__(self, manager: ManagerApi, access: Access, render: Renderer) -> None:
        self._manager = manager
        self._access = access
        self._render = render
        self.streams = Streams(STREAMS_MAX)
        self._feeds: dict[str, Feed] = {}

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/", self.floor),
            page("/events", self.floor_events, by_itself=True),
            page("/tables/{table}", self.table),
            page("/tables/{table}/events", self.table_events, by_itself=True),
            page("/meters/{meter}", self.meter),
            page("/meters/{meter}/events", self.meter_events, by_itself=True),
            page("/meters/{meter}/plot", self.plot, by_itself=True),
        ]

    async def floor(self, request: Request) -> Response:
        return self._render.answer(request, "floor/live.html", "", view=self._manager.view())

    async def table(self, request: Request) -> Response:
        table = self._table(request.path_params["table"])
        return self._render.answer(request, "floor/table.html", "", table=table)

    async def meter(self, request: Request) -> Response:
        meter = self._meter(request.path_params["meter"])
        plot = await self._plot(request)
        return self._render.answer(request, "floor/meter.html", "", meter=meter, plot=plot)

    async def plot(self, request: Request) -> Response:
        """The picture alone, for a page that is looked at for hours."""
        meter = self._meter(request.path_params["meter"])
        plot = await self._plot(request)
        return HTMLResponse(self._render.part("floor/_plot.html", meter=meter, plot=plot))

    # -- streams -----------------------------------------------------------------------------

    async def floor_events(self, request: Request) -> Response:
        templates = self._render.templates
        return self._stream(request, "", lambda: floor_parts(self._manager, templates))

    async def table_events(self, request: Request) -> Response:
        name = request.path_params["table"]
        self._table(name)
        return self._stream(
            request,
            f"table {name}",
            lambda: {"table": self._render.part("floor/_table.html", table=self._table(name))},
        )

    async def meter_events(self, request: Request) -> Response:
        name = request.path_params["meter"]
        self._meter(name)
        return self._stream(
            request,
            f"meter {name}",
            lambda: {"meter": self._render.part("floor/_meter.html", meter=self._meter(name))},
        )

    def _stream(
        self,
        request: Request,
        key: str,
        view: Callable[[], Mapping[str, Any] | Awaitable[Mapping[str, Any]]],
    ) -> Response:
        """One feed for all who look at the same page."""
        manager = self._manager
        if key not in self._feeds:
            self._feeds[key] = Feed(
                view, lambda: manager.version, manager.changed, VIEW_EVERY_MS, VIEW_EVERY_MS
            )
        return self.streams.open(self._feeds[key], lambda: not self._access.is_still_on(request))

    # -- inside ------------------------------------------------------------------------------

    def _table(self, name: str) -> View:
        table = self._manager.table(name)
        if table is None:
            raise HTTPException(404, f"There is no table {name}.")
        return table

    def _meter(self, name: str) -> View:
        meter = self._manager.meters.page(name)
        if meter is None:
            raise HTTPException(404, f"There is no meter {name}.")
        return meter

    async def _plot(self, request: Request) -> View:
        span = request.query_params.get("span", SPAN)
        if span not in SPANS:
            raise HTTPException(404, f"A plot shows a {', a '.join(SPANS)}.")
        return await self._manager.meters.plot(request.path_params["meter"], span)


async def floor_parts(manager: ManagerApi, templates: Environment) -> dict[str, str]:
    """The floor's page, of one moment; the units have their turns while it is made."""
    view = manager.view()
    parts = {name: templates.get_template(part) for name, part in PARTS.items()}
    return {name: await in_turns(part, view=view) for name, part in parts.items()}
