"""The bench's web server: one page, its stream, and the hands that poke the simulated world.

It uses the unit's page plumbing. It shows what the lamp chips hold and passes every poke on; it
never talks to the controller, whose own pages it only frames.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from controller.web.app import templates
from controller.web.policy import PagePolicy, content_policy
from controller.web.requests import read_texts, refusal
from protocol.pages import SHARED
from protocol.pages.stream import Feed, Streams
from sim.bench.web.api import BenchApi
from sim.bench.web.felt import places

HERE = Path(__file__).parent
UNITS = ("controller", "web/static")  # the same kit of small things
INTERVAL_MS = 50  # fast enough to see the lights blink as they do
CHIPS_AND_KEYS = ("place", "remove", "press", "key", "swipe", "half-swipe")
SURROUNDINGS = ("power", "cable", "tamper", "fault")
ACTIONS = frozenset((*CHIPS_AND_KEYS, *SURROUNDINGS))
KEY_LABELS = {"START": "COIN IN", "END": "GAME OVER", "JPOT": "J-POT"}


def key_label(key: str) -> str:
    """What is printed on a keypad key: "HAND four-aces" -> "Four aces", "SEAT 3" -> "3"."""
    kind, _, name = key.partition(" ")
    if kind == "HAND":
        return name.replace("-", " ").capitalize()
    return name if kind == "SEAT" else KEY_LABELS.get(key, key)


def key_rows(keys: list[str]) -> list[list[str]]:
    """A keypad's keys as they are arranged: the round's keys, the hands, the seats."""
    hands = [key for key in keys if key.startswith("HAND ")]
    seats = [key for key in keys if key.startswith("SEAT ")]
    others = [key for key in keys if key not in hands and key not in seats]
    return [row for row in (others, hands, seats) if row]


class _Pages:
    def __init__(self, bench: BenchApi) -> None:
        self._bench = bench
        self._templates = templates(HERE / "templates")
        self._templates.filters["key_label"] = key_label
        self._feed = Feed(bench.view, lambda: bench.version, bench.changed, INTERVAL_MS)
        self.streams = Streams()

    def policy(self) -> str:
        view = self._bench.view()
        ports = {urlsplit(view[name]).port for name in ("panel_url", "display_url") if view[name]}
        # Any host: the bench may be looked at from another machine, by whatever name it has there.
        sources = [f"http://*:{port}" for port in sorted(port or 80 for port in ports)]
        return content_policy(["'self'"], sources)

    async def page(self, request: Request) -> Response:
        view = self._bench.view()
        page = self._templates.get_template("bench.html")
        rows = key_rows(view["keypad"])
        return HTMLResponse(page.render(view=view, rows=rows, places=places(view["seats"])))

    async def events(self, request: Request) -> Response:
        return self.streams.open(self._feed)

    async def act(self, request: Request) -> Response:
        action, argument = await read_texts(request, ("action", "argument"))
        if action not in ACTIONS:
            raise HTTPException(400, "Nothing on the bench can do that.")
        return JSONResponse({"sentence": await self._bench.act(action, argument)})


def build(bench: BenchApi) -> Starlette:
    """The bench page. `app.state.streams.close()` lets open pages go before the server stops."""
    pages = _Pages(bench)
    app = Starlette(
        routes=[
            Route("/", pages.page),
            Route("/events", pages.events),
            Route("/act", pages.act, methods=["POST"]),
            Mount("/static", StaticFiles(directory=HERE / "static", packages=[SHARED, UNITS])),
        ],
        middleware=[Middleware(PagePolicy, policy=pages.policy)],
        exception_handlers={HTTPException: refusal},
    )
    app.state.streams = pages.streams
    return app
