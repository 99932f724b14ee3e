"""Which jackpots may share a layout or a link, and how pays and seeds grow with the wager."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kit.config import ConfigError
from manager.games import Paytable
from manager.games import load_paytable as load_shipped
from manager.ledger.errors import LedgerError
from manager.setup.open_table import open_table
from tests.kit.pretend_books import (
    HOUSE,
    LEVELS,
    TERMS,
    Books,
    document,
    game,
    load_paytable,
)

ML01, ML01_FOUR_CARD = "crazy-4/multi-game-link/ML01", "four-card/multi-game-link/ML01"


def two(terms: dict[str, Any] = TERMS) -> dict[str, dict[str, Any]]:
    return {"main": terms, "side": terms}


def refused(books: Books, text: str, sentence: str) -> None:
    before = books.store.tail()
    with pytest.raises(ConfigError, match=sentence):
        books.open(text, "t2")
    assert books.store.tail() == before


# -- one layout --------------------------------------------------------------------------------

DUAL = {
    "A": game("face-up-pai-gow/jackpot/WA03"),
    "B": game("face-up-pai-gow/jackpot/WA07", top="side"),
}


def test_two_sensors_are_two_games_with_their_own_jackpots(books: Books) -> None:
    books.open(document(jackpots=two(), games=DUAL))
    books.start("touch-1", 1, "3A", "3B", "4B")
    assert books.paid(_3A="five-aces", _3B="five-aces") == {"3A": 10_002, "3B": 100_050}
    assert books.shown_on("main") == 100_025 - 10_002
    assert books.shown_on("side") == 100_010  # reseeded with seed and reserve


LAYOUTS = {
    "a third game": (
        {"jackpots": two(), "games": DUAL | {"C": game()}},
        r"paytables\.C: a layout offers at most two jackpot games",
    ),
    "one jackpot on both sensors": (
        {"games": {"A": game(), "B": game()}},
        r"paytables\.B: each sensor is a separate game .* 'main' is also the jackpot of sensor A",
    ),
    "two types": (
        {"jackpots": two() | {"side": HOUSE}, "games": DUAL},
        r"jackpots\.side: all jackpots of a table must be of one type",
    ),
    "a house jackpot that grows": (
        {"jackpots": {"main": HOUSE | {"contribution_ppm": 1}}},
        r"jackpots\.main: House jackpot main never increments",
    ),
    "a house jackpot that is divided": (
        {"jackpots": {"main": HOUSE | {"award_policy": "equal_share"}}},
        r"jackpots\.main: House jackpot main pays its posted prize to each winner",
    ),
    "a house jackpot that opens elsewhere": (
        {"jackpots": {"main": HOUSE | {"opening": "1.00"}}},
        r"jackpots\.main: House jackpot main has one posted prize",
    ),
    "a limit below the opening": (
        {"jackpots": {"main": TERMS | {"limit": "999.99"}}},
        r"jackpots\.main: The limit of meter main is below its seed_cents",
    ),
    "an unknown policy": (
        {"jackpots": {"main": TERMS | {"award_policy": "fair"}}},
        r"award_policy: .fair. is not known; known are sequential, equal_share, each_full",
    ),
    "an unknown key of the jurisdiction": (
        {"jurisdiction": {"country": "x"}},
        r"jurisdiction\.country: is not a key this version knows",
    ),
}


@pytest.mark.parametrize(("parts", "sentence"), LAYOUTS.values(), ids=list(LAYOUTS))
def test_a_layout_that_may_not_be_is_refused(
    books: Books, parts: dict[str, Any], sentence: str
) -> None:
    refused(books, document("t2", **parts), sentence)


# -- one link ----------------------------------------------------------------------------------


def test_tables_of_one_paytable_share_a_meter_whatever_it_is_called_there(books: Books) -> None:
    books.open(document(games={"A": game("face-up-pai-gow/jackpot/WA03")}))
    alias = game("fortune-pai-gow/jackpot/WA03")
    books.open(document("t2", games={"A": alias}), "t2")
    books.start("touch-1", 1, "1A")
    books.start("t2", 1, "1A")
    assert books.shown_on("main") == 100_050
    assert books.manager.book.tables.games_of("t2") == {"A": "fortune-pai-gow"}


LINKS = {
    "evaluator": (
        game("face-up-pai-gow/jackpot/WA03"),
        r"linked to table touch-1, which plays with another evaluator \(four-card, not seven",
    ),
    "paytable": (
        game("four-card/progressive/Pays-2"),
        r"another paytable \(four-card/progressive/Pays-1, not four-card/progressive/Pays-2\)",
    ),
    "wager": (game(wager_cents=200), r"another wager \(100, not 200\)"),
}


@pytest.mark.parametrize(("played", "sentence"), LINKS.values(), ids=list(LINKS))
def test_an_unequal_link_is_refused_with_its_reason(
    books: Books, played: dict[str, Any], sentence: str
) -> None:
    books.open(document())
    refused(books, document("t2", games={"A": played}), sentence)


CHANGED_PACKS = {
    "deck": ({"deck": 53}, r"another deck \(52, not 53\)"),
    "cards": ({"cards_considered": 4}, r"number of cards considered \(5, not 4\)"),
}


@pytest.mark.parametrize(("change", "sentence"), CHANGED_PACKS.values(), ids=list(CHANGED_PACKS))
def test_other_cards_are_refused_too(books: Books, change: dict[str, Any], sentence: str) -> None:
    books.open(document())

    def load(paytable_id: str) -> Paytable:
        shipped = load_shipped("four-card/progressive/Pays-1")
        return shipped if paytable_id == shipped.id else replace(shipped, id="x/y/z", **change)

    text = document("t2", games={"A": game("x/y/z")})
    with pytest.raises(ConfigError, match=sentence):
        open_table(books.manager.book, text, bytes, load)


def test_a_pack_edited_since_the_other_table_opened_is_noticed(books: Books) -> None:
    books.open(document())

    def load(paytable_id: str) -> Paytable:
        shipped = load_shipped(paytable_id)
        return replace(shipped, hands=shipped.hands[:-1])

    with pytest.raises(ConfigError, match="opened with other pays"):
        open_table(books.manager.book, document("t2"), bytes, load)


def test_a_progressive_is_never_linked_to_a_house_jackpot(books: Books) -> None:
    books.open(document())
    sentence = "a progressive jackpot is never linked with a house jackpot; it runs as progressive"
    refused(books, document("t2", jackpots={"main": HOUSE}), sentence)


def test_a_meter_is_the_same_level_at_every_table(books: Books) -> None:
    books.open(document(jackpots=two(), games={"A": game(LEVELS.id, mega="main", minor="side")}))
    crossed = {"A": game(LEVELS.id, mega="side", minor="main")}
    refused(books, document("t2", jackpots=two(), games=crossed), "the meter of another level")


def test_one_paytable_of_two_games_is_linked_within_each_game_only(books: Books) -> None:
    """Catches: `Pays-3` of two games on one meter, because both names are one paytable's."""
    books.open(document(games={"A": game("crazy-4/progressive/Pays-3")}))
    books.open(document("t3", games={"A": game("crazy-4/progressive/3")}), "t3")
    other = document("t2", games={"A": game("four-card/progressive/Pays-3")})
    refused(books, other, r"plays crazy-4, not four-card: crazy-4/progressive/Pays-3 may be linked")


