"""The bench's web server: one page, its stream, and the hands that poke the simulated world.

It uses the unit's page plumbing. It shows what the lamp ICs hold and passes every poke on; it
never talks to the controller, whose own pages it only frames.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from kit.web.event_stream import Feed, Streams
from kit.web.pages import build_pages, open_templates
from kit.web.policy import content_policy
from kit.web.requests import read_texts, refusal
from sim.runs.bench.web.api import BenchApi
from sim.runs.bench.web.felt import places

HERE = Path(__file__).parent
INTERVAL_MS = 50  # fast enough to see the lights blink as they do
CHIPS_AND_KEYS = ("place", "remove", "press", "key", "swipe", "half-swipe")
SURROUNDINGS = ("power", "cable", "tamper", "fault", "shuffler")
OF_THE_BENCH = ("record", "first-round", "table")
ACTIONS = frozenset((*CHIPS_AND_KEYS, *SURROUNDINGS, *OF_THE_BENCH))
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
        self._templates = open_templates(HERE / "templates")
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

    async def scenario(self, request: Request) -> Response:
        text = self._bench.scenario()
        if not text:
            raise HTTPException(404, "Nothing was recorded yet.")
        headers = {"content-disposition": 'attachment; filename="scenario.txt"'}
        return PlainTextResponse(text, headers=headers)

    async def act(self, request: Request) -> Response:
        action, argument = await read_texts(request, ("action", "argument"))
        if action not in ACTIONS:
            raise HTTPException(400, "Nothing on the bench can do that.")
        return JSONResponse({"sentence": await self._bench.act(action, argument)})


def build(bench: BenchApi) -> Starlette:
    """The bench page. `app.state.streams.close()` lets open pages go before the server stops."""
    pages = _Pages(bench)
    return build_pages(
        routes=[
            Route("/", pages.page),
            Route("/events", pages.events),
            Route("/scenario.txt", pages.scenario),
            Route("/act", pages.act, methods=["POST"]),
        ],
        static=HERE / "static",
        policy=pages.policy,
        refusal=refusal,
        streams=pages.streams,
    )
