"""A manager with one table and real books, and people who ask for its pages by name."""

from __future__ import annotations

import asyncio

import httpx

from manager.app import Manager
from manager.web.app import build
from tests.kit.people import access_to, add_people
from tests.kit.pretend_books import Books, document

HOST = "192.0.2.1"


class PageHouse:
    """An operator, an executive, and whoever else is named."""

    def __init__(self, books: Books | None = None, **roles: str) -> None:
        self.books = books or Books()
        self.books.open(document())
        self.serve(self.books.manager)
        add_people(self.access.people, Olga="operator", Emil="executive", **roles)

    def serve(self, manager: Manager) -> None:
        """The pages of this manager, which may be a later process on the same ledger."""
        self.manager = self.books.manager = manager
        self.access = access_to(manager.store, book=manager.booking.book)
        self.app = build(manager.view, self.access)

    def ask(self, name: str, path: str, form: dict[str, str] | None = None) -> httpx.Response:
        person = self.access.people.find(name)
        assert person is not None
        token = self.access.sessions.begin(person)
        session = self.access.sessions.find(token)
        assert session is not None
        sent = {**form, "form_key": session.form_key} if form is not None else None
        return self._send(path, sent, {self.access.cookie: token}, {"origin": f"http://{HOST}"})

    def ask_with(self, secret: str, path: str) -> httpx.Response:
        """A machine with its token."""
        return self._send(path, None, {}, {"authorization": f"Bearer {secret}"})

    def _send(
        self,
        path: str,
        sent: dict[str, str] | None,
        cookies: dict[str, str],
        headers: dict[str, str],
    ) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url=f"http://{HOST}", cookies=cookies
            ) as client:
                method = "GET" if sent is None else "POST"
                return await client.request(method, path, data=sent, headers=headers)

        return asyncio.run(asked())
