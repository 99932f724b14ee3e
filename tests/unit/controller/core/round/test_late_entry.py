"""A game is taken up again for a win that was forgotten in it, and put away as it was."""

from __future__ import annotations

from typing import Any

import pytest

from controller.core import lights
from controller.core.felt import spot
from controller.core.round import commands, paying
from controller.core.round.decide import RoundState, apply, is_local
from controller.core.round.guide import Around, guide
from protocol import numbers
from tests.kit.core_table import Table

CARD = bytes(range(16))


def asked(number: int = 1, reason: str = "misread", settled: tuple[str, ...] = ()) -> Any:
    return commands.forgotten(number, reason, ["2A", "5A"], [], list(settled))


@pytest.fixture
def two_games(touch: Table) -> Table:
    touch.start("2A", "5A")
    touch.accept(commands.end())
    touch.start("3A")
    touch.accept(commands.end())
    return touch


def taken_up(table: Table, *settled: str) -> list[Any]:
    table.accept(asked(settled=settled))
    return table.accept(commands.card(1, CARD))


def test_a_supervisors_card_takes_the_game_up_with_its_bets(two_games: Table) -> None:
    events = taken_up(two_games, "2A")
    body = {1: 1, 2: 1, 3: CARD, 4: "misread", 5: ["2A", "5A"], 6: [], 7: ["2A"]}
    assert events == [(numbers.LATE_ENTRY, body)]
    state = two_games.state
    assert (state.round_open, state.round_number, state.accepted) == (True, 1, ["2A", "5A"])
    assert state.unsettled_bets() == ["5A"]


def test_nothing_happens_without_the_card(two_games: Table) -> None:
    """Catches: a dealer who enters a win of yesterday alone."""
    two_games.accept(asked())
    assert not two_games.state.round_open
    assert "not known" in two_games.refuse(commands.card(0, CARD))
    two_games.accept(commands.join([2, 3]))
    assert "no win to authorise" in two_games.refuse(commands.card(1, CARD))


def test_its_end_leaves_the_table_as_it_stood_and_the_last_game_can_be_opened(
    two_games: Table,
) -> None:
    before = two_games.state.durable_values()
    taken_up(two_games)
    two_games.accept(commands.end())
    assert two_games.state.durable_values() == before
    two_games.accept(commands.reopen(0))
    assert (two_games.state.round_number, two_games.state.accepted) == (2, ["3A"])


def test_the_win_needs_an_executive_and_is_paid_off_the_list(two_games: Table) -> None:
    taken_up(two_games)
    two_games.select(5, "three-of-a-kind")
    two_games.accept(commands.confirm())
    two_games.award(900, role=2)
    assert "EXECUTIVE" in two_games.refuse(commands.card(1, CARD))
    two_games.accept(commands.card(2, CARD))
    two_games.settle(7)
    assert paying.due_by_seat(two_games.state) == [(5, 900)]
    ((_kind, paid),) = two_games.accept(commands.tick(5, 10))
    assert paid[1] == 1  # of that game
    two_games.accept(commands.end())
    two_games.start("1A")
    assert two_games.state.round_number == 3


def test_meanwhile_no_game_starts_and_none_is_void(two_games: Table) -> None:
    taken_up(two_games)
    assert "game 1 is being entered" in two_games.refuse(commands.start(two_games.verdicts("3A")))
    assert "over long ago" in two_games.refuse(commands.void())
    assert "under way" in two_games.refuse(commands.reopen(0))


def test_a_chip_of_the_next_game_is_no_late_chip_of_that_one(two_games: Table) -> None:
    """Catches: amber spots and late marks for bets that nobody has locked yet."""
    taken_up(two_games)
    assert two_games.do(commands.late("3A", True, 5)) == []
    assert two_games.do(commands.added("5A", 5)) == []
    state = two_games.state
    assert lights.light_of("3A", spot.PRESENT, state, 0) == lights.DETECTED
    assert lights.light_of("5A", spot.ABSENT, state, 0) == lights.ACCEPTED


def test_what_cannot_be_taken_up_is_refused_with_what_to_do(two_games: Table) -> None:
    assert "REOPEN" in two_games.refuse(asked(2))
    assert "Choose why" in two_games.refuse(asked(reason="because"))
    unknown = commands.forgotten(9, "misread", [], [], [])
    assert "does not remember game 9" in two_games.refuse(unknown)
    two_games.rules.link_up = False
    assert "link is back" in two_games.refuse(asked())
    two_games.rules.link_up = True
    two_games.start("3A")
    assert "between games" in two_games.refuse(asked())


def test_a_keypad_table_sends_people_to_the_manager(keypad: Table) -> None:
    keypad.start("2A")
    keypad.accept(commands.end())
    assert "at the Game Manager" in keypad.refuse(asked())


def test_the_guide_says_what_is_asked_and_what_is_done(two_games: Table) -> None:
    two_games.accept(asked())
    told = guide(two_games.state, two_games.rules, Around([]))
    assert told.sentence == (
        "Swipe a supervisor's card to enter a forgotten win of game 1, or press CANCEL."
    )
    two_games.accept(commands.card(1, CARD))
    told = guide(two_games.state, two_games.rules, Around([]))
    assert told.sentence.startswith("Forgotten win of game 1:")
    assert (told.word, told.next_button) == ("locked", "END")


def test_the_journal_alone_brings_it_back(two_games: Table) -> None:
    taken_up(two_games, "2A")
    two_games.select(5, "four-aces")
    again = RoundState()
    for event in two_games.log:
        if not is_local(event[0]):
            apply(again, event)
    assert again.durable_values() == two_games.state.durable_values()