def test_a_printed_reserve_is_the_paytables_and_not_the_houses(books: Books) -> None:
    played = {"A": game("crazy-4/progressive/Pays-3")}
    poor = document("t2", jackpots={"main": TERMS | {"reserve_ppm": 49_999}}, games=played)
    refused(books, poor, r"paytables\.A: crazy-4/progressive/Pays-3 has a reserve of 5 % of each")
    books.open(document(games=played))
    request = {"command": "change-terms", "jackpot": "main", "operator": "Ann", "second": "Bob"}
    before = books.store.tail()
    with pytest.raises(LedgerError, match="has a reserve of 5 %"):
        books.manager.correct(request | {"reserve-ppm": "60000"})
    assert books.store.tail() == before
    books.manager.correct(request | {"contribution-ppm": "300000"})


def test_beside_a_link_of_different_games_no_second_progressive_runs(books: Books) -> None:
    levels = {"mega": "m1", "major": "m2"}
    books.open(
        document(jackpots={"m1": TERMS, "m2": TERMS}, games={"A": game(ML01, **levels)}),
    )
    other = {"A": game(ML01_FOUR_CARD, **levels)}
    books.open(document("t2", jackpots={"m1": TERMS, "m2": TERMS}, games=other), "t2")
    three = {"m1": TERMS, "m2": TERMS, "side": TERMS}
    dual = other | {"B": game(top="side")}
    text = document("t3", jackpots=three, games=dual)
    refused(books, text, r"which plays crazy-4, not four-card: a link of different games allows")
    allowed = document("t3", jackpots=three, games=dual, jurisdiction={"dual_on_mixed_link": True})
    books.open(allowed, "t3")


