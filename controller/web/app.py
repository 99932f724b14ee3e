"""The unit's pages: routes, and the check of what a press may be called.

Panel and display are two servers: whoever is let in to the one has not come in to the other. It
decides nothing about the round. Every press goes to the table and comes back with the table's own
answer; only a press that no table could have is refused here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from controller.inputs.buttons import PANEL_BUTTON
from controller.web.api import TableApi, View
from controller.web.arc import arc_steps
from controller.web.chimes import SILENT, Chimes
from controller.web.press_rate import PressRate
from controller.web.spoken import spoken
from controller.web.words import (
    LATE_WIN_WORDS,
    VOID_WORDS,
    action_buttons,
    light_word,
    state_word,
)
from controller.words import NAMES, HouseWords
from kit.web.event_stream import Feed, Streams
from kit.web.pages import build_pages, open_templates
from kit.web.policy import content_policy
from kit.web.requests import read_texts, refusal
from kit.words import Catalogue

HERE = Path(__file__).parent
STATIC = HERE / "static"
TOO_MANY = "Too many presses came from there. Wait a moment."
NO_SUCH_BUTTON = "This table has no such button."
BETWEEN_BUTTONS = ","  # as press.js puts it between those that were touched together


# What players may know of a table. The rest is the dealer's.
SHOWN_TO_PLAYERS = (
    "name",
    "title",
    "training",
    "service",
    "state",
    "round",
    "voided",
    "void_reason",
    "wagers",
    "games",
    "meters",
    "notices",
    "software",
    "stop",
    "theme",
    "wins",
)


# Of what was dealt, only how many hands there are and what a cover-all pays. Never the cards.
OF_THE_DEAL = ("hand_count", "cover_all")


class _TablePages:
    """What the pages of one screen share: templates, and a stream of what the table shows."""

    def __init__(self, table: TableApi, words: HouseWords, chimes: Chimes) -> None:
        self._table = table
        self._words = words
        self._pages = _Templates(chimes)
        self._feed = Feed(self._view, lambda: table.view_version, table.view_changed)
        self.streams = Streams()

    def _view(self) -> View:
        raise NotImplementedError

    async def events(self, request: Request) -> Response:
        return self.streams.open(self._feed)


class _Panel(_TablePages):
    def __init__(self, table: TableApi, words: HouseWords, chimes: Chimes) -> None:
        super().__init__(table, words, chimes)
        self._rate = PressRate()

    def routes(self) -> list[Route]:
        return [
            Route("/", self.page),
            Route("/cards", self.cards),
            Route("/round", self.round),
            Route("/events", self.events),
            Route("/press", self.press, methods=["POST"]),
            Route("/language", self.language, methods=["POST"]),
        ]

    def _view(self) -> View:
        return spoken(self._table.view(), self._words.panel)

    async def page(self, request: Request) -> Response:
        view = self._view()
        other = self._words.next_panel_language()
        return self._pages.page(
            "panel.html",
            self._words.panel,
            view=view,
            actions=action_buttons(view["workflow"]),
            drops=arc_steps(len(view["seats"])),
            other_language=(other, NAMES[other]),
            void_reasons=VOID_WORDS.items(),
            late_win_reasons=LATE_WIN_WORDS.items(),
        )

    async def language(self, request: Request) -> Response:
        """The dealer's switch: the panel's next language. The page draws itself anew."""
        await read_texts(request, ())
        self._words.switch_panel()
        return JSONResponse({"language": self._words.panel.language})

    async def cards(self, request: Request) -> Response:
        """The panel's second page: the dealt hands as the shuffler recognised them."""
        return self._pages.page("cards.html", self._words.panel, view=self._view())

    async def round(self, request: Request) -> Response:
        """For whoever wants to restart the unit; what the table shows may hide a round."""
        view = self._table.view()
        return JSONResponse({name: view[name] for name in ("table", "round_open")})

    async def press(self, request: Request) -> Response:
        if not self._rate.allows(request.client.host if request.client else ""):
            raise HTTPException(429, self._words.panel.say(TOO_MANY))
        button, others = await read_texts(request, ("button",), ("beside",))
        beside = others.split(BETWEEN_BUTTONS) if others else []
        if not all(PANEL_BUTTON.fullmatch(name) for name in (button, *beside)):
            raise HTTPException(400, self._words.panel.say(NO_SUCH_BUTTON))
        answer = await self._table.press(button, beside)
        # With what the table shows now: the page need not wait for its stream's next turn.
        version = self._table.view_version
        sentence = self._words.panel.translate(answer.sentence)
        shown = {"version": version, "view": self._view()}
        return JSONResponse({"accepted": answer.accepted, "sentence": sentence, **shown})


class _Display(_TablePages):
    def routes(self) -> list[Route]:
        return [Route("/", self.page), Route("/events", self.events)]

    def _view(self) -> View:
        view = self._table.view()
        deal = view["deal"] and {name: view["deal"][name] for name in OF_THE_DEAL}
        shown = {"deal": deal, **{name: view[name] for name in SHOWN_TO_PLAYERS}}
        return spoken(shown, self._words.display)

    async def page(self, request: Request) -> Response:
        return self._pages.page("display.html", self._words.display, view=self._view())


class _Templates:
    """Pages in a language, with the words and figures that their scripts need."""

    def __init__(self, chimes: Chimes) -> None:
        self._chimes = chimes
        self._templates = open_templates(HERE / "templates")
        self._templates.filters.update(light_word=light_word, state_word=state_word)

    def page(self, name: str, words: Catalogue, **shown: object) -> Response:
        numbers = {part: getattr(words.numbers, part) for part in ("symbol", "group", "decimal")}
        html = self._templates.get_template(name).render(
            say=words.say,
            money=words.money,
            chimes=self._chimes,
            page_words=json.dumps(words.page_words),
            page_numbers=json.dumps(numbers),
            **shown,
        )
        return HTMLResponse(html)


def build(
    table: TableApi,
    frame_ancestors: Sequence[str] = (),
    names: Collection[str] = (),
    words: HouseWords | None = None,
    chimes: Chimes = SILENT,
) -> Starlette:
    """The dealer's panel, framed by nobody who is not named here, in the house's words or English.

    `app.state.streams.close()` lets open pages go before the server stops.
    """
    return _build(_Panel(table, words or HouseWords(), chimes), frame_ancestors, names)


def build_display(
    table: TableApi,
    frame_ancestors: Sequence[str] = (),
    names: Collection[str] = (),
    words: HouseWords | None = None,
    chimes: Chimes = SILENT,
) -> Starlette:
    """The players' display; nothing can be pressed there."""
    return _build(_Display(table, words or HouseWords(), chimes), frame_ancestors, names)


def _build(
    pages: _Panel | _Display, frame_ancestors: Sequence[str], names: Collection[str]
) -> Starlette:
    policy = content_policy(frame_ancestors)
    return build_pages(
        routes=pages.routes(),
        static=STATIC,
        policy=lambda: policy,
        refusal=refusal,
        streams=pages.streams,
        names=names,
    )
