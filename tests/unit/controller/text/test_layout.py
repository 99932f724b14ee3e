"""Everything a table can say fits the text display: whole words, four rows of twenty, nothing lost.

Mutations these catch: a sentence cut at three rows, an amount without its seat, a character that
the glass does not have.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from controller.core.round.guide_words import SENTENCES
from controller.inputs.questions import Choice, Question
from controller.text.layout import ANSWERS, COLUMNS, ROWS, Screen, fold, screens, wrap
from controller.words import catalogue
from manager.games import open_catalogue

GUIDE = Path(__file__).parents[3] / "golden/guide.txt"
OF_THE_HOUSE = "The jackpot is suspended by the house."
LARGEST_CENTS = 9_999_999_999


def told() -> list[tuple[str, str]]:
    """(state, sentence) of every row of the table that was read and approved."""
    rows = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if " | " in line]
    cells = [line[17:].split(" | ") for line in rows]
    return sorted({(row[0].strip(), row[2]) for row in cells})


def view(state: str = "open", sentence: str = "Waiting for bets.", **others: Any) -> dict[str, Any]:
    plain = {"claim": None, "pay": None, "meters": []}
    return {"state": state, "guide": {"sentence": sentence}} | plain | others


def require_fit(pages: list[Screen]) -> None:
    assert pages
    for page in pages:
        assert len(page) == ROWS
        assert all(len(row) == COLUMNS and row.isascii() and "\\" not in row for row in page), page


def read(pages: list[Screen], rows: slice = slice(1, None)) -> str:
    return " ".join(" ".join(row for page in pages for row in page[rows]).split())


@pytest.mark.parametrize(("state", "sentence"), told(), ids=lambda text: text[:40])
def test_every_sentence_of_every_situation_is_there_in_whole_words(
    state: str, sentence: str
) -> None:
    pages = screens(view(state, sentence, meters=[]), None)
    require_fit(pages)
    assert read(pages) == fold(sentence)
    assert max(len(word) for word in fold(sentence).split()) <= COLUMNS


@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_so_is_every_sentence_with_long_arguments(name: str) -> None:
    long = "Seven Card Straight Flush without the joker" * 2
    sentence = SENTENCES[name].format(long, "x", "Other reason")
    pages = screens(view("claim", sentence), None)
    require_fit(pages)
    assert read(pages).replace(" ", "") == fold(sentence).replace(" ", "")


def pay_row(seat: int, total: int | None, due: int | None, back: int = 0) -> dict[str, Any]:
    return {"seat": seat, "total_cents": total, "due_cents": due, "take_back_cents": back}


def test_seven_seats_of_the_largest_amount_are_all_there() -> None:
    rows = [pay_row(seat, LARGEST_CENTS, LARGEST_CENTS) for seat in (12, 11, 7, 6, 3, 2, 1)]
    for shown in (view("confirm", claim={"rows": rows}), view("locked", pay={"rows": rows})):
        pages = screens(shown, None)
        require_fit(pages)
        assert [row.split() for page in pages[1:] for row in page[1:] if row.strip()] == [
            [str(row["seat"]), "$99,999,999.99"] for row in rows
        ]
        assert pages[1][0].endswith("2/4")


def test_a_seat_is_named_where_there_is_room_and_an_unknown_amount_is_no_zero() -> None:
    pages = screens(
        view("claim", claim={"rows": [pay_row(5, 800_075, 0), pay_row(2, None, 0)]}), None
    )
    assert pages[1][1:3] == ("Seat 5     $8,000.75", "Seat 2             ?")


def test_what_was_ticked_off_is_gone_and_what_must_come_back_is_named() -> None:
    rows = [pay_row(5, 0, 0, back=30_000), pay_row(3, 900, 0), pay_row(2, 1000, 1000)]
    assert read(screens(view("locked", "Pay.", pay={"rows": rows}), None)) == (
        "Pay. Seat 2 $10.00 Back: seat 5 $300.00"
    )


def test_a_waiting_table_shows_what_can_be_won() -> None:
    meters = [
        {"label": "Progressive", "shown_cents": 1_000_025},
        {"label": "Straight Flush Jackpot", "shown_cents": LARGEST_CENTS},
    ]
    pages = screens(view(meters=meters), None)
    require_fit(pages)
    text = read(pages)
    for words in ("Progressive", "$10,000.25", "Straight Flush", "Jackpot", "$99,999,999.99"):
        assert words in text


def test_every_hand_of_every_paytable_can_be_asked_for() -> None:
    packs = open_catalogue()
    labels = {hand.label for name in packs.ids() for hand in packs.load(name).hands}
    assert len(labels) > 20
    question = Question("HANDS", "Which hand?", [Choice(label, "x") for label in sorted(labels)])
    for _ in labels:
        pages = screens(view(), question)
        require_fit(pages)
        assert read(pages, slice(1, 3)) == fold(question.label)
        assert all(page[3] == ANSWERS for page in pages)
        question.place += 1


def test_letters_that_the_glass_lacks_lose_their_accents() -> None:
    assert fold("Pulse «COIN IN» · ñ é – 5 × 3 ~ \\") == "Pulse ?COIN IN? - n e - 5 x 3 - /"


def test_a_word_longer_than_a_row_goes_on_in_the_next() -> None:
    assert wrap("a" * 45) == ["a" * 20, "a" * 20, "a" * 5]


@pytest.mark.parametrize(("state", "sentence"), told(), ids=lambda text: text[:40])
def test_a_training_is_named_on_every_page(state: str, sentence: str) -> None:
    rows = [pay_row(seat, LARGEST_CENTS, LARGEST_CENTS) for seat in range(1, 8)]
    pages = screens(view(state, sentence, training=True, pay={"rows": rows}), None)
    require_fit(pages)
    assert all(page[0].startswith("TRAINING ") for page in pages)


def test_a_question_in_a_training_is_named_too() -> None:
    question = Question("MORE", "Do what?", [Choice(f"Choice {n}", "x") for n in range(12)])
    pages = screens(view(training=True), question)
    require_fit(pages)
    assert pages[0][0] == "TRAINING        1/12"


@pytest.mark.parametrize(("state", "sentence"), told(), ids=lambda text: text[:40])
def test_every_sentence_of_every_situation_fits_in_spanish(state: str, sentence: str) -> None:
    """Catches: a sentence that the catalogue does not find again once it was said."""
    spanish = catalogue("es-US")
    pages = screens(view(state, sentence, meters=[]), None, spanish)
    require_fit(pages)
    assert read(pages) == fold(spanish.translate(sentence))
    assert spanish.translate(sentence) != sentence or sentence == OF_THE_HOUSE