# -- wagers ------------------------------------------------------------------------------------


def test_fixed_pays_and_envy_grow_with_the_wager_and_percentages_do_not(books: Books) -> None:
    terms = TERMS | {"contribution_ppm": 0, "reserve_ppm": 0}
    played = {"A": game(LEVELS.id, 500, mega="main", minor="side")}
    books.open(document(jackpots=two(terms), games=played))
    books.start("touch-1", 1, "3A", "5A")
    award = books.quoted(_5A="fifty", _3A="tenth")
    assert [line.amount_cents for line in award.lines] == [25_000, 10_000]
    assert dict(award.envy) == {"3A": 2_500}


def test_envy_grows_only_where_the_paytable_says_so(books: Books) -> None:
    books.open(document(games={"A": game(wager_cents=500)}))
    books.start("touch-1", 1, "3A", "5A")
    assert dict(books.quoted(_5A="four-aces").envy) == {"3A": 10_000}


def test_a_seed_typed_for_one_dollar_grows_with_the_wager_when_asked(books: Books) -> None:
    terms = TERMS | {"seed_scales_with_wager": True}
    books.open(document(jackpots={"main": terms}, games={"A": game(wager_cents=500)}))
    assert books.manager.book.jackpots.get("main").seed_cents == 500_000
    assert books.shown_on("main") == 100_000  # the opening is what it is


def test_a_paytable_that_does_not_scale_takes_the_printed_wager_only(books: Books) -> None:
    def load(paytable_id: str) -> Paytable:
        return replace(load_paytable(paytable_id), wager_scaling="none")

    text = document(games={"A": game(wager_cents=500)})
    with pytest.raises(ConfigError, match=r"paytables\.A\.wager_cents: must be 100"):
        open_table(books.manager.book, text, bytes, load)
    text = document(jackpots={"main": TERMS | {"seed_scales_with_wager": True}})
    with pytest.raises(ConfigError, match=r"seed_scales_with_wager: must be false"):
        open_table(books.manager.book, text, bytes, load)


@pytest.mark.parametrize(("text", "frozen"), [("true", True), ("false", False)])
def test_whether_claims_freeze_is_said_by_one_of_two_words(
    books: Books, text: str, frozen: bool
) -> None:
    """Catches: any other word taken for one of them, and a meter that freezes by a slip."""
    books.open(document(jackpots={"main": TERMS | {"freeze_claims": not frozen}}))
    request = {"command": "change-terms", "jackpot": "main", "operator": "Ann", "second": "Bob"}
    before = books.store.tail()
    for word in ("True", "yes", "1"):
        with pytest.raises(LedgerError, match=f"'{word}' is neither true nor false"):
            books.manager.correct(request | {"freeze-claims": word})
    assert books.store.tail() == before
    books.manager.correct(request | {"freeze-claims": text})
    pending = books.manager.book.jackpots.standing("main").pending
    assert pending is not None
    assert pending.freeze_claims is frozen
