"""The unit's web server: routes, and the check of what a press may be called.

It decides nothing about the round. Every press goes to the table and comes back with the table's
own answer; only a press that no table could have is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from controller.web.api import TableApi
from controller.web.arc import arc_steps
from controller.web.money import money
from controller.web.policy import PagePolicy, content_policy
from controller.web.press_rate import PressRate
from controller.web.requests import read_texts, refusal
from controller.web.words import action_buttons, light_word, state_word
from protocol.pages import SHARED
from protocol.pages.stream import Feed, Streams

HERE = Path(__file__).parent
STATIC = HERE / "static"
BUTTON = re.compile(
    r"START|END|CONFIRM|CANCEL|JPOT|SEAT [1-9][0-9]?|HAND [a-z0-9][a-z0-9-]{0,47}( [AB])?"
    r"|JOIN( [1-9][0-9]?){2,12}"
)


def templates(folder: Path) -> Environment:
    """Escapes everything and fails on a name the view does not have."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["money"] = money
    return environment


class _Pages:
    def __init__(self, table: TableApi) -> None:
        self._table = table
        self._templates = templates(HERE / "templates")
        self._templates.filters.update(light_word=light_word, state_word=state_word)
        self._feed = Feed(table.view, lambda: table.view_version, table.view_changed)
        self._rate = PressRate()
        self.streams = Streams()

    async def panel(self, request: Request) -> Response:
        view = self._table.view()
        actions = action_buttons(view["workflow"])
        page = self._templates.get_template("panel.html")
        drops = arc_steps(len(view["seats"]))
        return HTMLResponse(page.render(view=view, actions=actions, drops=drops))

    async def display(self, request: Request) -> Response:
        page = self._templates.get_template("display.html")
        return HTMLResponse(page.render(view=self._table.view()))

    async def events(self, request: Request) -> Response:
        return self.streams.open(self._feed)

    async def press(self, request: Request) -> Response:
        if not self._rate.allows(request.client.host if request.client else ""):
            raise HTTPException(429, "Too many presses came from there. Wait a moment.")
        (button,) = await read_texts(request, ("button",))
        if not BUTTON.fullmatch(button):
            raise HTTPException(400, "This table has no such button.")
        answer = await self._table.press(button)
        return JSONResponse({"accepted": answer.accepted, "sentence": answer.sentence})


def build(table: TableApi, frame_ancestors: Sequence[str] = ()) -> Starlette:
    """The unit's pages, framed by nobody who is not named here.

    `app.state.streams.close()` lets open pages go before the server stops.
    """
    pages = _Pages(table)
    policy = content_policy(frame_ancestors)
    app = Starlette(
        routes=[
            Route("/", pages.panel),
            Route("/display", pages.display),
            Route("/events", pages.events),
            Route("/press", pages.press, methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC, packages=[SHARED])),
        ],
        middleware=[Middleware(PagePolicy, policy=lambda: policy)],
        exception_handlers={HTTPException: refusal},
    )
    app.state.streams = pages.streams
    return app
