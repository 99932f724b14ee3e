"""Who may ask for a page: a browser that knows this machine by its own name, and our own pages.

A page of somebody else can point a name of its own at our address and then ask us from the
dealer's or the operator's browser ("DNS rebinding"). It gives itself away by that name, in `Host`.
A page that asks across sites gives itself away in `Origin`, or in `Sec-Fetch-Site`. Programs that
are no browser can say what they like; whom a network lets in is not known here.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Refusal = Callable[[Request, Exception], Response | Awaitable[Response]]

WRONG_NAME = "This machine has no such name. Use its address, or tell it the name."
OTHER_SITE = "Only a page of this machine may ask for that."


def own_names(more: Collection[str] = ()) -> frozenset[str]:
    """The names under which this machine's pages are asked for, besides every address."""
    machine = socket.gethostname().lower()
    return frozenset({"localhost", machine, f"{machine}.local", *(name.lower() for name in more)})


class OwnPages:
    def __init__(self, app: ASGIApp, names: Collection[str], refusal: Refusal) -> None:
        self._app = app
        self._names = own_names(names)
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = self._problem(Request(scope)) if scope["type"] == "http" else None
        if problem is None:
            await self._app(scope, receive, send)
            return
        answer = self._refusal(Request(scope), problem)
        response = answer if isinstance(answer, Response) else await answer
        await response(scope, receive, send)

    def _problem(self, request: Request) -> HTTPException | None:
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return HTTPException(421, WRONG_NAME)
        own = f"{request.scope['scheme']}://{hosts[0]}"
        if any(origin != own for origin in request.headers.getlist("origin")):
            return HTTPException(403, OTHER_SITE)
        # A link or a frame may lead here from anywhere; whom a frame is for, the policy says.
        visits = request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate"
        if request.headers.get("sec-fetch-site") == "cross-site" and not visits:
            return HTTPException(403, OTHER_SITE)
        return None

    def _is_ours(self, host: str) -> bool:
        """An address is never a name that somebody else could point at us."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
