"""The service page's routes: who is let in, what is streamed, and which acts there are.

It decides nothing about the table: every act goes to `LiveTable`, and a refusal comes back as its
sentence. Without a session there is one page, the sign-in, and nothing else is told.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from controller.service.admission import ServiceRefused
from controller.service.live.readings import LIVE_EVERY_MS
from controller.service.live.table import LiveTable
from controller.service.page.sessions import SHIFT_MAX_S, Session, Sessions
from kit.rate_limit import Pacer
from kit.web.event_stream import Feed, Streams
from kit.web.pages import build_pages, open_templates
from kit.web.policy import content_policy
from kit.web.requests import read_texts, refusal

HERE = Path(__file__).parent
COOKIE = "underfelt-service"
SAFE_COOKIE = "__Host-underfelt-service"  # a browser takes it over TLS only
VIEW_EVERY_MS = 250
# A plot each: more than a few technicians do not work at one table.
STREAMS_MAX = 8
TRIES_BURST, TRIES_PER_S = 5, 0.2
ACTS_BURST, ACTS_PER_S = 20, 5
NOT_STORED = {"cache-control": "no-store"}
STRANGER = "Sign in first."
TOO_MANY = "Too many tries from there. Wait a moment."


@dataclass(frozen=True)
class PageOptions:
    """How this page is served: by TLS or not, under which names, framed by whom, with what hint."""

    is_tls: bool = False
    names: Collection[str] = ()
    frame_ancestors: Collection[str] = ()
    hint: str = ""  # shown at the sign-in, for a table that is only practised with


Act = Callable[[Session, str], Awaitable[None]]


class _Entrance:
    """Who is let in, and by what a browser is known again."""

    def __init__(self, table: LiveTable, options: PageOptions, sessions: Sessions) -> None:
        self._table = table
        self._options = options
        self._sessions = sessions
        self._tries = Pacer(TRIES_BURST, TRIES_PER_S)

    def routes(self) -> list[Route]:
        return [
            Route("/sign-in", self.sign_in, methods=["POST"]),
            Route("/sign-out", self.sign_out, methods=["POST"]),
        ]

    async def sign_in(self, request: Request) -> Response:
        if not self._tries.take(_address(request), asyncio.get_running_loop().time()):
            raise HTTPException(429, TOO_MANY)
        label, pin = await read_texts(request, ("name", "pin"))
        try:
            await self._table.sign_in.admit(label.strip(), pin)
        except ServiceRefused as refused:
            raise HTTPException(403, str(refused)) from refused
        response = JSONResponse({"accepted": True, "sentence": ""})
        response.set_cookie(
            self._cookie,
            self._sessions.begin(label.strip()),
            max_age=SHIFT_MAX_S,
            path="/",
            secure=self._options.is_tls,
            httponly=True,
            samesite="strict",
        )
        return response

    async def sign_out(self, request: Request) -> Response:
        """Whoever goes gives the table back."""
        await read_texts(request, ())
        session = self.session(request)
        if self._table.mode.tech == session.tech:
            await self._table.mode.leave()
        self._sessions.end(request.cookies.get(self._cookie, ""))
        response = JSONResponse({"accepted": True, "sentence": ""})
        response.delete_cookie(
            self._cookie,
            path="/",
            secure=self._options.is_tls,
            httponly=True,
            samesite="strict",
        )
        return response

    @property
    def _cookie(self) -> str:
        return SAFE_COOKIE if self._options.is_tls else COOKIE

    def found(self, request: Request, is_an_act: bool = False) -> Session | None:
        return self._sessions.find(request.cookies.get(self._cookie, ""), is_an_act)

    def session(self, request: Request, is_an_act: bool = False) -> Session:
        session = self.found(request, is_an_act)
        if session is None:
            raise HTTPException(401, STRANGER)
        return session


class _Pages:
    def __init__(self, table: LiveTable, entrance: _Entrance, hint: str) -> None:
        self._table = table
        self._entrance = entrance
        self._hint = hint
        self._templates = open_templates(HERE / "templates")
        self._acts = Pacer(ACTS_BURST, ACTS_PER_S)
        self._known_acts = acts_of(table)
        self._count = 0
        self.streams = Streams(STREAMS_MAX)

    def routes(self) -> list[Route]:
        return [
            Route("/", self.page),
            Route("/events", self.events),
            Route("/live", self.live),
            Route("/act", self.act, methods=["POST"]),
            Route("/unit", self.unit),
            Route("/health", self.health),
            Route("/log", self.log),
            Route("/bundle", self.bundle),
            Route("/traces", self.traces),
            Route("/traces/{round:int}", self.trace),
            Route("/traces/{round:int}/file", self.trace_file),
        ]

    async def page(self, request: Request) -> Response:
        session = self._entrance.found(request)
        if session is None:
            shown = {"hint": self._hint, "name": self._table.name}
            html = self._templates.get_template("sign_in.html").render(shown)
        else:
            view = self._table.view()
            page = self._templates.get_template("service.html")
            html = page.render(view=view, tech=session.tech, seats=_seats(view))
        return HTMLResponse(html, headers=NOT_STORED)

    # -- what is told ------------------------------------------------------------------------

    async def events(self, request: Request) -> Response:
        """What the page shows; each view that was taken proves that somebody is there."""

        def view() -> dict[str, Any]:
            self._table.mode.seen()
            return self._table.view()

        return self._stream(request, view, VIEW_EVERY_MS)

    async def live(self, request: Request) -> Response:
        return self._stream(request, self._table.frame, LIVE_EVERY_MS)

    def _stream(
        self, request: Request, view: Callable[[], dict[str, Any]], interval_ms: int
    ) -> Response:
        self._entrance.session(request)
        # Not shared between streams: a page that takes nothing must not count as one that does.
        feed = Feed(view, self._next, self._at_once, interval_ms)
        return self.streams.open(feed, lambda: self._entrance.found(request) is None)

    def _next(self) -> int:
        self._count += 1
        return self._count

    async def _at_once(self, after: int) -> int:
        return after + 1

    async def unit(self, request: Request) -> Response:
        return await self._told(request, self._table.unit_view)

    async def health(self, request: Request) -> Response:
        return await self._told(request, self._table.health)

    async def traces(self, request: Request) -> Response:
        return await self._told(request, self._table.rounds)

    async def trace(self, request: Request) -> Response:
        number = request.path_params["round"]
        return await self._told(request, lambda: self._table.trace(number))

    async def trace_file(self, request: Request) -> Response:
        """As it lies in the black box, for whoever judges it elsewhere."""
        self._entrance.session(request)
        self._pace(request)
        try:
            body = await self._table.trace_file(request.path_params["round"])
        except ServiceRefused as refused:
            raise HTTPException(409, str(refused)) from refused
        return Response(body, media_type="application/octet-stream", headers=NOT_STORED)

    async def log(self, request: Request) -> Response:
        """What came after the last line that the page has."""
        sequence, line = (_number(request, name) for name in ("sequence", "line"))

        async def read() -> dict[str, Any]:
            lines = [each._asdict() for each in self._table.log.after(line)]
            return {"journal": await self._table.events(sequence), "lines": lines}

        return await self._told(request, read)

    async def bundle(self, request: Request) -> Response:
        """One click: everything that a technician needs at home, signed by the unit."""
        session = self._entrance.session(request)
        self._pace(request)
        content = await self._table.bundles.make(session.tech)
        name = f"{self._table.serial}.bundle.zip"
        return Response(
            content,
            media_type="application/zip",
            headers={
                "cache-control": "no-store",
                "content-disposition": f'attachment; filename="{name}"',
            },
        )

    async def _told(self, request: Request, read: Callable[[], Awaitable[Any]]) -> Response:
        self._entrance.session(request)
        self._pace(request)
        try:
            told = await read()
        except ServiceRefused as refused:
            raise HTTPException(409, str(refused)) from refused
        return JSONResponse(told, headers=NOT_STORED)

    def _pace(self, request: Request) -> None:
        if not self._acts.take(_address(request), asyncio.get_running_loop().time()):
            raise HTTPException(429, TOO_MANY)

    # -- what is done ------------------------------------------------------------------------

    async def act(self, request: Request) -> Response:
        session = self._entrance.session(request, is_an_act=True)
        self._pace(request)
        action, argument = await read_texts(request, ("action", "argument"))
        do = self._known_acts.get(action)
        if do is None:
            raise HTTPException(400, "This page has no such button.")
        try:
            await do(session, argument)
        except ServiceRefused as refused:
            return JSONResponse({"accepted": False, "sentence": str(refused)})
        return JSONResponse({"accepted": True, "sentence": ""})


def acts_of(table: LiveTable) -> dict[str, Act]:
    """The page's buttons by name."""
    acts = table.acts
    return {
        "enter": lambda session, _: acts.enter(session.tech),
        "leave": lambda session, _: table.mode.leave(),
        "stop": lambda session, _: table.mode.stop_work(),
        "find": _plain(lambda argument: acts.find(_whole(argument))),
        "light": _plain(lambda argument: acts.exercise(*_light(argument))),
        "selftest": _plain(lambda _: acts.begin_selftest()),
        "scan": _plain(lambda _: acts.begin_scan()),
        "text": _plain(lambda _: acts.begin_text_test()),
        "calibrate": _plain(lambda _: acts.begin_calibration()),
        "calibration": _plain(acts.press_calibration),
        "undo": lambda session, _: acts.undo_calibration(),
        "lamp": lambda session, argument: acts.lamp_seen(*_lamp(argument)),
    }


