"""The last wins of a table: the newest first, a few of them, and reversed when they are."""

from __future__ import annotations

from typing import Any

from controller.core.round import events
from controller.core.round.apply import apply
from controller.core.round.state import RoundState
from controller.last_wins import COUNT_MAX, LastWins

LINES = [["5A", "four-aces", 800_075, "main", 1]]


def played(wins: LastWins, state: RoundState, event: Any, wall_ms: int = 0) -> None:
    apply(state, event)
    wins.happened(*event, state, wall_ms)


def test_the_newest_come_first_and_outlive_their_round() -> None:
    wins, state = LastWins(), RoundState()
    for number in range(1, COUNT_MAX + 2):
        for event in (
            events.round_start(number, ["5A"], [], [], 100),
            events.claim(number, number, [["5A", "four-aces"]], False),
            events.settled(number, number + 40, LINES, []),
            events.round_end(number),
        ):
            played(wins, state, event, number * 1000)
    kept = wins.newest_first()
    assert [each.win.win_number for each in kept] == list(range(COUNT_MAX + 41, 41, -1))
    assert (kept[0].round_number, kept[0].wall_ms) == (COUNT_MAX + 1, (COUNT_MAX + 1) * 1000)
    played(wins, state, events.reversed_win(0, 45))
    assert [each.win.win_number for each in wins.newest_first() if each.win.is_reversed] == [45]
