"""A manager that stands by, without a database: its pages before an owner with real books."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field

import httpx

from manager.ledger.engines.relations import PEOPLE
from manager.ledger.errors import LedgerError, StoreError
from manager.people.handing_over import PATH, PROOF, Answer, HandedOver
from manager.people.people import Person, person_in
from manager.people.sessions import Sessions
from manager.web.app import build
from manager.web.managers.standby import StandbyAccess, StandbyPages
from tests.kit.fake_floor import FakeFloor
from tests.kit.page_house import HOST, PageHouse
from tests.kit.people import PASSWORD, quick_passwords

ORIGIN = {"origin": f"http://{HOST}"}


@dataclass
class Owner:
    """Hands over to the pages of a manager that owns the ledger."""

    house: PageHouse
    away: LedgerError | None = None
    handed: list[HandedOver] = field(default_factory=list)

    async def ask(self, handed: HandedOver) -> Answer:
        self.handed.append(handed)
        if self.away is not None:
            raise self.away
        body = handed.encode()
        marked = {PROOF: quick_passwords().manager_mark(body)}
        transport = httpx.ASGITransport(app=self.house.app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            return Answer.decode((await client.post(PATH, content=body, headers=marked)).content)


class Accounts:
    """The owner's accounts as they were at the last look."""

    def __init__(self, house: PageHouse) -> None:
        self._house = house
        self._known: dict[str, Person] = {}
        self.trouble: StoreError | None = None

    async def look(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        found = (person_in(row) for row in self._house.manager.store.find(PEOPLE, {}))
        self._known = {each.id: each for each in found}

    def find(self, name: str) -> Person | None:
        return self._known.get(name.lower())


class Standby:
    def __init__(self) -> None:
        self.house = PageHouse(Cora="cage")
        self.floor = FakeFloor()
        self.house.app = build(self.house.manager.view, self.house.access, floor=self.floor)
        self.owner, self.accounts = Owner(self.house), Accounts(self.house)
        self.now_s = 0.0
        self.sessions = Sessions(self.accounts, lambda: self.now_s)
        self.access = StandbyAccess(self.sessions, self.accounts, is_tls=False)
        self.app = StandbyPages("south", self.floor, self.owner, self.access).app(())
        self.cookies: dict[str, str] = {}

    def ask(self, path: str, form: dict[str, str] | None = None, **headers: str) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app, client=("192.0.2.7", 1))
            async with httpx.AsyncClient(
                transport=transport, base_url=f"http://{HOST}", cookies=self.cookies
            ) as client:
                method = "GET" if form is None else "POST"
                answer = await client.request(method, path, data=form, headers=ORIGIN | headers)
                self.cookies = dict(client.cookies)
                return answer

        return asyncio.run(asked())

    def sign_in(self, name: str, password: str = PASSWORD) -> httpx.Response:
        return self.ask("/sign-in?to=/managers", {"name": name, "password": password})

    def form_key(self) -> str:
        found = re.search(r'name="form_key" value="([^"]+)"', self.ask("/managers").text)
        assert found is not None
        return found[1]

    def acts(self) -> list[str]:
        query = "SELECT sentence FROM transactions WHERE kind = 'ACT' ORDER BY number"
        return [row[0] for row in self.house.manager.store.rows(query)]
