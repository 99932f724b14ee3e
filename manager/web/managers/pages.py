"""Who owns what: every group of jackpots with its manager, who stands by, its meters and tables.

Read from the database, so every manager shows the whole floor, live, whether it owns a group or
stands by. How a move is asked for, the caller says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from kit.web.event_stream import BEAT_MS, Feed, Streams
from manager.ledger.errors import LedgerError
from manager.people.roles import UNIT_KEEPERS
from manager.web.api import FloorApi, View
from manager.web.rendering import Renderer
from manager.web.session_access import SessionAccess, form_of, session_of

PARTS = {
    "standing": "managers/_standing.html",  # the page may outlast this manager's turn
    "owners": "managers/_owners.html",
    "floor": "managers/_floor.html",
}
# Only who may move a group has a form for it, and its list of moves.
MOVERS_PARTS = {**PARTS, "moves": "managers/_moves.html"}
TROUBLE = "managers/_trouble.html"
NOTHING_CHOSEN = "Choose what moves where."

Move = Callable[[Request, str, str], Awaitable[str]]  # the group, and to which manager


class ManagersPage:
    def __init__(
        self,
        floor: FloorApi,
        access: SessionAccess,
        render: Renderer,
        move: Move,
        streams: Streams,
        stands_by: str = "",
    ) -> None:
        """`stands_by` is this manager's name when it owns nothing."""
        self._floor = floor
        self._access = access
        self._render = render
        self._move = move
        self._streams = streams
        self._stands_by = stands_by
        self._feeds: dict[bool, Feed] = {}

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/managers", self.managers),
            page("/managers", self.moved, UNIT_KEEPERS, method="POST"),
            page("/managers/events", self.events, by_itself=True),
        ]

    async def managers(self, request: Request) -> Response:
        return await self._page(request)

    async def moved(self, request: Request) -> Response:
        """A group goes to another manager; who asked stands in the ledger before."""
        group, is_chosen, to = form_of(request).get("move", "").partition(":")
        try:
            if not is_chosen:
                raise LedgerError(NOTHING_CHOSEN)
            session_of(request).notice = await self._move(request, group, to)
        except LedgerError as error:
            return await self._page(request, str(error))
        return RedirectResponse("/managers", status_code=303)

    async def events(self, request: Request) -> Response:
        feed = self._feed(_may_move(request))
        return self._streams.open(feed, lambda: not self._access.is_still_on(request))

    # -- inside ------------------------------------------------------------------------------

    async def _page(self, request: Request, problem: str = "") -> Response:
        try:
            groups = await self._floor.groups()
        except LedgerError as error:
            raise HTTPException(503, str(error), {"retry-after": "5"}) from error
        return self._render.answer(
            request,
            "managers/managers.html",
            "managers",
            409 if problem else 200,
            groups=groups,
            may_move=_may_move(request),
            problem=problem,
            stands_by=self._stands_by,
        )

    def _feed(self, may_move: bool) -> Feed:
        """One for all who see the same.

        The database tells nobody when it changes. So it is looked at once a second, and only while
        somebody has the page open.
        """
        if may_move not in self._feeds:
            parts = MOVERS_PARTS if may_move else PARTS

            async def view() -> dict[str, str]:
                return await self._parts(parts)

            self._feeds[may_move] = Feed(view, lambda: 1, _never, BEAT_MS, BEAT_MS)
        return self._feeds[may_move]

    async def _parts(self, parts: dict[str, str]) -> dict[str, str]:
        try:
            await self._access.look()
            groups = await self._floor.groups()
        except LedgerError as error:
            # Amounts that stay on the screen would look live: nothing is shown but the reason.
            return dict.fromkeys(parts, "") | {"trouble": self._trouble(str(error))}
        return await self._rendered(parts, groups) | {"trouble": ""}

    async def _rendered(self, parts: dict[str, str], groups: list[View]) -> dict[str, str]:
        in_turns = self._render.part_in_turns
        shown = {"groups": groups, "stands_by": self._stands_by}
        return {name: await in_turns(part, **shown) for name, part in parts.items()}

    def _trouble(self, sentence: str) -> str:
        return self._render.part(TROUBLE, sentence=sentence)


def _may_move(request: Request) -> bool:
    return session_of(request).person.role in UNIT_KEEPERS


async def _never(after: int) -> int:
    await asyncio.get_running_loop().create_future()
    return after
