"""Cards and techs in the browser: a number is typed once and kept nowhere, and money takes two."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from manager.ledger.engines.relations import REQUESTS, TABLE_AUTHORITY, TRANSACTIONS
from manager.ledger.errors import LedgerError
from manager.people.roles import Role
from manager.web.people.table_people import account_of
from protocol.numbers import ROLE_SUPERVISOR, SWIPE_VOID
from protocol.secrets.tech_pin import is_pin
from tests.kit.page_house import PageHouse
from tests.kit.people import PASSWORD, add_people
from tests.kit.pretend_books import document
from tests.kit.pretend_units import SUPERVISOR_ACCOUNT

ACCOUNT = "6012345000000999"
PIN = "739105"
CARD = {"act": "add-card", "label": "SUPERVISOR-9", "role": "supervisor", "number": ACCOUNT}
TECH = {"act": "add-tech", "label": "Tina", "pin": PIN, "pin-again": PIN}


@pytest.fixture
def house() -> Iterator[PageHouse]:
    house = PageHouse()
    house.books.start("touch-1", 1, "1A")
    yield house
    house.books.store.close()


def act(house: PageHouse, form: dict[str, str], who: str = "Olga") -> httpx.Response:
    return house.ask(who, "/cards", form | {"password": PASSWORD})


def approve(house: PageHouse, number: int = 1) -> None:
    wanted = {"act": "approve", "password": PASSWORD}
    assert house.ask("Emil", f"/requests/{number}", wanted).status_code == 303


def role_of(house: PageHouse, account: str) -> int:
    """What a swipe of this card counts as at the table, 0 for nothing."""
    return house.books.swipe("touch-1", 1, account, SWIPE_VOID).role


def techs(house: PageHouse) -> dict[str, tuple[bytes, bytes]]:
    settings = house.manager.book.tables.rules("touch-1").settings
    return {label: (salt, hashed) for label, salt, hashed in settings.techs}


def test_a_card_counts_only_after_a_second_person_agreed(house: PageHouse) -> None:
    """Catches: a card that one person alone lets confirm wins."""
    assert act(house, CARD).status_code == 303
    assert role_of(house, ACCOUNT) == 0
    page = house.ask("Emil", "/requests").text
    assert "Card SUPERVISOR-9 counts as SUPERVISOR at touch-1." in page
    assert "Add a card" in page
    approve(house)
    assert role_of(house, ACCOUNT) == ROLE_SUPERVISOR
    assert "SUPERVISOR-9" in house.ask("Olga", "/cards").text


def test_a_number_is_kept_nowhere_and_its_key_is_on_no_page(house: PageHouse) -> None:
    """Catches: a number in a row, an entry or a page, and a key where people read."""
    act(house, CARD)
    approve(house)
    act(house, TECH)
    tables = (REQUESTS, TABLE_AUTHORITY, TRANSACTIONS)
    kept = repr([house.books.store.find(relation, {}) for relation in tables])
    assert ACCOUNT not in kept
    assert PIN not in kept
    cards = house.manager.book.tables.authority_of("touch-1").cards
    key = next(card.key.hex() for card in cards if card.label == "SUPERVISOR-9")
    assert key in kept
    for path in ("/cards", "/requests", "/tables/touch-1", "/alarms"):
        page = house.ask("Emil", path).text
        assert key not in page, path
        assert ACCOUNT not in page, path


def test_a_refused_form_says_why_and_forgets_the_number(house: PageHouse) -> None:
    answer = act(house, CARD | {"number": "12 34 card"})
    assert answer.status_code == 409
    assert "no card&#39;s number" in answer.text
    assert "12 34" not in answer.text
    assert 'value="SUPERVISOR-9"' in answer.text


def test_one_card_is_not_two(house: PageHouse) -> None:
    """Catches: a known card that gets a second role under another name."""
    answer = act(house, CARD | {"number": SUPERVISOR_ACCOUNT, "table": "touch-1"})
    assert "This card is known at touch-1 already, as SUPERVISOR." in answer.text
    answer = act(house, CARD | {"number": SUPERVISOR_ACCOUNT})
    assert "This card is known at every table already." in answer.text
    answer = act(house, CARD | {"label": "SUPERVISOR"})
    assert "A card is called SUPERVISOR at touch-1 already." in answer.text
    assert house.access.two_people.waiting() == []


def test_a_card_is_retired_by_one_person_and_put_back_by_two(house: PageHouse) -> None:
    assert role_of(house, SUPERVISOR_ACCOUNT) == ROLE_SUPERVISOR
    act(house, {"act": "retire-card", "label": "SUPERVISOR"})
    verdict = house.books.swipe("touch-1", 1, SUPERVISOR_ACCOUNT, SWIPE_VOID)
    assert (verdict.role, verdict.sentence) == (0, "This card is disabled.")
    act(house, {"act": "change-card", "label": "SUPERVISOR", "role": "supervisor"})
    assert role_of(house, SUPERVISOR_ACCOUNT) == 0
    approve(house)
    assert role_of(house, SUPERVISOR_ACCOUNT) == ROLE_SUPERVISOR


def test_who_retires_the_last_card_is_told(house: PageHouse) -> None:
    act(house, {"act": "retire-card", "label": "SUPERVISOR"})
    act(house, {"act": "retire-card", "label": "EXECUTIVE"})
    assert "No card is left at touch-1." in house.ask("Olga", "/alarms").text


def test_every_act_is_an_entry_with_its_people(house: PageHouse) -> None:
    act(house, CARD)
    approve(house)
    act(house, {"act": "retire-card", "label": "SUPERVISOR-9"})
    said = [row[6] for row in house.books.store.find(TRANSACTIONS, {"kind": "ACT"})]
    at = "SUPERVISOR-9 counts as SUPERVISOR at touch-1."
    assert f"Card {at} By Olga and Emil." in said
    assert "Card SUPERVISOR-9 counts no more at touch-1. By Olga." in said


def test_a_tech_gets_a_pin_another_one_and_none(house: PageHouse) -> None:
    digest = house.manager.book.tables.rules("touch-1").settings.digest()
    act(house, TECH)
    assert is_pin(PIN, *techs(house)["Tina"])
    # Other settings: the unit gets them anew.
    assert house.manager.book.tables.rules("touch-1").settings.digest() != digest
    act(house, {"act": "change-tech", "label": "Tina", "pin": "400400", "pin-again": "400400"})
    assert is_pin("400400", *techs(house)["Tina"])
    act(house, {"act": "retire-tech", "label": "Tina"})
    assert "Tina" not in techs(house)
    assert house.manager.book.tables.rules("touch-1").settings.digest() == digest


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"pin-again": "111111"}, "The two PINs differ."),
        ({"pin": "12", "pin-again": "12"}, "A PIN has 6 to 64 characters."),
        ({"table": "none-such"}, "There is no table none-such."),
        ({"label": ""}, "The name must"),
    ],
)
def test_what_is_wrong_with_a_tech_is_said(
    house: PageHouse, typed: dict[str, str], sentence: str
) -> None:
    assert sentence in act(house, TECH | typed).text
    assert techs(house) == {}


def test_the_file_does_not_bring_a_retired_card_back(house: PageHouse) -> None:
    """Catches: a restart that reads the cards from the table's file again."""
    act(house, {"act": "retire-card", "label": "SUPERVISOR"})
    act(house, TECH)
    house.books.open(document())
    assert role_of(house, SUPERVISOR_ACCOUNT) == 0
    assert "Tina" in techs(house)
    other = document().replace(SUPERVISOR_ACCOUNT, ACCOUNT)
    house.books.open(other)
    house.books.open(other)
    assert role_of(house, ACCOUNT) == 0
    alarms = house.manager.book.alarms.newest(20)
    told = [alarm for alarm in alarms if "They are not taken" in alarm.sentence]
    assert len(told) == 1


@pytest.mark.parametrize("role", [Role.CAGE, Role.AUDITOR, Role.SURVEILLANCE, Role.SUPERVISOR])
def test_who_may_not_add_a_card_does_not(house: PageHouse, role: Role) -> None:
    add_people(house.access.people, Nora=str(role))
    answer = act(house, CARD, "Nora")
    assert answer.status_code in (403, 409)
    assert house.access.two_people.waiting() == []
    assert 'id="add-card"' not in house.ask("Nora", "/cards").text


@pytest.mark.parametrize(
    "typed",
    [
        ACCOUNT,
        "6012 3450 0000 0999",
        f";{ACCOUNT}=991212345?",
        f"%B{ACCOUNT}^FLOOR/ANN^9912?;{ACCOUNT}=9912?8",
    ],
)
def test_a_number_is_typed_or_swiped(typed: str) -> None:
    assert account_of(typed) == ACCOUNT


@pytest.mark.parametrize("typed", ["", "ace", "1" * 20, f";{ACCOUNT}=99", "٣" * 16])
def test_what_is_no_number_is_refused(typed: str) -> None:
    with pytest.raises(LedgerError, match="no card's number"):
        account_of(typed)
