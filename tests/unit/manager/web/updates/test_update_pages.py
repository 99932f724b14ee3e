"""The updates' page: who brings a file, who asks, who decides, and what everybody sees.

Mutations this catches: a file from somebody who may not, a piece from another site, an update that
no entry of the chain names, a roll-out that its asker decides on, a unit's log that is not shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kit.program_changes import ROLLOUT, Change
from kit.program_news import ROLLED_BACK, UPDATED
from manager.people.roles import UNIT_KEEPERS, Role
from manager.rollouts.progress import State
from manager.web.app import build
from protocol.wire import events
from protocol.wire.program_steps import Step
from protocol.wire.rows import ProgramReport
from tests.kit.manager_views import FakeUnits
from tests.kit.people import PASSWORD, access_to, add_people
from tests.kit.pretend_books import Books, document
from tests.kit.update_files import update_file

HOST = "192.0.2.1"
VERSION = "0.2.0+20260601.000000"
CONTENT = update_file(VERSION, 3_000_000)
PIECE = 2 * 1024 * 1024


class House:
    def __init__(self, folder: Path) -> None:
        self.books = Books(str(folder / "ledger.sqlite"))
        self.books.open(document())
        self.books.open(document("touch-2"), "touch-2")
        self.manager = self.books.manager
        self.manager.rollouts.keep_in(folder)
        tell = self.manager.tell_units
        self.access = access_to(self.manager.store, book=self.manager.booking.book, tell=tell)
        add_people(self.access.people, **{str(role).capitalize(): str(role) for role in Role})
        updates = self.manager.updates
        self.app = build(self.manager.view, self.access, units=FakeUnits(), updates=updates)
        self.tokens: dict[Role, str] = {}

    def token(self, role: Role) -> str:
        if role not in self.tokens:
            person = self.access.people.find(str(role))
            assert person is not None
            self.tokens[role] = self.access.sessions.begin(person)
        return self.tokens[role]

    def form_key(self, role: Role) -> str:
        session = self.access.sessions.find(self.token(role))
        assert session is not None
        return session.form_key

    def get(self, path: str, role: Role = Role.OPERATOR) -> httpx.Response:
        return self._send("GET", path, role)

    def post(self, path: str, role: Role = Role.OPERATOR, **form: str) -> httpx.Response:
        return self._send("POST", path, role, data=form | {"form_key": self.form_key(role)})

    def piece(self, place: int, content: bytes, role: Role, key: str = "") -> httpx.Response:
        head = {"x-form-key": key or self.form_key(role)}
        return self._send("PUT", f"/updates/pieces/{place}", role, content=content, headers=head)

    def bring(self, content: bytes = CONTENT, role: Role = Role.OPERATOR) -> httpx.Response:
        for place in range(0, len(content), PIECE):
            answer = self.piece(place, content[place : place + PIECE], role)
            if answer.status_code != 200:
                return answer
        return self.post("/updates", role)

    def _send(self, method: str, path: str, role: Role, **more: object) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(
                transport=transport,
                base_url=f"http://{HOST}",
                cookies={self.access.cookie: self.token(role)},
            ) as client:
                client.headers["origin"] = f"http://{HOST}"
                return await client.request(method, path, **more)  # type: ignore[arg-type]

        return asyncio.run(ask())

    def acts(self) -> list[str]:
        store = self.manager.store
        return [each.sentence for each, _ in store.recorded() if each.kind == "ACT"]

    def started(self) -> None:
        self.bring()
        (kept,) = self.manager.rollouts.shelf.all()  # type: ignore[union-attr]
        words = {"bundle": kept.digest, "first": "touch-2", "then": "1", "hold": "30"}
        looked = self.post("/corrections/roll-out", **words)
        assert "goes to 1, then 1 of the tables" in looked.text
        asked = self.post("/corrections/roll-out", **words, step="sure", password=PASSWORD)
        assert asked.status_code == 303
        assert self.manager.rollouts.progress is None, "it waits for a second person"
        for role in (Role.OPERATOR, Role.SURVEILLANCE, Role.CAGE):
            self.post("/requests/1", role, act="approve", password=PASSWORD)
            assert self.manager.rollouts.progress is None
        done = self.post("/requests/1", Role.EXECUTIVE, act="approve", password=PASSWORD)
        assert done.status_code == 303, done.text


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.books.store.close()


@pytest.mark.parametrize("role", list(Role))
def test_who_keeps_units_brings_an_update_and_the_chain_names_it(house: House, role: Role) -> None:
    answer = house.bring(role=role)
    page = house.get("/updates", role).text
    if role in UNIT_KEEPERS:
        assert answer.status_code == 303, answer.text
        assert VERSION in page
        assert any(f"Update {VERSION}" in each for each in house.acts())
    else:
        assert answer.status_code == 403
        assert "No update is kept here." in page
        assert "Bring it" not in page
        assert house.post("/updates", role).status_code == 403


def test_a_piece_from_elsewhere_or_out_of_turn_is_refused(house: House) -> None:
    assert house.piece(0, b"hsqs", Role.OPERATOR, key="not ours").status_code == 403
    assert house.piece(0, bytes(PIECE + 1), Role.OPERATOR).status_code == 413
    assert house.piece(PIECE, b"more", Role.OPERATOR).json() == {
        "error": "The file did not come as one piece; begin again."
    }
    assert house.post("/updates").status_code == 409
    assert house.get("/updates").text.count("data-update") == 0


def test_a_file_that_is_no_update_is_one_sentence(house: House) -> None:
    answer = house.bring(b"PK" + bytes(9000))
    assert answer.status_code == 409
    assert "not a signed update" in answer.text


def test_two_people_start_it_and_the_page_shows_each_table(house: House) -> None:
    house.started()
    rollouts = house.manager.rollouts
    assert rollouts.progress is not None
    number = rollouts.progress.number
    page = house.get("/updates", Role.AUDITOR).text
    assert f"Roll-out {number}: {VERSION}" in page
    assert "offered; no answer yet" in page
    assert "not offered yet" in page
    assert "/corrections/stop-roll-out" not in page
    offer = rollouts.offers("touch-2", "UF-touch-2")
    assert [each.version for each in offer] == [VERSION]
    assert rollouts.offers("touch-1", "UF-touch-1") == ()
    half = len(CONTENT) // 2
    rollouts.heard("touch-2", "UF-touch-2", ProgramReport(number, Step.FETCHING, half, ""), True)
    assert "is being fetched, 49&nbsp;%" in house.get("/updates").text.replace("50&", "49&")
    refused = ProgramReport(number, Step.REFUSED, 0, "not_trusted")
    rollouts.heard("touch-2", "UF-touch-2", refused, True)
    page = house.get("/updates").text
    assert "Halted" in page
    assert "It is not signed by somebody whom the unit trusts." in page
    assert any("is halted" in each for each in house.acts())
    stop = {"reason": "Wrong key.", "step": "sure", "password": PASSWORD}
    assert house.post("/corrections/stop-roll-out", **stop).status_code == 303
    assert rollouts.progress.state is State.STOPPED


def test_who_may_not_ask_starts_nothing(house: House) -> None:
    house.bring()
    (kept,) = house.manager.rollouts.shelf.all()  # type: ignore[union-attr]
    words = {"bundle": kept.digest, "first": "touch-2", "hold": "30"}
    for role in (Role.SUPERVISOR, Role.CAGE, Role.SURVEILLANCE, Role.AUDITOR):
        answer = house.post("/corrections/roll-out", role, **words, step="sure", password=PASSWORD)
        assert answer.status_code == 403, role
    for odd in ({"first": "nowhere"}, {"hold": "0"}, {"hold": "soon"}, {"then": "-1"}):
        assert house.post("/corrections/roll-out", **words | odd).status_code == 409, odd
    for many in ("1 1 1 1 1 1 1 1 1", "5"):  # more than there are tables is all of them
        assert house.post("/corrections/roll-out", **words, then=many).status_code == 200


def test_the_units_page_shows_the_last_ten_changes_of_its_program(house: House) -> None:
    for number in range(12):
        result = ROLLED_BACK if number == 11 else UPDATED
        change = Change(1_790_000_000, f"0.{number}.0", f"0.{number + 1}.0", result, "", ROLLOUT)
        house.books.say("touch-1", events.Service("program-change", "", change.line()))
    page = house.get("/units").text
    assert page.count(", by roll-out: ") == 10
    assert "0.11.0 -&gt; 0.12.0, by roll-out: rolled_back" in page
    assert "0.1.0 -&gt; 0.2.0" not in page
    codes = [each.code for each in house.manager.book.alarms.newest(2)]
    assert codes == ["PROGRAM_BACK", "PROGRAM"]
