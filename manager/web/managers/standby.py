"""The pages of a manager that stands by: who owns what, and for who signs in, the whole floor.

Accounts are rows of the ledger, and signing in writes there. So the owner judges every try, and
writes it down; here is kept only, in memory, that it said yes. Without a sign-in no money is shown.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kit.web.event_stream import Streams
from kit.web.pages import build_pages
from kit.web.policy import content_policy
from manager.ledger.errors import LedgerError
from manager.people.errors import NotAllowed, NotKnown, TooSoon
from manager.people.handing_over import MOVE, SIGN_IN, SIGN_OUT, Answer, HandedOver
from manager.people.people import Person
from manager.people.sessions import Accounts, Sessions
from manager.web.api import FloorApi
from manager.web.managers.pages import ManagersPage
from manager.web.people.sign_in import own_path
from manager.web.refusals import refusal
from manager.web.rendering import Renderer
from manager.web.session_access import SessionAccess, address_of, form_of, session_of
from manager.web.templating import open_templates

STATIC = Path(__file__).parent.parent / "static"
CHANGED = "Your account was changed just now. Sign in again."
SIGNED_OUT_UNHEARD = "You are signed out here. The owner could not write it down:"


class OwnerApi(Protocol):
    async def ask(self, handed: HandedOver) -> Answer:
        """What the owner says to it; LedgerError when there is no owner that answers."""
        ...


class AccountsApi(Accounts, Protocol):
    async def look(self) -> None:
        """Knows the accounts as they are now, or raises LedgerError."""
        ...


class StandbyAccess(SessionAccess):
    """A session counts here only while the database says that its account is the same."""

    def __init__(self, sessions: Sessions, accounts: AccountsApi, is_tls: bool) -> None:
        super().__init__(sessions, is_tls)
        self.accounts = accounts

    async def look(self) -> None:
        await self.accounts.look()


class StandbyPages:
    def __init__(self, name: str, floor: FloorApi, owner: OwnerApi, access: StandbyAccess) -> None:
        """`name` is this manager's own."""
        self._name = name
        self._floor = floor
        self._owner = owner
        self._access = access
        self._render = Renderer(access, open_templates())
        # The other pages are the owner's.
        self._render.templates.globals |= {"places": (), "several_managers": True}
        self.streams = Streams()

    def app(self, names: Collection[str]) -> Starlette:
        access, policy = self._access, content_policy(["'self'"])
        managers = ManagersPage(
            self._floor, access, self._render, self.move, self.streams, self._name
        )
        return build_pages(
            routes=[
                access.open_page("/", self.first),
                access.open_page("/sign-in", self.sign_in),
                access.open_page("/sign-in", self.signed_in, method="POST"),
                access.page("/sign-out", self.sign_out, method="POST"),
                *managers.routes(),
            ],
            static=STATIC,
            policy=lambda: policy,
            refusal=refusal,
            streams=self.streams,
            names=names,
        )

    async def first(self, request: Request) -> Response:
        if self._access.sessions.holds(self._access.token_of(request)):
            return RedirectResponse("/managers", status_code=303)
        try:
            groups = await self._floor.owners()
        except LedgerError as error:
            raise HTTPException(503, str(error), {"retry-after": "5"}) from error
        page = self._render.part("managers/standby.html", stands_by=self._name, groups=groups)
        return HTMLResponse(page)

    async def sign_in(self, request: Request) -> Response:
        return self._sign_in_page(request)

    async def signed_in(self, request: Request) -> Response:
        """The owner says who it is; the account as the database has it is who is let in."""
        form = form_of(request)
        typed = self._handed(request, SIGN_IN, form.get("name", ""), form.pop("password", ""))
        try:
            name = _sentence_of(await self._owner.ask(typed))
            person = await self._account(name)
        except LedgerError as error:
            return self._sign_in_page(request, error)
        to = own_path(request.query_params.get("to", "/managers"))
        answer = RedirectResponse(to, status_code=303)
        self._access.let_in(answer, self._access.sessions.begin(person))
        return answer

    async def sign_out(self, request: Request) -> Response:
        """Ends the session whatever the owner says; it has to write down that somebody left."""
        handed = self._handed(request, SIGN_OUT, session_of(request).person.name)
        answer: Response = RedirectResponse("/sign-in", status_code=303)
        try:
            _sentence_of(await self._owner.ask(handed))
        except LedgerError as error:
            told = NotKnown(f"{SIGNED_OUT_UNHEARD} {error}")
            answer = self._sign_in_page(request, told, status=200)
        finally:
            self._access.let_out(request, answer)
        return answer

    async def move(self, request: Request, group: str, to: str) -> str:
        """The owner asks for the password and the role itself."""
        name, password = session_of(request).person.name, form_of(request).pop("password", "")
        return _sentence_of(
            await self._owner.ask(self._handed(request, MOVE, name, password, group, to))
        )

    # -- inside ------------------------------------------------------------------------------

    def _handed(self, request: Request, what: str, name: str, *rest: str) -> HandedOver:
        return HandedOver(what, self._name, name, address_of(request), *rest)

    async def _account(self, name: str) -> Person:
        await self._access.look()
        person = self._access.accounts.find(name)
        if person is None or not person.may_sign_in:
            raise NotAllowed(CHANGED)
        return person

    def _sign_in_page(
        self, request: Request, error: LedgerError | None = None, status: int = 403
    ) -> Response:
        wait_s = error.wait_s if isinstance(error, TooSoon) else 0
        return HTMLResponse(
            self._render.part(
                "managers/sign_in.html",
                stands_by=self._name,
                problem=str(error) if error else "",
                form=getattr(request.state, "form", {}),
                to=own_path(request.query_params.get("to", "/managers")),
            ),
            status_code=(429 if wait_s else status) if error else 200,
            headers={"retry-after": str(wait_s)} if wait_s else None,
        )


def _sentence_of(answer: Answer) -> str:
    """What the owner said, when it said yes."""
    if answer.wait_s:
        raise TooSoon(answer.wait_s)
    if not answer.done:
        raise NotKnown(answer.sentence)
    return answer.sentence
