"""How a server of pages is put together: templates, static files, policy, refusals, streams.

Every page of a unit, of a manager and of the bench is escaped, strict about names, asked for by our
own pages only, and served with the same headers. Which pages there are, the caller says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from kit.web import SHARED
from kit.web.event_stream import Streams
from kit.web.own_pages import OwnPages, Refusal
from kit.web.policy import PagePolicy
from kit.words.numbers import money


def open_templates(folder: Path) -> Environment:
    """Escapes everything and fails on a name the view does not have."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["money"] = money
    return environment


def build_pages(
    routes: Sequence[BaseRoute],
    static: Path,
    policy: Callable[[], str],
    refusal: Refusal,
    streams: Streams,
    names: Collection[str] = (),
) -> Starlette:
    """`app.state.streams.close()` lets open pages go before the server stops.

    `names` are those that the machine is known by, besides its own and every address.
    """
    files = Mount("/static", StaticFiles(directory=static, packages=[SHARED]))
    app = Starlette(
        routes=[*routes, files],
        middleware=[
            Middleware(PagePolicy, policy=policy),
            Middleware(OwnPages, names=names, refusal=refusal),
        ],
        exception_handlers={HTTPException: refusal, ClientDisconnect: _left},
    )
    app.state.streams = streams
    return app


async def _left(request: Request, error: Exception) -> Response:
    """A browser that left in the middle of a request is no news, and hears no answer."""
    return Response(status_code=400)
