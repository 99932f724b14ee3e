"""The one page of a manager that stands by: who owns each group, and where its pages are.

Accounts are rows of the ledger, and signing in writes there, so nobody can sign in here. Hence the
page shows no money: it leads to the owner's pages, which show the whole floor.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from kit.web.event_stream import Streams
from kit.web.pages import build_pages
from kit.web.policy import content_policy
from manager.ledger.errors import LedgerError
from manager.web.api import FloorApi
from manager.web.refusals import refusal
from manager.web.templating import open_templates

STATIC = Path(__file__).parent / "static"


def build_standby(name: str, floor: FloorApi, names: Collection[str] = ()) -> Starlette:
    """`name` is this manager's own."""
    template = open_templates().get_template("standby.html")

    async def page(request: Request) -> Response:
        try:
            groups = await floor.groups()
        except LedgerError as error:
            raise HTTPException(503, str(error)) from error
        return HTMLResponse(template.render(name=name, groups=groups))

    policy = content_policy(["'self'"])
    return build_pages(
        routes=[Route("/", page), Route("/managers", page)],
        static=STATIC,
        policy=lambda: policy,
        refusal=refusal,
        streams=Streams(),
        names=names,
    )
