"""A page as an answer: its template with what every page has, and its own values."""

from __future__ import annotations

import asyncio
from typing import Any

from jinja2 import Environment, Template
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from manager.web.session_access import SessionAccess

PIECES_AT_ONCE = 1000  # of a template: about a millisecond


class Renderer:
    def __init__(self, access: SessionAccess, templates: Environment) -> None:
        self._access = access
        self.templates = templates

    def answer(
        self, request: Request, name: str, here: str, status: int = 200, **values: Any
    ) -> Response:
        """`here` is the page's place in the head of all pages."""
        text = self.part(name, **self._access.context(request), here=here, **values)
        return HTMLResponse(text, status_code=status)

    def part(self, name: str, **values: Any) -> str:
        return self.templates.get_template(name).render(**values)

    async def part_in_turns(self, name: str, **values: Any) -> str:
        return await in_turns(self.templates.get_template(name), **values)


async def in_turns(template: Template, **values: Any) -> str:
    """A long part; the units have their turns while it is made."""
    pieces: list[str] = []
    for piece in template.generate(**values):
        pieces.append(piece)
        if len(pieces) % PIECES_AT_ONCE == 0:
            await asyncio.sleep(0)
    return "".join(pieces)
