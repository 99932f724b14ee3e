"""Where a ledger is, told from one line of text."""

from __future__ import annotations

import pytest

from manager.ledger.engines.places import GROUP_CHARACTERS_MAX, database_of, is_database, spoken
from manager.ledger.errors import StoreError

URL = "postgresql://host/db"


def test_a_path_and_an_address_are_told_apart() -> None:
    assert is_database(URL)
    assert is_database("postgres://host/db")
    assert not is_database("/var/lib/ledger.sqlite")
    assert not is_database("ledger.sqlite#postgresql://")


@pytest.mark.parametrize(
    ("place", "found"),
    [
        (URL, (URL, "underfelt")),
        (f"{URL}#", (URL, "underfelt")),
        (f"{URL}#slots", (URL, "underfelt_slots")),
        (f"{URL}#g_2", (URL, "underfelt_g_2")),
        (f"{URL}#{'g' * GROUP_CHARACTERS_MAX}", (URL, "underfelt_" + "g" * GROUP_CHARACTERS_MAX)),
    ],
)
def test_each_group_has_a_schema_of_its_own(place: str, found: tuple[str, str]) -> None:
    assert database_of(place) == found


@pytest.mark.parametrize(
    "group", ["G", "2g", "_g", "g-2", "g;drop", "g" * (GROUP_CHARACTERS_MAX + 1), "g\n"]
)
def test_a_name_that_could_say_something_to_the_database_is_refused(group: str) -> None:
    """Catches: a group's name put into SQL as it was typed."""
    with pytest.raises(StoreError, match="A group's name"):
        database_of(f"{URL}#{group}")


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("/var/lib/ledger.sqlite", "/var/lib/ledger.sqlite"),
        (URL, URL),
        ("postgresql://ann:secret@host:1,other:2/db#stud", "postgresql://host:1,other:2/db#stud"),
        ("postgresql://host/db?user=ann&password=secret", URL),
    ],
)
def test_a_sentence_names_a_ledger_without_a_password(place: str, named: str) -> None:
    """Catches: a password in the log of a second manager that finds the ledger in use."""
    assert spoken(place) == named
