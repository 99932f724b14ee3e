"""Who gets a page of the manager that owns the ledger: people, machines, and other managers.

It alone knows what the owner adds to a session: its accounts, the practice floor's entrance, tokens
of machines, and the key by which a manager that stands by proves what it hands over.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kit.rate_limit import Pacer
from manager.people.errors import NotKnown
from manager.people.first_code import FirstCode
from manager.people.handing_over import PROOF, HandedOver
from manager.people.people import People, Person
from manager.people.sessions import Session, Sessions
from manager.people.signing import SignIn, Typed
from manager.people.two_people import TwoPeople
from manager.web.forms import read_body
from manager.web.session_access import (
    COOKIE,
    FOREIGN_FORM,
    NOT_YOURS,
    SAFE_COOKIE,
    STRANGER,
    Endpoint,
    Page,
    SessionAccess,
    address_of,
    form_of,
    new_page,
    session_of,
)

__all__ = [
    "COOKIE",
    "FOREIGN_FORM",
    "NOT_YOURS",
    "SAFE_COOKIE",
    "STRANGER",
    "Access",
    "Closed",
    "Endpoint",
    "Entrance",
    "Page",
    "address_of",
    "error_answer",
    "form_of",
    "session_of",
]

READS, READS_PER_S = 100, 20.0  # of one token
GUESSES, GUESSES_PER_S = 60, 1.0  # of one address without a token that counts
NO_MANAGER = "Only a manager of this house hands something over here."


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


class Access(SessionAccess):
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
        super().__init__(sessions, is_tls)
        self.people = people
        self.sign_in = sign_in
        self.two_people = two_people
        self.first_code = first_code
        self.entrance: Entrance = entrance or Closed()
        self._now_s = now_s
        self._reading = Pacer(READS, READS_PER_S)
        self._guessing = Pacer(GUESSES, GUESSES_PER_S)

    # -- routes ------------------------------------------------------------------------------

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

        route = new_page(path, guarded, frozenset(), "GET")
        route.is_for_machines = True
        return route

    def from_managers(self, path: str, endpoint: Endpoint) -> Page:
        """For managers that stand by, proven by the key that only managers of this house have."""

        async def guarded(request: Request) -> Response:
            body = await read_body(request)
            mark, shown = self.sign_in.manager_mark(body), request.headers.get(PROOF, "")
            if not hmac.compare_digest(mark.encode(), shown.encode()):
                raise HTTPException(403, NO_MANAGER)
            try:
                request.state.handed_over = HandedOver.decode(body)
            except NotKnown as error:
                raise HTTPException(400, str(error)) from error
            response = await endpoint(request)
            response.headers.setdefault("cache-control", "no-store")
            return response

        route = new_page(path, guarded, frozenset(), "POST")
        route.is_for_managers = True
        return route

    # -- sessions ----------------------------------------------------------------------------

    async def prove_again(self, request: Request) -> Person:
        """Money asks for the password once more: a screen left open signs nothing."""
        session, form = session_of(request), form_of(request)
        return await self.sign_in.check(
            Typed(session.person.name, form.pop("password", ""), address_of(request))
        )

    def context(self, request: Request) -> dict[str, Any]:
        shown = super().context(request)
        me = shown["me"]
        if me is None:
            return shown
        others = [each for each in self.entrance.others(self.people) if each != me]
        due = [each for each in self.two_people.waiting() if self._is_due(me, each)]
        return shown | {"banner": self.entrance.banner, "others": others, "due": len(due)}

    # -- inside ------------------------------------------------------------------------------

    @property
    def _door(self) -> str:
        return "/first" if self.first_code.is_wanted else super()._door

    def _is_due(self, person: Person, waiting: Any) -> bool:
        return self.two_people.problem_for(person, waiting) == ""

    def _entered(self, request: Request, is_an_act: bool) -> tuple[Session | None, str]:
        session, _ = super()._entered(request, is_an_act)
        if session is not None:
            return session, ""
        newcomer = self.entrance.newcomer(self.people) if request.method == "GET" else None
        if newcomer is None:
            return None, ""
        token = self.sessions.begin(newcomer)
        return self.sessions.find(token), token


def error_answer(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """A refusal as a machine reads it."""
    return JSONResponse({"error": sentence}, status_code=status, headers=dict(headers or {}))
