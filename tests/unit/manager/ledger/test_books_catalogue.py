"""Every table that ships opens, and every jackpot paytable of the documents can be played."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.games import ForOne, load_paytable, paytable_ids
from tests.kit.places import TABLES
from tests.kit.pretend_books import HOUSE, TERMS, Books, document, game

SHIPPED = sorted(TABLES.glob("*.toml"))
JACKPOTS = [name for name in paytable_ids() if load_paytable(name).is_jackpot]
SMALL = TERMS | {"contribution_ppm": 100_000}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_table_opens_and_opens_again(books: Books, path: Path) -> None:
    for _ in range(2):
        assert books.manager.open_table_file(path) == path.stem
    games = books.manager.book.tables.rules(path.stem).settings.games
    assert all(game.meters and game.hands for game in games)


def test_all_shipped_tables_stand_on_one_floor(books: Books) -> None:
    for path in SHIPPED:
        books.manager.open_table_file(path)
    assert len(books.manager.view.view()["tables"]) == len(SHIPPED)
    tables = books.manager.book.tables
    serials = {tables.board_serial_of(path.stem) for path in SHIPPED}
    assert len(serials) == len(SHIPPED), "each shipped table has a unit of its own"


@pytest.mark.parametrize("name", JACKPOTS)
@pytest.mark.parametrize("terms", [SMALL, HOUSE], ids=["progressive", "house"])
def test_every_hand_of_a_jackpot_paytable_is_paid(
    books: Books, name: str, terms: dict[str, object]
) -> None:
    paytable = load_paytable(name)
    levels = {level.id: f"m-{level.id}" for level in paytable.levels}
    jackpots = dict.fromkeys(levels.values(), terms)
    books.open(document(jackpots=jackpots, games={"A": game(name, 200, **levels)}))
    for number, hand in enumerate(paytable.hands, start=1):
        books.start("touch-1", number, "3A", "5A")
        books.receive_award("touch-1", books.claim("touch-1", number, number, _5A=hand.id))
        (answer,) = books.by_card("touch-1", number, number).answers
        assert getattr(answer, "win_number", 0) == number, answer
        if isinstance(hand.pay, ForOne):
            assert answer.lines[0].amount_cents == hand.pay.n * 200
        books.end("touch-1", number)
