"""A real second person: another account decides, in time, or nothing happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from manager.audit.audit import audit
from manager.ledger.engines.places import engine_at
from manager.ledger.errors import LedgerError
from manager.ledger.store.entries import EventSource
from manager.ledger.store.store import Store
from manager.people.errors import NotAllowed
from manager.people.people import People
from manager.people.roles import COMMANDS, Role, may_ask, may_decide, needs_two
from manager.people.two_people import WAITS_MS, TwoPeople
from tests.kit.people import add_people, quick_passwords
from tests.kit.pretend_books import Books, document

ADD = {"command": "adjust", "jackpot": "main", "add": "5.00", "reason": "top-up"}
TAKE = {"command": "adjust", "jackpot": "main", "take": "5.00", "reason": "malfunction"}


class House:
    def __init__(self, books: Books) -> None:
        self.books = books
        books.open(document())
        manager = books.manager
        self.people = People(manager.store, quick_passwords())
        self.told: list[Mapping[str, str]] = []
        self.two = TwoPeople(
            manager.store,
            self.people,
            manager.booking.book,
            self.told.append,
            manager.shown_cents,
        )
        made = add_people(
            self.people, Ann="operator", Bob="supervisor", Cy="operator", Eve="auditor"
        )
        self.ann, self.bob, self.cy, self.eve = made.values()

    @property
    def shown(self) -> int:
        return self.books.manager.shown_cents()["main"]


@pytest.fixture
def house(books: Books) -> House:
    return House(books)


def test_a_reduction_waits_for_another_account(house: House) -> None:
    before = house.shown
    said = house.two.ask(house.ann, TAKE)
    assert "waits for a second person" in said
    assert house.shown == before
    assert house.told == []
    sentence = house.two.approve(house.bob, 1)
    assert house.shown == before - 500
    assert "is adjusted" in sentence
    kept = house.two.get(1)
    assert (kept.state, kept.asked_by, kept.decided_by) == ("approved", "Ann", "Bob")
    assert house.told[0]["second"] == "Bob"
    assert audit(house.books.store).sound


def test_nobody_is_their_own_second_person(house: House) -> None:
    """Catches: an approval by whoever asked, under any spelling and any role."""
    house.two.ask(house.ann, TAKE)
    admin = house.people.find("Addie Admin")
    assert admin is not None
    promoted = house.people.give_role(admin, "Ann", Role.EXECUTIVE)
    with pytest.raises(NotAllowed, match="two different people"):
        house.two.approve(promoted, 1)
    with pytest.raises(NotAllowed, match="two different people"):
        house.two.ask_together(promoted, promoted, TAKE)


@pytest.mark.parametrize("spelled", ["ANN", "Аnn", "A n n"])
def test_another_spelling_is_nobody_else(house: House, spelled: str) -> None:
    """No such account can be made; if one came from an old ledger, it would still be one person.

    Catches: names compared letter by letter.
    """
    house.two.ask(house.ann, TAKE)
    twin = replace(house.bob, name=spelled)
    with pytest.raises(NotAllowed, match="two different people"):
        house.two.approve(twin, 1)
    with pytest.raises(NotAllowed, match="two different people"):
        house.two.refuse(twin, 1)
    assert house.two.get(1).state == "waiting"


@pytest.mark.parametrize("name", ["cy", "eve"])
def test_a_role_that_may_not_decide_does_not(house: House, name: str) -> None:
    house.two.ask(house.ann, TAKE)
    with pytest.raises(NotAllowed, match="may not decide"):
        house.two.approve(getattr(house, name), 1)
    with pytest.raises(NotAllowed, match="may not decide"):
        house.two.refuse(getattr(house, name), 1)


def test_a_role_that_may_not_ask_does_not(house: House) -> None:
    with pytest.raises(NotAllowed, match="may not ask"):
        house.two.ask(house.eve, ADD)
    with pytest.raises(NotAllowed, match="may not ask"):
        house.two.preview(house.eve, ADD)


def test_a_request_is_decided_once(house: House) -> None:
    """Catches: a second click that books the same correction again."""
    house.two.ask(house.ann, TAKE)
    house.two.approve(house.bob, 1)
    after = house.shown
    for act in (house.two.approve, house.two.refuse):
        with pytest.raises(NotAllowed, match="approved already"):
            act(house.bob, 1)
    with pytest.raises(NotAllowed, match="approved already"):
        house.two.withdraw(house.ann, 1)
    assert house.shown == after


def test_a_request_expires(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.two.ask(house.ann, TAKE)
    later = house.books.store.now_ms + WAITS_MS
    monkeypatch.setattr(house.books.store, "_clock_ms", lambda: later)
    assert house.two.waiting() == []
    with pytest.raises(NotAllowed, match="expired"):
        house.two.approve(house.bob, 1)
    assert house.two.expire() == 1
    assert house.two.get(1).state == "expired"
    assert house.two.expire() == 0
    assert house.shown == house.books.manager.shown_cents()["main"]


def test_refused_and_taken_back(house: House) -> None:
    before = house.shown
    house.two.ask(house.ann, TAKE)
    house.two.ask(house.ann, TAKE)
    house.two.refuse(house.bob, 1, "Not today.")
    with pytest.raises(NotAllowed, match="not yours"):
        house.two.withdraw(house.cy, 2)
    house.two.withdraw(house.ann, 2)
    assert [house.two.get(number).state for number in (1, 2)] == ["refused", "withdrawn"]
    assert house.shown == before


def test_one_person_is_enough_to_add_house_money_and_to_stop(house: House) -> None:
    before = house.shown
    assert "is adjusted" in house.two.ask(house.ann, ADD)
    assert house.shown == before + 500
    assert house.told[0]["operator"] == "Ann"
    stop = {"command": "suspend", "jackpot": "main", "reason": "malfunction"}
    assert "is suspended" in house.two.ask(house.ann, stop)


def test_a_preview_changes_nothing_and_tells_the_figures(house: House) -> None:
    before, tail = house.shown, house.books.store.tail()
    preview = house.two.preview(house.ann, TAKE)
    assert preview.meters == (("main", before, before - 500),)
    assert "is adjusted" in preview.sentence
    assert (house.shown, house.books.store.tail()) == (before, tail)


def test_what_cannot_be_done_waits_for_nobody(house: House) -> None:
    with pytest.raises(LedgerError, match="stands on meter"):
        house.two.ask(house.ann, TAKE | {"take": "99999999.00"})
    assert house.two.waiting() == []


def test_what_is_refused_at_the_approval_leaves_the_request_waiting(house: House) -> None:
    """All or nothing: a correction that fails marks nothing as approved."""
    house.two.ask(house.ann, TAKE | {"take": "900.00"})
    house.two.ask_together(house.ann, house.bob, TAKE | {"take": "900.00"})
    with pytest.raises(LedgerError):
        house.two.approve(house.bob, 1)
    assert house.two.get(1).state == "waiting"


def test_requests_outlive_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    house = House(Books(path))
    house.two.ask(house.ann, TAKE)
    now_ms = house.books.store.now_ms
    house.books.store.close()
    store = Store(engine_at(path), lambda: now_ms, path)
    again = TwoPeople(store, People(store, quick_passwords()), lambda request: "Done.", print)
    assert [(each.number, each.asked_by) for each in again.waiting()] == [(1, "Ann")]
    assert again.approve(house.bob, 1) == "Done."
    assert audit(store).sound
    store.close()


def test_replacing_a_locked_unit_waits_for_a_second_person(house: House) -> None:
    """Catches: a form that does it for one person, or that only says it needs two."""
    units, asked = house.books.manager.units, {"command": "adopt-journal", "unit": "UF-touch-1"}
    asked["reason"] = "its disk was copied"
    assert not house.two.needs_two(house.ann, asked)
    with house.books.store.transaction():
        units.lock(units.get("UF-touch-1"), "It forked.", EventSource("UF-touch-1"))
    assert house.two.needs_two(house.ann, asked)
    assert "waits for a second person" in house.two.ask(house.ann, asked)
    assert units.successions.permitted_table("UF-touch-1") == ""
    house.two.approve(house.bob, 1)
    assert units.successions.permitted_table("UF-touch-1") == "touch-1"


def test_each_command_has_somebody_who_asks_and_another_who_decides() -> None:
    for command in COMMANDS:
        askers = [role for role in Role if may_ask(role, command)]
        deciders = [role for role in Role if may_decide(role, command)]
        assert askers, command
        assert deciders, command
        assert Role.AUDITOR not in askers + deciders
    assert not needs_two(ADD)
    assert needs_two(TAKE)
    assert not may_ask(Role.ADMIN, "adjust")
