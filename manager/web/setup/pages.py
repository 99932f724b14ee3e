"""Setting up a table: choose the games, type the numbers, look at all of it, and ask.

Looking changes nothing and is done by address, so that it can be repeated. Opening takes a password
and a second person, like every other change.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from manager.advice.child import AdviceError
from manager.booking import OPEN_TABLE, TableRefused
from manager.games import Paytable
from manager.ledger.errors import LedgerError
from manager.people import roles
from manager.people.two_people import Preview
from manager.web.access import Access, form_of, session_of
from manager.web.api import ReportsApi, View
from manager.web.rendering import Renderer
from manager.web.setup.typed_table import TableText, blank, text_of

LETTERS = ("A", "B")
TYPED_MAX = 90
TYPED_LENGTH_MAX = 80
SETTERS = frozenset(role for role in roles.ASKERS if roles.may_ask(role, OPEN_TABLE))


class SetupPages:
    def __init__(self, reports: ReportsApi, access: Access, render: Renderer) -> None:
        self._reports = reports
        self._setup = reports.setup
        self._access = access
        self._render = render

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/setup", self.groups),
            page("/setup/table", self.table, SETTERS),
            page("/setup/table", self.asked, SETTERS, method="POST"),
            page("/requests/{number:win}/table.toml", self.file),
        ]

    async def groups(self, request: Request) -> Response:
        """The link groups there are, and the first step to another table."""
        return self._render.answer(
            request,
            "setup/setup.html",
            "setup",
            groups=self._setup.groups(),
            paytables=self._setup.paytables(),
            may_set_up=session_of(request).person.role in SETTERS,
        )

    async def table(self, request: Request) -> Response:
        """The form; with `look` in the address, also what it would do."""
        query = dict(request.query_params)
        is_look, wants_advice = query.pop("look", "") == "yes", query.pop("advice", "") != "no"
        games, typed = self._typed(query)
        if not is_look:
            return self._form(request, games, typed, {})
        made, preview, problems = self._look(request, games, typed)
        advised = await self._advised(games, typed) if preview and wants_advice else {}
        page = self._form(request, games, typed, problems, made, preview, advised)
        if any(view["is_counting"] for view in advised.values()):
            # The browser asks again by itself; meanwhile there is no form to lose what is typed.
            page.headers["refresh"] = "2"
        return page

    async def asked(self, request: Request) -> Response:
        form = form_of(request)
        password = form.pop("password", "")
        games, typed = self._typed(form)
        made, preview, problems = self._look(request, games, typed)
        if preview is not None:
            form["password"] = password
            try:
                person = await self._access.prove_again(request)
                wanted = {"command": OPEN_TABLE, "text": made.text}
                session_of(request).notice = self._access.two_people.ask(person, wanted)
                return RedirectResponse("/requests", status_code=303)
            except LedgerError as error:
                problems = {"": str(error)}
        return self._form(request, games, typed, problems, made, preview)

    async def file(self, request: Request) -> Response:
        """The table's file that somebody asked to open, to be kept beside the others."""
        try:
            asked = self._access.two_people.get(request.path_params["number"])
        except LedgerError as error:
            raise HTTPException(404, str(error)) from error
        if asked.command != OPEN_TABLE:
            raise HTTPException(404, "That request opens no table.")
        headers = {"content-disposition": 'attachment; filename="table.toml"'}
        return PlainTextResponse(asked.words["text"], headers=headers)

    # -- inside ------------------------------------------------------------------------------

    async def _advised(
        self, games: Mapping[str, Paytable], typed: Mapping[str, str]
    ) -> dict[str, View]:
        """What the adviser says of each game that has numbers of its own; nothing when busy."""
        found: dict[str, View] = {}
        for letter, paytable in games.items():
            if any(typed[f"{letter}.{level.id}.link"] for level in paytable.levels):
                continue
            with suppress(AdviceError):
                found[letter] = await self._reports.advice(_numbers(letter, paytable, typed))
        return found

    def _typed(self, query: Mapping[str, str]) -> tuple[dict[str, Paytable], dict[str, str]]:
        """The games that were chosen, and every field of their form with what was typed."""
        if len(query) > TYPED_MAX or any(len(each) > TYPED_LENGTH_MAX for each in query.values()):
            raise HTTPException(400, "That is more than the form asks for.")
        games: dict[str, Paytable] = {}
        for letter in LETTERS:
            name = query.get(letter, "")
            paytable = self._setup.paytable(name) if name else None
            if name and paytable is None:
                raise HTTPException(404, f"No pack has the jackpot paytable {name!r}.")
            if paytable is not None:
                games[letter] = paytable
        if "A" not in games:
            raise HTTPException(404, "Choose the game on the sensors A first.")
        typed = {name: query.get(name, usual).strip() for name, usual in blank(games).items()}
        return games, typed

    def _look(
        self, request: Request, games: Mapping[str, Paytable], typed: Mapping[str, str]
    ) -> tuple[TableText, Preview | None, dict[str, str]]:
        """The file, what opening it would do, or by field why it cannot be opened."""
        made = text_of(typed, games, self._setup.running())
        person, wanted = session_of(request).person, {"command": OPEN_TABLE, "text": made.text}
        problems: dict[str, str] = {}
        preview = None
        try:
            preview = self._access.two_people.preview(person, wanted)
        except TableRefused as error:
            problems = made.by_field(error.problems)
        except LedgerError as error:
            problems = {"": str(error)}
        problems |= made.problems
        return made, None if problems else preview, problems

    def _form(
        self,
        request: Request,
        games: Mapping[str, Paytable],
        typed: dict[str, str],
        problems: Mapping[str, str],
        made: TableText | None = None,
        preview: Preview | None = None,
        advised: Mapping[str, View] = MappingProxyType({}),
    ) -> Response:
        chosen = {letter: paytable.id for letter, paytable in games.items()}
        return self._render.answer(
            request,
            "setup/setup_table.html",
            "setup",
            409 if problems and request.method == "POST" else 200,
            games=games,
            chosen=chosen,
            typed=typed,
            problems=problems,
            made=made,
            preview=preview,
            links=self._setup.groups(),
            advice={
                letter: f"/advice/numbers?{urlencode(_numbers(letter, games[letter], typed))}"
                for letter in games
            },
            advised=advised,
            is_counting=any(view["is_counting"] for view in advised.values()),
            without_advice="?" + urlencode(chosen | typed | {"look": "yes", "advice": "no"}),
            deciders=sorted(roles.deciders(OPEN_TABLE)),
        )


def _numbers(letter: str, paytable: Paytable, typed: Mapping[str, str]) -> dict[str, str]:
    """One game's numbers as the adviser's form has them."""
    query = {"paytable": paytable.id, "wager": typed[f"{letter}.wager"]}
    query |= {"type": typed["type"], "fixed": typed[f"{letter}.fixed"]}
    for level in paytable.levels:
        for name in ("seed", "opening", "limit", "contribution", "reserve"):
            query[f"{level.id}.{name}"] = typed[f"{letter}.{level.id}.{name}"]
    return query
