"""A page as an answer: its template with what every page has, and its own values."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from manager.web.access import Access


class Renderer:
    def __init__(self, access: Access, templates: Environment) -> None:
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
