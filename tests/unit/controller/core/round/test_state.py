"""What is true of a round: which questions it answers, and what of it a journal rebuilds."""

from __future__ import annotations

from copy import deepcopy

import pytest

from controller.core.round import commands
from controller.core.round.state import (
    CLAIM,
    CONFIRM,
    FAULT,
    LOCKED,
    OFFLINE,
    OPEN,
    STAGE_PREVIEW,
    STAGE_PRICING,
    RoundState,
    Win,
    table_state,
)
from protocol.numbers import ROLE_EXECUTIVE
from tests.kit.core_table import Table

LINES = [["5A", "four-aces", 700, "main", 1]]


@pytest.fixture
def played() -> RoundState:
    """Round 4 is under way after a win, and its predecessor can be looked at."""
    state = RoundState()
    state.round_number, state.round_open = 4, True
    state.accepted = ["2A", "5A", "5B"]
    state.wins = [Win(9, 3, list(LINES), [])]
    return state


# ---- what a journal rebuilds ----


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("round_number", 5),
        ("last_claim_number", 7),
        ("round_open", False),
        ("accepted", ["2A"]),
        ("refused", ["3A"]),
        ("blinking", ["3A"]),
        ("hands", [["5A", "four-aces"]]),
        ("wins", []),
        ("late", {"3A": (True, 100)}),
        ("added", ["5A"]),
        ("late_count", 1),
        ("joined", [[2, 5]]),
        ("paid", [[5, 700, 100]]),
        ("voided", ["2A"]),
        ("void_reason", "misdeal"),
        ("settled_before", ["2A"]),
    ],
)
def test_two_rounds_that_differ_in_anything_durable_are_told_apart(
    played: RoundState, name: str, value: object
) -> None:
    """Catches: a memory that went wrong in one field and is taken for the journal's round."""
    before = deepcopy(played.durable_values())
    setattr(played, name, value)
    assert played.durable_values() != before


def test_a_win_that_was_taken_back_is_told_apart(played: RoundState) -> None:
    before = deepcopy(played.durable_values())
    played.wins[0].is_reversed = True
    assert played.durable_values() != before
    played.closed = played.kept_of_round()
    before = deepcopy(played.durable_values())
    played.closed["wins"][0].is_reversed = False
    assert played.durable_values() != before


def test_between_games_a_blinking_spot_and_joined_seats_are_not_of_the_journal(
    played: RoundState,
) -> None:
    played.round_open = False
    before = deepcopy(played.durable_values())
    played.blinking, played.joined = ["3A"], [[2, 5]]
    assert played.durable_values() == before


def test_an_earlier_round_laid_aside_is_told_apart(played: RoundState) -> None:
    before = deepcopy(played.durable_values())
    aside = {"round_number": 6, "closed": None, "joined": [], "voided": [], "void_reason": ""}
    played.aside = aside
    laid_aside = deepcopy(played.durable_values())
    assert laid_aside != before
    played.aside = {**aside, "closed": played.kept_of_round()}
    assert played.durable_values() != laid_aside


# ---- wins and bets ----


def test_a_bet_has_its_win_until_that_is_taken_back(played: RoundState) -> None:
    assert [played.is_settled(sensor) for sensor in ("5A", "2A")] == [True, False]
    assert played.unsettled_bets() == ["2A", "5B"]
    assert not played.is_taken_back(9)
    played.wins[0].is_reversed = True
    assert played.is_taken_back(9)
    assert not played.is_taken_back(8)
    assert not played.is_settled("5A")
    assert played.standing_wins() == []


def test_a_bet_that_won_before_its_round_was_taken_up_again_is_settled(played: RoundState) -> None:
    played.settled_before = ["2A"]
    assert played.unsettled_bets() == ["5B"]


def test_bets_are_found_by_seat_and_letter(played: RoundState) -> None:
    assert played.bets(5) == ["5A", "5B"]
    assert played.bets(5, "B") == ["5B"]
    assert played.bets(0, "A") == ["2A", "5A"]
    assert played.unsettled_bets(5) == ["5B"]
    assert played.unsettled_bets(0, "A") == ["2A"]


def test_whoever_has_a_hand_or_a_win_is_a_winner(played: RoundState) -> None:
    played.hands = [["5B", "seven-suited"]]
    assert [played.is_winner(sensor) for sensor in ("2A", "5A", "5B")] == [False, True, True]
    assert played.hand_at("5B") == "seven-suited"
    assert played.hand_at("5A") == ""


def test_wins_are_known_of_this_round_the_last_one_and_one_laid_aside(played: RoundState) -> None:
    last, earlier = [Win(1, 1, [], [])], [Win(2, 2, [], [])]
    assert played.wins_by_round() == [(4, played.wins)]
    played.closed = {"wins": last}
    assert played.wins_by_round() == [(4, played.wins), (4, last)]
    played.aside = {"round_number": 6, "closed": None}
    assert played.wins_by_round() == [(4, played.wins), (4, last)]
    played.aside = {"round_number": 6, "closed": {"wins": earlier}}
    assert played.wins_by_round() == [(4, played.wins), (4, last), (6, earlier)]


# ---- what the table shows ----


def test_a_lost_link_closes_an_open_table_and_interrupts_no_round() -> None:
    assert table_state(OPEN, True, []) == OPEN
    assert table_state(OPEN, False, []) == OFFLINE
    assert table_state(LOCKED, False, []) == LOCKED
    assert table_state(LOCKED, True, ["A fault."]) == FAULT


@pytest.mark.parametrize(
    ("name", "value"), [("reopen_asked", True), ("void_asked", "misdeal"), ("late_asked", [4])]
)
def test_a_question_to_a_supervisor_waits_until_something_happens(name: str, value: object) -> None:
    state = RoundState()
    assert state.waits_for_supervisor() is False
    setattr(state, name, value)
    assert state.waits_for_supervisor() is True
    state.clear_questions()
    assert state.waits_for_supervisor() is False


def test_nobody_less_than_an_executive_pays_a_claim_before_it_is_priced(touch: Table) -> None:
    touch.start("5A")
    touch.select(5, "four-aces")
    assert (touch.state.phase(), touch.state.stage()) == (CLAIM, STAGE_PREVIEW)
    touch.accept(commands.confirm())
    claim = touch.state.claim
    assert claim is not None
    assert (touch.state.phase(), claim.stage()) == (CONFIRM, STAGE_PRICING)
    assert (claim.role, claim.amount_frozen, claim.authorised) == (ROLE_EXECUTIVE, False, False)
