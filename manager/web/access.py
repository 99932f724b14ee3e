"""Who gets a page: every route says whose it is, and no other way leads to one.

It finds the session of a request, sends strangers to the sign-in, refuses roles that a page is not
for, and takes a form only from our own page of the same session. What a page shows is not known
here.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from kit.rate_limit import Pacer
from manager.people.first_code import FirstCode
from manager.people.people import People, Person
from manager.people.roles import EVERYBODY, Roles
from manager.people.sessions import SHIFT_MAX_S, Session, Sessions
from manager.people.signing import SignIn, Typed
from manager.people.two_people import TwoPeople
from manager.web.forms import Form, read_form

COOKIE = "underfelt-session"
SAFE_COOKIE = "__Host-underfelt-session"  # a browser takes it over TLS only
STRANGER = "Sign in first."
NOT_YOURS = "This page is not for your role. Ask an admin."
FOREIGN_FORM = "That form is not from this page, or too old. Open the page again."

READS, READS_PER_S = 100, 20.0  # of one token
GUESSES, GUESSES_PER_S = 60, 1.0  # of one address without a token that counts

Endpoint = Callable[[Request], Awaitable[Response]]


class Entrance(Protocol):
    """Who somebody without a session is; on a floor that is not for practice, nobody."""

    @property
    def banner(self) -> str: ...

    def newcomer(self, people: People) -> Person | None: ...

    def others(self, people: People) -> Sequence[Person]:
        """Whom somebody may turn into without a password."""
        ...


class Closed:
    """The entrance of every real floor."""

    banner = ""

    def newcomer(self, people: People) -> Person | None:
        return None

    def others(self, people: People) -> Sequence[Person]:
        return ()


class Page(Route):
    """A route that says whose it is; None for what must be open before anybody has signed in.

    What is for machines is opened by a token alone, and by no session.
    """

    roles: Roles | None = None
    is_for_machines = False


class Access:
    def __init__(
        self,
        people: People,
        sessions: Sessions,
        sign_in: SignIn,
        two_people: TwoPeople,
        first_code: FirstCode,
        entrance: Entrance | None = None,
        is_tls: bool = False,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.people = people
        self.sessions = sessions
        self.sign_in = sign_in
        self.two_people = two_people
        self.first_code = first_code
        self.entrance: Entrance = entrance or Closed()
        self._is_tls = is_tls
        self._now_s = now_s
        self._reading = Pacer(READS, READS_PER_S)
        self._guessing = Pacer(GUESSES, GUESSES_PER_S)

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

        return _route(path, guarded, roles, method)

    def open_page(self, path: str, endpoint: Endpoint, method: str = "GET") -> Page:
        """For anybody. A form still has to come from a page of ours."""

        async def guarded(request: Request) -> Response:
            if request.method == "POST":
                _check_origin(request)
                request.state.form = await read_form(request)
            response = await endpoint(request)
            response.headers.setdefault("cache-control", "no-store")
            return response

        return _route(path, guarded, None, method)

    def api(self, path: str, endpoint: Endpoint) -> Page:
        """For machines with a token. A cookie counts for nothing here."""

        async def guarded(request: Request) -> Response:
            scheme, _, secret = request.headers.get("authorization", "").partition(" ")
            token = self.people.tokens.find(secret) if scheme.lower() == "bearer" else None
            paced = self._reading if token else self._guessing
            if not paced.take(token.id if token else address_of(request), self._now_s()):
                return error_answer(429, "Too often.", {"retry-after": "1"})
            if token is None:
                sentence = "Say `Authorization: Bearer TOKEN` with a token that an admin made."
                return error_answer(401, sentence, {"www-authenticate": "Bearer"})
            response = await endpoint(request)
            response.headers.setdefault("cache-control", "no-store")
            return response

        route = _route(path, guarded, frozenset(), "GET")
        route.is_for_machines = True
        return route

    # -- sessions ----------------------------------------------------------------------------

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
        self.sessions.end(request.cookies.get(self.cookie, ""))
        response.delete_cookie(
            self.cookie, path="/", secure=self._is_tls, httponly=True, samesite="strict"
        )

    @property
    def cookie(self) -> str:
        return SAFE_COOKIE if self._is_tls else COOKIE

    def is_still_on(self, request: Request) -> bool:
        """For a stream: it may go on, but keeps nobody signed in."""
        return self.sessions.is_on(session_of(request))

    async def prove_again(self, request: Request) -> Person:
        """Money asks for the password once more: a screen left open signs nothing."""
        session, form = session_of(request), form_of(request)
        return await self.sign_in.check(
            Typed(session.person.name, form.pop("password", ""), address_of(request))
        )

    def context(self, request: Request) -> dict[str, Any]:
        """What every page has besides its own values."""
        session = getattr(request.state, "session", None)
        if session is None:
            return {"me": None, "form_key": "", "notice": "", "banner": "", "others": [], "due": 0}
        notice, session.notice = session.notice, ""
        others = [each for each in self.entrance.others(self.people) if each != session.person]
        due = [each for each in self.two_people.waiting() if self._is_due(session.person, each)]
        return {
            "me": session.person,
            "form_key": session.form_key,
            "notice": notice,
            "banner": self.entrance.banner,
            "others": others,
            "due": len(due),
        }

    def _is_due(self, person: Person, waiting: Any) -> bool:
        return self.two_people.problem_for(person, waiting) == ""

    # -- inside ------------------------------------------------------------------------------

    def _entered(self, request: Request, is_an_act: bool) -> tuple[Session | None, str]:
        """The session, and the token that a newcomer has to be given."""
        session = self.sessions.find(request.cookies.get(self.cookie, ""), is_an_act)
        if session is not None:
            return session, ""
        newcomer = self.entrance.newcomer(self.people) if request.method == "GET" else None
        if newcomer is None:
            return None, ""
        token = self.sessions.begin(newcomer)
        return self.sessions.find(token), token

    def _send_to_sign_in(self, request: Request) -> Response:
        if request.method != "GET" or request.headers.get("sec-fetch-mode", "navigate") not in (
            "navigate",
            "",
        ):
            raise HTTPException(401, STRANGER)
        first = "/first" if self.first_code.is_wanted else "/sign-in"
        path = request.url.path
        return RedirectResponse(f"{first}?to={quote(path)}", status_code=303)

    async def _check_form(self, request: Request, session: Session) -> None:
        _check_origin(request)
        form = await read_form(request)
        if not hmac.compare_digest(form.pop("form_key", "").encode(), session.form_key.encode()):
            raise HTTPException(403, FOREIGN_FORM)
        request.state.form = form


def _route(path: str, endpoint: Endpoint, roles: Roles | None, method: str) -> Page:
    route = Page(path, endpoint, methods=[method])
    route.roles = roles
    return route


def error_answer(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """A refusal as a machine reads it."""
    return JSONResponse({"error": sentence}, status_code=status, headers=dict(headers or {}))


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