def _seats(view: dict[str, Any]) -> list[tuple[int, list[str]]]:
    seats: dict[int, list[str]] = {}
    for sensor in view["sensors"]:
        seats.setdefault(sensor["seat"], []).append(sensor["id"])
    return sorted(seats.items())


def _plain(do: Callable[[str], None]) -> Act:
    async def act(session: Session, argument: str) -> None:
        do(argument)

    return act


def _light(argument: str) -> tuple[str, int]:
    """ "white 3", or "white" for all seats."""
    light, _, seat = argument.partition(" ")
    return light, _whole(seat) if seat else 0


def _lamp(argument: str) -> tuple[str, str, bool]:
    """ "3A white dark", or "3A white lit" to take it back."""
    sensor, _, rest = argument.partition(" ")
    colour, _, seen = rest.partition(" ")
    if seen not in ("dark", "lit"):
        raise ServiceRefused("A lamp is dark or lit.")
    return sensor, colour, seen == "lit"


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 2:
        raise ServiceRefused("That is no seat's number.")
    return int(text)


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "0")
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise HTTPException(400, f"{name} must be a whole number.")
    return int(text)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def build(
    table: LiveTable,
    options: PageOptions | None = None,
    sessions: Sessions | None = None,
) -> Starlette:
    """`app.state.streams.close()` lets open pages go before the server stops."""
    options = options or PageOptions()
    entrance = _Entrance(table, options, sessions or Sessions(time.monotonic))
    pages = _Pages(table, entrance, options.hint)
    policy = content_policy(tuple(options.frame_ancestors))
    return build_pages(
        routes=[*entrance.routes(), *pages.routes()],
        static=HERE / "static",
        policy=lambda: policy,
        refusal=refusal,
        streams=pages.streams,
        names=options.names,
    )
