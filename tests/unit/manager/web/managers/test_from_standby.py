"""The owner's end of what a manager that stands by hands over.

Mutations this catches: a mark that is not compared, a password that is not asked for, a role that
is not looked at, tries that are not counted, and any of it without its entry.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import pytest

from manager.people.handing_over import (
    MOVE,
    PATH,
    PROOF,
    SIGN_IN,
    SIGN_OUT,
    UNREADABLE,
    Answer,
    HandedOver,
)
from manager.people.signing import TRIES
from manager.web.app import build
from tests.kit.fake_floor import FakeFloor
from tests.kit.page_house import HOST, PageHouse
from tests.kit.people import PASSWORD, access_to, quick_passwords, small_store

KEY = quick_passwords()
OLGA = HandedOver(SIGN_IN, "south", "Olga", "192.0.2.7", PASSWORD)
MOVED = replace(OLGA, what=MOVE, group="stud", to="south")


class House(PageHouse):
    def __init__(self) -> None:
        super().__init__(Cora="cage")
        self.floor = FakeFloor()
        self.app = build(self.manager.view, self.access, floor=self.floor)

    def hand_over(self, body: bytes, mark: str | None = None, **headers: str) -> httpx.Response:
        shown = {PROOF: KEY.manager_mark(body) if mark is None else mark}

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
                return await client.post(PATH, content=body, headers=shown | headers)

        return asyncio.run(asked())

    def say(self, handed: HandedOver) -> Answer:
        answer = self.hand_over(handed.encode())
        assert answer.status_code == 200, answer.text
        return Answer.decode(answer.content)

    def acts(self) -> list[str]:
        query = "SELECT sentence FROM transactions WHERE kind = 'ACT' ORDER BY number"
        return [row[0] for row in self.manager.store.rows(query)]


@pytest.fixture
def house() -> House:
    return House()


def test_a_right_password_is_written_down_with_where_it_was_typed(house: House) -> None:
    assert house.say(replace(OLGA, name="olga")) == Answer(True, "Olga")
    where = "on the pages of south, which stands by."
    assert house.acts()[-1] == f"Olga signed in at 192.0.2.7, {where}"
    assert house.say(replace(OLGA, what=SIGN_OUT, password="")).done
    assert house.acts()[-1] == f"Olga signed out {where}"


def test_a_wrong_password_is_an_entry_and_says_no_more(house: House) -> None:
    wrong = house.say(replace(OLGA, password="not the password"))
    assert wrong == house.say(replace(OLGA, name="Nobody Here"))
    assert (wrong.done, wrong.sentence) == (False, "The name or the password is wrong.")
    said = "A wrong password was typed for Olga at 192.0.2.7, on the pages of south."
    assert house.acts()[-1] == said
    assert not house.say(replace(OLGA, what=SIGN_OUT, name="Nobody Here")).done


def test_tries_at_all_managers_are_counted_as_one(house: House) -> None:
    """Catches: a pace for each manager, by which each is a few more guesses."""
    for number in range(TRIES):
        house.say(replace(OLGA, manager=f"manager {number}", password="not the password"))
    told = house.say(OLGA)
    assert (told.done, told.wait_s) == (False, 15)
    form = {"name": "Olga", "password": PASSWORD}
    here = house._send("/sign-in", form, {}, {"origin": f"http://{HOST}"})
    assert here.status_code == 429


def test_a_move_asks_for_the_password_the_role_and_a_group_that_is_there(house: House) -> None:
    refused = (
        (replace(MOVED, password="not the password"), "password is wrong"),
        (replace(MOVED, name="Cora"), "Cora is cage and may not move a group."),
        (replace(MOVED, group="omaha"), "There is no group"),
        (replace(MOVED, to="west"), "No manager west stands by"),
    )
    for handed, said in refused:
        answer = house.say(handed)
        assert (answer.done, said in answer.sentence) == (False, True), answer
    assert house.floor.moves == []
    assert house.say(MOVED) == Answer(True, "north was asked to hand over to south.")
    assert house.floor.moves == [("stud", "south")]
    assert house.acts()[-1] == "Olga asks to move stud to south, on the pages of south."


@pytest.mark.parametrize("mark", ["", "0" * 64, KEY.manager_mark(b"something else")])
def test_nobody_but_a_manager_hands_anything_over(house: House, mark: str) -> None:
    before = house.acts()
    answer = house.hand_over(OLGA.encode(), mark)
    assert (answer.status_code, "Only a manager" in answer.text) == (403, True)
    # Nor with the mark of another house's key.
    other = quick_passwords(bytes([1] * 32)).manager_mark(OLGA.encode())
    assert house.hand_over(OLGA.encode(), other).status_code == 403
    assert house.acts() == before


def test_a_page_of_somebody_else_cannot_even_with_the_mark(house: House) -> None:
    answer = house.hand_over(OLGA.encode(), origin="http://evil.example")
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b"nonsense", b"[" * 5000, OLGA.encode().replace(b'"Olga"', b"7")],
)
def test_what_no_manager_sends_is_refused(house: House, body: bytes) -> None:
    answer = house.hand_over(body)
    assert (answer.status_code, answer.text) == (400, UNREADABLE)


def test_too_much_and_an_unknown_wish_are_refused(house: House) -> None:
    assert house.hand_over(b" " * 20_000).status_code == 413
    assert house.say(replace(OLGA, what="pay")) == Answer(False, UNREADABLE)


def test_before_the_first_admin_it_says_where_to_begin() -> None:
    house = House()
    house.access = access_to(small_store())  # without accounts
    house.app = build(house.manager.view, house.access, floor=FakeFloor())
    assert "Make the first admin on the owner's pages" in house.say(OLGA).sentence


def test_a_manager_that_serves_alone_takes_nothing_over() -> None:
    house = House()
    house.app = build(house.manager.view, house.access)
    assert house.hand_over(OLGA.encode()).status_code == 404


def test_a_password_is_in_no_picture_of_what_was_handed_over() -> None:
    assert PASSWORD not in repr(OLGA)
