"""The admins' page of tokens: made with a password, shown once, revoked for good."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from manager.ledger.errors import LedgerError
from manager.people.roles import PEOPLE_KEEPERS
from manager.web.access import Access, form_of
from manager.web.rendering import Renderer


class TokenPages:
    def __init__(self, access: Access, render: Renderer) -> None:
        self._access = access
        self._render = render

    def routes(self) -> list[BaseRoute]:
        page = self._access.page
        return [
            page("/tokens", self.tokens, PEOPLE_KEEPERS),
            page("/tokens", self.change, PEOPLE_KEEPERS, method="POST"),
        ]

    async def tokens(self, request: Request) -> Response:
        return self._page(request)

    async def change(self, request: Request) -> Response:
        """A token reads everything: who makes one proves again who they are."""
        form, tokens, secret, problem = form_of(request), self._access.people.tokens, "", ""
        name, act = form.get("name", ""), form.get("act")
        try:
            if act == "add":
                by = await self._access.prove_again(request)
                _, secret = tokens.add(by.name, name)
            elif act == "revoke":
                by = await self._access.prove_again(request)
                tokens.revoke(by.name, name)
            else:
                problem = "Nothing was asked for."
        except LedgerError as error:
            problem = str(error)
        return self._page(request, problem, secret, name)

    def _page(
        self, request: Request, problem: str = "", secret: str = "", name: str = ""
    ) -> Response:
        return self._render.answer(
            request,
            "people/tokens.html",
            "tokens",
            409 if problem else 200,
            tokens=self._access.people.tokens.all(),
            problem=problem,
            secret=secret,
            token_name=name,
        )
