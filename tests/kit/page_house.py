"""A manager with one table and real books, and people who ask for its pages by name."""

from __future__ import annotations

import asyncio

import httpx

from manager.web.app import build
from tests.kit.people import access_to, add_people
from tests.kit.pretend_books import Books, document

HOST = "192.0.2.1"


class PageHouse:
    """An operator, an executive, and whoever else is named."""

    def __init__(self, books: Books | None = None, **roles: str) -> None:
        self.books = books or Books()
        self.books.open(document())
        self.manager = self.books.manager
        self.access = access_to(self.manager.store, book=self.manager.booking.book)
        add_people(self.access.people, Olga="operator", Emil="executive", **roles)
        self.app = build(self.manager.view, self.access)

    def ask(self, name: str, path: str, form: dict[str, str] | None = None) -> httpx.Response:
        person = self.access.people.find(name)
        assert person is not None
        token = self.access.sessions.begin(person)
        session = self.access.sessions.find(token)
        assert session is not None
        sent = {**form, "form_key": session.form_key} if form is not None else None

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            cookies = {self.access.cookie: token}
            async with httpx.AsyncClient(
                transport=transport, base_url=f"http://{HOST}", cookies=cookies
            ) as client:
                method = "GET" if sent is None else "POST"
                origin = {"origin": f"http://{HOST}"}
                return await client.request(method, path, data=sent, headers=origin)

        return asyncio.run(asked())
