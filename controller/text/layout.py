"""Lays out what a table says on four rows of twenty characters: never cut, on more pages instead.

It reads the same view as the pages in a browser and a question of the keypad's, and decides
nothing. The first row has the state and the page; below it are the guide's sentence, then amounts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from controller.inputs.questions import Question
from controller.words import catalogue
from kit.words import Catalogue

COLUMNS, ROWS = 20, 4
BODY_ROWS = ROWS - 1
STATES = {
    "open": "OPEN",
    "locked": "LOCKED",
    "claim": "WIN",
    "confirm": "CONFIRM",
    "offline": "OFFLINE",
    "fault": "FAULT",
    "closed": "CLOSED",
}
ANSWERS = "CONFIRM Y / CANCEL N"
NOT_PRICED = "?"
PAGE_MARK_MAX = len(" 1/9")
# The same few are laid out once a second, and at each change of the table.
SENTENCES_KEPT = 256
SERVICE = "IN SERVICE"
TRAINING = "TRAINING"  # on every page, so that nobody takes it for a game
# The glass has other pictures at these places.
REPLACED = str.maketrans(
    {"\\": "/", "~": "-", "–": "-", "—": "-", "’": "'", "·": "-", "×": "x", "₡": "C"}
    | {"¿": "", "¡": ""}
)

ENGLISH = catalogue("en-US")

View = dict[str, Any]
Screen = tuple[str, ...]


def screens(view: View, question: Question | None, words: Catalogue = ENGLISH) -> list[Screen]:
    """The pages that the display turns, one at least; each is four rows of twenty."""
    is_training = view.get("training", False)
    if question is not None:
        head = fold(words.say(TRAINING) if is_training else words.translate(question.title))
        answers = fold(words.say(ANSWERS))
        bodies = [[*_padded(lines, BODY_ROWS - 1), answers] for lines in _choice(question, words)]
        return [_screen(head, question.mark, body) for body in bodies]
    head = fold(words.say(STATES.get(view["state"], str(view["state"]).upper())))
    if view.get("service", False):
        head = fold(words.say(SERVICE))
    if is_training:
        head = _training_head(fold(words.say(TRAINING)), head)
    sentence = words.translate(view["guide"]["sentence"])
    lines = [*_pages(wrap(sentence)), *_pages(_amounts(view, words))]
    count = len(lines)
    return [
        _screen(head, f"{page}/{count}" if count > 1 else "", body)
        for page, body in enumerate(lines, start=1)
    ]


def _training_head(training: str, state: str) -> str:
    """Training first; the state beside it where both and the page's number fit in one row."""
    both = f"{training} {state}"
    return both if len(both) + PAGE_MARK_MAX <= COLUMNS else training


@lru_cache(maxsize=SENTENCES_KEPT)
def fold(text: str) -> str:
    """The same in the characters that the glass has: accents are left off, others are a "?"."""
    plain = unicodedata.normalize("NFKD", text.translate(REPLACED))
    kept = "".join(c for c in plain if not unicodedata.combining(c))
    return "".join(c if " " <= c < "~" and c != "\\" else "?" for c in kept)


def wrap(text: str) -> list[str]:
    """Whole words on rows of twenty; a word that is longer than a row goes on in the next."""
    return list(_wrapped(text))


@lru_cache(maxsize=SENTENCES_KEPT)
def _wrapped(text: str) -> tuple[str, ...]:
    rows: list[str] = []
    for word in fold(text).split():
        if rows and len(rows[-1]) + 1 + len(word) <= COLUMNS:
            rows[-1] += f" {word}"
            continue
        rows += [word[place : place + COLUMNS] for place in range(0, len(word), COLUMNS)]
    return tuple(rows)


def _choice(question: Question, words: Catalogue) -> list[list[str]]:
    return _pages(wrap(words.translate(question.label)), BODY_ROWS - 1)


def _amounts(view: View, words: Catalogue) -> list[str]:
    """Who gets what, in pay order; on a table that waits for bets, what can be won."""
    claim, pay = view["claim"], view["pay"]
    if claim is not None:
        return [_row(row["seat"], row["total_cents"], words) for row in claim["rows"]]
    if pay is not None:
        return _owed(pay, words)
    if view["state"] == "open":
        return [
            line
            for meter in view["meters"]
            for line in _named(words.translate(meter["label"]), meter["shown_cents"], words)
        ]
    return []


def _owed(pay: View, words: Catalogue) -> list[str]:
    due = [_row(row["seat"], row["due_cents"], words) for row in pay["rows"] if row["due_cents"]]
    backs = [row for row in pay["rows"] if row["take_back_cents"]]
    return due + [
        line
        for row in backs
        for line in _named(words.say("Back: seat {}", row["seat"]), row["take_back_cents"], words)
    ]


def _row(seat: int, cents: int | None, words: Catalogue) -> str:
    """Seat and amount on one row; beside a very large amount a seat is only its number."""
    amount = NOT_PRICED if cents is None else fold(words.money(cents))
    name = fold(words.say("Seat {}", seat))
    if len(name) + 1 + len(amount) > COLUMNS:
        name = str(seat)
    return name + amount.rjust(COLUMNS - len(name))


def _named(name: str, cents: int, words: Catalogue) -> list[str]:
    amount = fold(words.money(cents))
    if len(fold(name)) + 1 + len(amount) <= COLUMNS:
        return [fold(name) + amount.rjust(COLUMNS - len(fold(name)))]
    return [*wrap(name), amount.rjust(COLUMNS)]


def _pages(rows: Sequence[str], size: int = BODY_ROWS) -> list[list[str]]:
    return [list(rows[place : place + size]) for place in range(0, len(rows), size)]


def _padded(rows: Sequence[str], count: int) -> list[str]:
    return [*rows, *[""] * (count - len(rows))]


def _screen(head: str, mark: str, body: Sequence[str]) -> Screen:
    first = head + mark.rjust(COLUMNS - len(head))
    return tuple(row.ljust(COLUMNS) for row in (first, *_padded(body, BODY_ROWS)))
