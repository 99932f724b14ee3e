"""A table's row and page, from real books."""

from __future__ import annotations

import pytest

from manager.ledger.alarm_causes import Severity
from manager.web.floor.tables import LastWins
from manager.web.words import SEVERITY_MARKS
from tests.kit.pretend_books import Books, document


def played() -> Books:
    books = Books()
    books.open(document())
    books.open(document("touch-2"), "touch-2")
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.start("touch-1", 2, "3A")
    return books


def test_a_row_has_the_last_win_and_the_open_alarms() -> None:
    books = played()
    books.manager.book.alarms.record("FORK", "Its journal went back.", "touch-1")
    books.manager.book.alarms.record("BUS", "Bus 1 does not answer.", "touch-1")
    first, second = books.manager.view.view()["tables"]
    assert first["last_win"]["number"] == 1
    assert (first["alarms"], first["worst"]) == (2, "critical")
    assert (second["last_win"], second["alarms"], second["worst"]) == (None, 0, "")


def test_every_severity_has_its_look() -> None:
    """Catches: a new severity that breaks the floor's page when it first happens."""
    assert {each.name.lower() for each in Severity} == set(SEVERITY_MARKS)


def test_the_last_win_follows_each_new_one() -> None:
    """Catches: a list that was read once and never again."""
    books = played()
    last = LastWins(books.manager.book)
    first = last.of("touch-1")
    assert first is not None
    win = books.manager.book.wins.find(1)
    assert win is not None
    assert (first["number"], first["amount_cents"]) == (1, win.lines[0].amount_cents)
    books.win("touch-1", 2, 2, s3A="straight-flush")
    assert last.of("touch-1") == LastWins(books.manager.book).of("touch-1")
    assert last.of("touch-1") != first
    assert last.of("touch-2") is None


def test_a_floor_that_did_not_change_reads_no_win_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: a query for each table of a large floor, ten times a second."""
    books = played()
    view = books.manager.view
    view.tables.rows([])
    monkeypatch.setattr(books.manager.book.wins, "find", None)
    monkeypatch.setattr(books.manager.store, "rows", None)
    assert view.tables.rows([])[0]["last_win"]["number"] == 1


def test_a_page_tells_the_round_the_game_and_whose_cards_count() -> None:
    page = played().manager.view.table("touch-1")
    assert page is not None
    assert (page["round"], page["bets"]) == (2, ["3A"])
    assert [each["number"] for each in page["rounds"]] == [2, 1]
    assert page["games"][0]["meters"][0]["id"] == "main"
    assert [each["number"] for each in page["wins"]] == [1]
    assert {card["role"] for card in page["cards"]} == {"SUPERVISOR", "EXECUTIVE"}
    assert "6012345" not in str(page)  # no card number is anywhere
    assert ("Dealer may pay alone", "up to $25.00") in page["rules"]


def test_there_is_no_page_of_a_table_that_is_not_there() -> None:
    assert played().manager.view.table("nowhere") is None
