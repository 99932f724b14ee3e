"""Accounts: made by code, named once, closed for good, and every act in the chain."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from manager.audit.audit import audit
from manager.ledger.engines.relations import PEOPLE
from manager.ledger.store.store import Store
from manager.people.errors import NotAllowed, NotKnown
from manager.people.first_code import FirstCode
from manager.people.passwords import check_password
from manager.people.people import CODE_VALID_MS, People
from manager.people.roles import Role
from tests.kit.people import ADMIN, NOW_MS, PASSWORD, add_people, quick_passwords, small_store


class House:
    def __init__(self) -> None:
        self.now_ms = NOW_MS
        self.store: Store = small_store(lambda: self.now_ms)
        self.passwords = quick_passwords()
        self.people = People(self.store, self.passwords)
        self.verifier = self.passwords.verifier(PASSWORD)

    def acts(self) -> list[str]:
        kept = [recorded for recorded, _ in self.store.recorded() if recorded.kind == "ACT"]
        return [json.loads(each.detail_text)["act"] for each in kept]


@pytest.fixture
def house() -> Iterator[House]:
    house = House()
    yield house
    house.store.close()


def test_the_first_admin_comes_in_by_the_printed_code_and_only_once(house: House) -> None:
    """Catches: a default password, and a first page that stays open."""
    first = FirstCode(house.people, house.passwords)
    with pytest.raises(NotKnown):
        first.use("AAAA-AAAA-AAAA", "Addie", house.verifier)
    code = first.read_out()
    person = first.use(code.lower().replace("-", " "), "Addie", house.verifier)
    assert person.role is Role.ADMIN
    assert not first.is_wanted
    with pytest.raises(NotKnown):
        first.use(code, "Mallory", house.verifier)
    with pytest.raises(NotKnown, match="admin already"):
        first.read_out()


def test_a_code_is_good_once_and_for_a_day(house: House) -> None:
    add_people(house.people)
    admin = house.people.find(ADMIN)
    assert admin is not None
    _, code = house.people.add(admin, "Bob", Role.CAGE)
    with pytest.raises(NotKnown):
        house.people.choose_password("K3QX-9M2T-WH4P", "Bob", house.verifier)
    bob = house.people.choose_password(code, "bob", house.verifier)
    assert bob.may_sign_in
    assert house.passwords.fits(PASSWORD, bob.verifier)
    with pytest.raises(NotKnown):
        house.people.choose_password(code, "Bob", house.verifier)
    late = house.people.new_code(admin, "Bob")
    house.now_ms += CODE_VALID_MS
    with pytest.raises(NotKnown):
        house.people.choose_password(late, "Bob", house.verifier)


def test_a_new_code_ends_the_old_password(house: House) -> None:
    bob = add_people(house.people, Bob="cage")["Bob"]
    admin = house.people.find(ADMIN)
    assert admin is not None
    house.people.new_code(admin, bob.name)
    found = house.people.find("Bob")
    assert found is not None
    assert not found.may_sign_in


@pytest.mark.parametrize("twin", ["BOB", "bоb", " Bob ", "B-o-b", "Bób"])
def test_a_second_spelling_is_no_second_person(house: House, twin: str) -> None:
    """Catches: an account per spelling, and with it a second person who is the first one."""
    add_people(house.people, Bob="operator")
    admin = house.people.find(ADMIN)
    assert admin is not None
    with pytest.raises(NotAllowed, match="could be taken for Bob"):
        house.people.add(admin, twin, Role.EXECUTIVE)
    house.people.close(admin, "Bob")
    with pytest.raises(NotAllowed, match="could be taken for Bob"):  # nor after Bob has left
        house.people.add(admin, twin, Role.EXECUTIVE)


def test_somebody_can_always_let_others_in(house: House) -> None:
    add_people(house.people, Bob="operator")
    admin = house.people.find(ADMIN)
    assert admin is not None
    for act in (house.people.close, house.people.new_code):
        with pytest.raises(NotAllowed, match="only admin"):
            act(admin, ADMIN)
    with pytest.raises(NotAllowed, match="only admin"):
        house.people.give_role(admin, ADMIN, Role.CAGE)
    house.people.give_role(admin, "Bob", Role.ADMIN)
    assert house.people.close(admin, ADMIN).closed


def test_every_act_is_in_the_chain_and_the_books_are_sound(house: House) -> None:
    add_people(house.people, Bob="operator")
    admin = house.people.find(ADMIN)
    assert admin is not None
    house.people.give_role(admin, "Bob", Role.CAGE)
    house.people.code_by_hand("Bob")
    house.people.close(admin, "Bob")
    wanted = ["first-admin", "add-person", "password", "role", "code-by-hand", "close-person"]
    assert house.acts() == wanted
    assert audit(house.store).sound


def test_neither_password_nor_code_is_in_the_ledger(house: House) -> None:
    add_people(house.people)
    admin = house.people.find(ADMIN)
    assert admin is not None
    _, code = house.people.add(admin, "Bob", Role.CAGE)
    kept = repr(house.store.find(PEOPLE, {}))
    assert code not in kept
    assert PASSWORD not in kept
    # Without the key beside the ledger, the right password does not even fit.
    assert not quick_passwords(bytes(31) + b"x").fits(PASSWORD, house.verifier)


@pytest.mark.parametrize("password", ["short", "a" * 20, "x" * 300, "Bob Bob Bob 1"])
def test_a_poor_password_is_refused(password: str) -> None:
    with pytest.raises(NotKnown):
        check_password(password, "Bob")
