"""Late advice about a claim: its cards are remembered for as long as advice can be late.

Seed 1780519905 accused a unit of judging a hand whose cards nobody saw: the advice came three games
after the claim, on a link that was slow and not yet taken for down.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.journal_watch import Row
from sim.runs.storm.checks.shuffler_watch import DIFFERS, NOTHING, ShufflerLog
from sim.runs.storm.record import Record
from sim.time.loop import run_virtual

DEAL, SEAT, CLAIM = 5, 7, 3


async def advice(shown_seat: int, later_games: int) -> list[str]:
    record = Record()
    journal = SimpleNamespace(round=SimpleNamespace(number=1))
    log = ShufflerLog("table", record, cast(Any, journal))
    log.shown(DEAL, shown_seat, NOTHING)
    bodies: list[tuple[int, dict[int, Any]]] = [
        (kinds.ROUND_START, {1: 1}),
        (kinds.SHOWN, {1: 1, 2: DEAL, 3: shown_seat, 4: list(NOTHING)}),
        (kinds.CLAIM, {1: 1, 2: CLAIM, 3: [[f"{SEAT}A", "flush"]]}),
        *((kinds.ROUND_START, {1: 2 + number}) for number in range(later_games)),
        (kinds.CHECKED, {1: CLAIM, 2: [[f"{SEAT}A", DIFFERS, "nothing"]]}),
    ]
    for sequence, (kind, body) in enumerate(bodies, start=1):
        log.recorded(Row(sequence, kind, body, b""))
    return [violation.sentence for violation in record.violations]


def said_of_advice(shown_seat: int, later_games: int) -> list[str]:
    """What is said when a table records that the claim at seat 7 differs from the cards."""
    return run_virtual(advice(shown_seat, later_games))


@pytest.mark.parametrize("later_games", [0, 1, 3, 8])
def test_advice_that_comes_games_later_is_explained(later_games: int) -> None:
    assert said_of_advice(SEAT, later_games) == []


def test_advice_on_cards_that_nobody_saw_is_told() -> None:
    (sentence,) = said_of_advice(SEAT - 1, 0)
    assert "whose cards nobody saw" in sentence
