"""Who gets a page by a session: every route says whose it is, and no other way leads to one.

It finds the session of a request, sends strangers to the sign-in, refuses roles that a page is not
for, and takes a form only from our own page of the same session. How a session begins, and what a
page shows, is not known here.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from manager.ledger.errors import LedgerError
from manager.people.roles import EVERYBODY, Roles
from manager.people.sessions import SHIFT_MAX_S, Session, Sessions
from manager.web.forms import Form, read_form

COOKIE = "underfelt-session"
SAFE_COOKIE = "__Host-underfelt-session"  # a browser takes it over TLS only
STRANGER = "Sign in first."
NOT_YOURS = "This page is not for your role. Ask an admin."
FOREIGN_FORM = "That form is not from this page, or too old. Open the page again."

Endpoint = Callable[[Request], Awaitable[Response]]


class Page(Route):
    """A route that says whose it is; None for what must be open before anybody has signed in.

    What is for machines is opened by a token alone, and what is for managers by their key; neither
    by a session.
    """

    roles: Roles | None = None
    is_for_machines = False
    is_for_managers = False


class SessionAccess:
    def __init__(self, sessions: Sessions, is_tls: bool = False) -> None:
        self.sessions = sessions
        self._is_tls = is_tls

    # -- routes ------------------------------------------------------------------------------

    def page(
        self,
        path: str,
        endpoint: Endpoint,
        roles: Roles = EVERYBODY,
        method: str = "GET",
        by_itself: bool = False,
    ) -> Page:
        """For people who are signed in and have one of the roles.

        `by_itself` is for what a page asks again and again: no sign that somebody sits there.
        """

        async def guarded(request: Request) -> Response:
            await self._know_the_accounts(request)
            session, token = self._entered(request, not by_itself)
            if session is None:
                return self._send_to_sign_in(request)
            if session.person.role not in roles:
                raise HTTPException(403, NOT_YOURS)
            if request.method == "POST":
                await self._check_form(request, session)
            request.state.session = session
            response = await endpoint(request)
            response.headers.setdefault("cache-control", "no-store")
            if token:
                self.let_in(response, token)
            return response

        return new_page(path, guarded, roles, method)

    def open_page(self, path: str, endpoint: Endpoint, method: str = "GET") -> Page:
        """For anybody. A form still has to come from a page of ours."""

        async def guarded(request: Request) -> Response:
            if request.method == "POST":
                _check_origin(request)
                request.state.form = await read_form(request)
            response = await endpoint(request)
            response.headers.setdefault("cache-control", "no-store")
            return response

        return new_page(path, guarded, None, method)

    # -- sessions ----------------------------------------------------------------------------

    async def look(self) -> None:
        """Makes sure that the accounts are known as they are now; raises LedgerError if not."""

    def let_in(self, response: Response, token: str) -> None:
        response.set_cookie(
            self.cookie,
            token,
            max_age=SHIFT_MAX_S,
            path="/",
            secure=self._is_tls,
            httponly=True,
            samesite="strict",
        )

    def let_out(self, request: Request, response: Response) -> None:
        self.sessions.end(self.token_of(request))
        response.delete_cookie(
            self.cookie, path="/", secure=self._is_tls, httponly=True, samesite="strict"
        )

    @property
    def cookie(self) -> str:
        return SAFE_COOKIE if self._is_tls else COOKIE

    def token_of(self, request: Request) -> str:
        return request.cookies.get(self.cookie, "")

    def is_still_on(self, request: Request) -> bool:
        """For a stream: it may go on, but keeps nobody signed in."""
        return self.sessions.is_on(session_of(request))

    def context(self, request: Request) -> dict[str, Any]:
        """What every page has besides its own values."""
        nothing = {"banner": "", "others": [], "due": 0}
        session = getattr(request.state, "session", None)
        if session is None:
            return {"me": None, "form_key": "", "notice": "", **nothing}
        notice, session.notice = session.notice, ""
        return {"me": session.person, "form_key": session.form_key, "notice": notice, **nothing}

    # -- inside ------------------------------------------------------------------------------

    @property
    def _door(self) -> str:
        """Where strangers are sent."""
        return "/sign-in"

    def _entered(self, request: Request, is_an_act: bool) -> tuple[Session | None, str]:
        """The session, and the token that a newcomer has to be given."""
        return self.sessions.find(self.token_of(request), is_an_act), ""

    async def _know_the_accounts(self, request: Request) -> None:
        if not self.sessions.holds(self.token_of(request)):
            return  # a stranger costs no look
        try:
            await self.look()
        except LedgerError as error:
            raise HTTPException(503, str(error), {"retry-after": "5"}) from error

    def _send_to_sign_in(self, request: Request) -> Response:
        if request.method != "GET" or request.headers.get("sec-fetch-mode", "navigate") not in (
            "navigate",
            "",
        ):
            raise HTTPException(401, STRANGER)
        return RedirectResponse(f"{self._door}?to={quote(request.url.path)}", status_code=303)

    async def _check_form(self, request: Request, session: Session) -> None:
        _check_origin(request)
        form = await read_form(request)
        if not hmac.compare_digest(form.pop("form_key", "").encode(), session.form_key.encode()):
            raise HTTPException(403, FOREIGN_FORM)
        request.state.form = form


def new_page(path: str, endpoint: Endpoint, roles: Roles | None, method: str) -> Page:
    route = Page(path, endpoint, methods=[method])
    route.roles = roles
    return route


def _check_origin(request: Request) -> None:
    """A browser says where a form came from; whether it was from here, `OwnPages` has checked."""
    if not request.headers.get("origin") and request.headers.get("sec-fetch-site") != "same-origin":
        raise HTTPException(403, FOREIGN_FORM)


def session_of(request: Request) -> Session:
    session: Session = request.state.session
    return session


def form_of(request: Request) -> Form:
    form: Form = request.state.form
    return form


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""
