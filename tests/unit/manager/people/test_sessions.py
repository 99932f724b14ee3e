"""Sessions end by themselves, and tries to sign in are paced."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from manager.ledger.store.store import Store
from manager.people.errors import NotKnown, TooSoon
from manager.people.people import People
from manager.people.roles import Role
from manager.people.sessions import IDLE_MAX_S, PER_PERSON_MAX, SHIFT_MAX_S, Sessions
from manager.people.signing import TRIES, TRY_AGAIN_S, SignIn, Typed
from tests.kit.people import ADMIN, PASSWORD, add_people, quick_passwords, small_store


class House:
    def __init__(self) -> None:
        self.now_s = 0.0
        self.store: Store = small_store()
        passwords = quick_passwords()
        self.people = People(self.store, passwords)
        self.bob = add_people(self.people, Bob="operator")["Bob"]
        self.sessions = Sessions(self.people, lambda: self.now_s)
        self.sign_in = SignIn(self.people, passwords, lambda: self.now_s)

    def typed(self, password: str = PASSWORD, name: str = "Bob", address: str = "") -> None:
        asyncio.run(self.sign_in.check(Typed(name, password, address)))

    def acts(self) -> list[str]:
        kept = [recorded for recorded, _ in self.store.recorded() if recorded.kind == "ACT"]
        return [each.sentence for each in kept]


@pytest.fixture
def house() -> Iterator[House]:
    house = House()
    yield house
    house.store.close()


def test_a_pause_ends_a_session_and_acts_prolong_it(house: House) -> None:
    token = house.sessions.begin(house.bob)
    house.now_s += IDLE_MAX_S - 1
    assert house.sessions.find(token) is not None
    house.now_s += IDLE_MAX_S - 1
    assert house.sessions.find(token) is not None
    house.now_s += IDLE_MAX_S
    assert house.sessions.find(token) is None


def test_a_live_page_keeps_nobody_signed_in(house: House) -> None:
    """Catches: an open screen whose stream counts as somebody sitting there."""
    token = house.sessions.begin(house.bob)
    for _ in range(IDLE_MAX_S // 60):
        house.now_s += 60
        house.sessions.find(token, is_an_act=False)
    assert house.sessions.find(token) is None


def test_a_shift_ends_every_session(house: House) -> None:
    token = house.sessions.begin(house.bob)
    while house.now_s < SHIFT_MAX_S - 60:
        house.now_s += 60
        assert house.sessions.find(token) is not None
    house.now_s += 60
    assert house.sessions.find(token) is None


@pytest.mark.parametrize("act", ["close", "role", "code"])
def test_who_is_no_longer_who_they_were_is_out_at_once(house: House, act: str) -> None:
    token, admin = house.sessions.begin(house.bob), house.people.find(ADMIN)
    assert admin is not None
    if act == "close":
        house.people.close(admin, "Bob")
    elif act == "role":
        house.people.give_role(admin, "Bob", Role.AUDITOR)
    else:
        house.people.new_code(admin, "Bob")
    assert house.sessions.find(token) is None


def test_one_person_has_few_sessions(house: House) -> None:
    tokens = []
    for _ in range(PER_PERSON_MAX + 1):
        house.now_s += 1
        tokens.append(house.sessions.begin(house.bob))
    assert [house.sessions.find(token) is not None for token in tokens] == [
        False,
        *[True] * PER_PERSON_MAX,
    ]


def test_a_token_is_nothing_that_memory_holds(house: House) -> None:
    token = house.sessions.begin(house.bob)
    assert token not in repr(house.sessions._open)
    assert house.sessions.find("") is None
    house.sessions.end(token)
    assert house.sessions.find(token) is None


def test_a_wrong_password_is_an_act_and_says_no_more(house: House) -> None:
    with pytest.raises(NotKnown) as wrong:
        house.typed("not the password", address="192.0.2.9")
    with pytest.raises(NotKnown) as unknown:
        house.typed("not the password", name="Nobody Here")
    assert str(wrong.value) == str(unknown.value)
    assert house.acts()[-1] == "A wrong password was typed for Bob at 192.0.2.9."


def test_tries_are_paced_and_the_right_password_waits_as_well(house: House) -> None:
    """Catches: a robot that is listened to, and a wait that tells a right guess from a wrong."""
    for _ in range(TRIES):
        with pytest.raises(NotKnown):
            house.typed("wrong password")
    with pytest.raises(TooSoon):
        house.typed()
    house.now_s += TRY_AGAIN_S
    house.typed()
    house.typed()  # whoever was right starts anew


def test_an_account_that_was_closed_meanwhile_is_out(house: House) -> None:
    admin = house.people.find(ADMIN)
    assert admin is not None
    house.people.close(admin, "Bob")
    with pytest.raises(NotKnown):
        house.typed()
