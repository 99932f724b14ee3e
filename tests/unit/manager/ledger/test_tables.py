"""A table's settings as its unit gets them, and the unit that may speak for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.ledger.corrections.reasons import StopReason
from manager.ledger.corrections.term_changes import resume, set_limit, suspend
from manager.ledger.errors import LedgerError
from manager.ledger.table_authority import NOBODY
from tests.kit.pretend_books import TERMS, TWO, Books, document, game

TABLE, OTHER = "touch-1", "touch-2"
STOP = StopReason.HOUSE_DECISION


@pytest.fixture
def opened(books: Books) -> Books:
    """Two tables, each with a jackpot of its own."""
    books.open(document(jackpots={"main": TERMS}))
    other = document(OTHER, jackpots={"second": TERMS}, games={"A": game(top="second")})
    books.open(other, OTHER)
    return books


def test_a_table_is_added_once(opened: Books) -> None:
    tables = opened.manager.book.tables
    assert tables.ids() == [TABLE, OTHER]
    settings = tables.settings_of(TABLE)
    assert settings is not None
    with pytest.raises(LedgerError, match="Table touch-1 is known already"):
        tables.add(settings, "UF-9")
    assert tables.settings_of("none") is None
    with pytest.raises(LedgerError, match="There is no table none"):
        tables.rules("none")


def test_a_game_goes_by_the_name_that_it_was_given(opened: Books) -> None:
    tables = opened.manager.book.tables
    settings = tables.settings_of(TABLE)
    assert settings is not None
    with opened.store.transaction():
        tables.add(replace(settings, table_id="t3"), "UF-t3", {"A": "Four Card"})
        tables.add(replace(settings, table_id="t4"), "UF-t4")
    assert tables.games_of("t3") == {"A": "Four Card"}
    assert tables.games_of("t4") == {"A": "four-card"}


def test_a_unit_goes_by_its_boards_serial_or_by_its_tables_id(opened: Books) -> None:
    """Catches: a unit that speaks for another table, or a new one that is not found."""
    tables = opened.manager.book.tables
    for unit_id, table_id in ((f"UF-{TABLE}", TABLE), (TABLE, TABLE), (f"UF-{OTHER}", OTHER)):
        assert tables.table_of_unit(unit_id) == table_id
    assert tables.table_of_unit("UF-t3") is None
    assert tables.table_of_unit("") is None
    assert (tables.board_serial_of(OTHER), tables.board_serial_of("t3")) == (f"UF-{OTHER}", "")
    third = document("t3", jackpots={"third": TERMS}, games={"A": game(top="third")})
    opened.open(third, "t3")
    assert tables.table_of_unit("UF-t3") == "t3"


def test_the_settings_follow_how_the_jackpots_stand(opened: Books) -> None:
    """Catches: a table that plays on a suspended meter, or stays stopped when it is on again."""
    tables, book = opened.manager.book.tables, opened.manager.book
    first, other = tables.rules(TABLE), tables.rules(OTHER)
    assert first.settings.stop_sentence == ""
    assert tables.rules(TABLE) is first, "made once, as long as nothing changes"
    suspend(book, "main", STOP, TWO)
    stopped = tables.rules(TABLE)
    assert stopped.settings.stop_sentence == "Main is suspended. No game can start."
    assert tables.rules(OTHER) is other
    assert tables.was_in_force(TABLE, stopped.settings_digest)
    assert tables.was_in_force(TABLE, first.settings_digest)
    assert not tables.was_in_force(OTHER, stopped.settings_digest)
    resume(book, "main", TWO)
    assert tables.rules(TABLE).settings == first.settings
    set_limit(book, "main", 900_000, TWO)
    limited = tables.rules(TABLE)
    assert limited.jackpots["main"].limit_cents == 900_000
    assert limited.settings_digest != first.settings_digest


def test_other_people_or_settings_count_at_once(opened: Books) -> None:
    tables = opened.manager.book.tables
    before = tables.rules(TABLE)
    assert tables.authority_of(TABLE) == before.authority
    assert tables.authority_of("none") == NOBODY
    with opened.store.transaction():
        tables.keep_authority(TABLE, replace(before.authority, confirm_from_cents=777))
    assert tables.rules(TABLE).authority.confirm_from_cents == 777
    with opened.store.transaction():
        tables.replace(replace(before.settings, dealer_limit_cents=1))
    assert tables.rules(TABLE).settings.dealer_limit_cents == 1
    assert tables.rules(TABLE).authority.confirm_from_cents == 777
