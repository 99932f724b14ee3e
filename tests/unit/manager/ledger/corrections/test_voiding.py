"""Who may open a round again: the dealer, the key of a keypad table, or a card that was judged."""

from __future__ import annotations

import pytest

from manager.intake.intake import Outcome
from protocol.numbers import (
    METHOD_CARD,
    METHOD_DEALER,
    METHOD_KEY,
    ROLE_EXECUTIVE,
    ROLE_SUPERVISOR,
    SWIPE_REOPEN,
)
from protocol.wire import events
from protocol.wire.messages import Error
from tests.kit.pretend_units import SUPERVISOR_ACCOUNT, Desk, only

TABLE = "touch-1"


def played(workflow: str = "touch") -> Desk:
    desk = Desk()
    desk.open_table(TABLE, workflow=workflow)
    desk.start(TABLE, 1, "2A")
    desk.end(TABLE, 1)
    return desk


def reopen(desk: Desk, method: int, role: int = ROLE_SUPERVISOR, ticket: bytes = b"") -> Outcome:
    return desk.say(TABLE, events.Reopened(1, method, role, ticket))


def is_on(desk: Desk) -> bool:
    return desk.manager.book.rounds.get(TABLE, 1).is_on


def test_the_key_of_a_keypad_table_opens_a_round_again() -> None:
    """Catches: a supervisor's key that is asked for a card the table has no reader for."""
    desk = played("keypad")
    assert reopen(desk, METHOD_KEY).answers == []
    assert is_on(desk)


def test_a_touch_table_has_no_key_that_could_open_a_round_again() -> None:
    """Catches: a unit that opens a round again by itself and says a key was turned."""
    desk = played()
    sentence = only(reopen(desk, METHOD_KEY), Error).sentence
    assert sentence == "Only a round of a keypad table can be opened again by key."
    assert not is_on(desk)


def test_the_dealer_opens_the_last_round_again_without_a_card() -> None:
    desk = played()
    assert reopen(desk, METHOD_DEALER, 0).answers == []
    assert is_on(desk)


@pytest.mark.parametrize(
    ("role", "words"), [(ROLE_SUPERVISOR, ""), (ROLE_EXECUTIVE, "another role")]
)
def test_a_card_counts_with_the_role_that_it_has(role: int, words: str) -> None:
    desk = played()
    ticket = desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, SWIPE_REOPEN).ticket
    outcome = reopen(desk, METHOD_CARD, role, ticket)
    if words:
        assert words in only(outcome, Error).sentence
    assert is_on(desk) is (not words)


def test_without_a_card_that_was_swiped_for_it_nothing_is_opened() -> None:
    desk = played()
    assert "No card was swiped" in only(reopen(desk, METHOD_CARD, ticket=bytes(16)), Error).sentence
    assert not is_on(desk)
