"""A table counts without gaps; only what was lost with a damaged journal may be skipped."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from manager.intake.numbering import Numbering, check_restored
from manager.ledger.errors import BookingRefused
from protocol.wire import events
from protocol.wire.messages import State
from protocol.wire.rows import Counters
from tests.kit.pretend_units import Desk

TABLE = "touch-1"


@pytest.fixture
def numbering(desk: Desk) -> Numbering:
    return Numbering(desk.manager.book)


@pytest.mark.parametrize("lost_max", [0, 2])
def test_a_round_follows_the_last_one_or_what_was_lost(
    desk: Desk, numbering: Numbering, lost_max: int
) -> None:
    """Catches: a round that is skipped, played twice, or numbered out of reach for ever."""
    for played in (0, 1):
        for number in range(played + 1, played + 2 + lost_max):
            numbering.check_start(TABLE, number, lost_max)
        for number in (played, played + 2 + lost_max):
            with pytest.raises(BookingRefused, match=f"{played + 1} is next"):
                numbering.check_start(TABLE, number, lost_max)
        desk.start(TABLE, played + 1, "1A")
        desk.end(TABLE, played + 1)


def test_only_the_last_round_is_told_of(desk: Desk, numbering: Numbering) -> None:
    with pytest.raises(BookingRefused, match="not the last one"):
        numbering.check_latest(TABLE, 1)
    for number in (1, 2):
        desk.start(TABLE, number, "1A")
        desk.end(TABLE, number)
    numbering.check_latest(TABLE, 2)
    for number in (1, 3):
        with pytest.raises(BookingRefused, match="not the last one"):
            numbering.check_latest(TABLE, number)


@pytest.mark.parametrize("lost_max", [0, 2])
def test_a_refused_claim_uses_its_number_up_where_it_was_the_next(
    desk: Desk, numbering: Numbering, lost_max: int
) -> None:
    """Catches: a table whose next claim is refused for ever after one that made no sense."""
    desk.start(TABLE, 1, "1A")
    desk.claim(TABLE, 1, 1, s1A="four-aces")
    used_up = [number for number in range(6) if numbering.uses_up(TABLE, number, lost_max)]
    assert used_up == list(range(2, 3 + lost_max))


def test_an_ordinary_record_has_lost_none_before_it(desk: Desk, numbering: Numbering) -> None:
    desk.start(TABLE, 1, "1A")
    assert numbering.lost_max(desk.manager.units.get("UF-touch-1"), {}) == 0


TOLD = State(b"j" * 16, 40, bytes(32), 7, 3, Counters(5, 500, 1, 2_000, 7), 0, ())
SAID = events.Restored(b"j" * 16, 40, 7, 3, Counters(5, 500, 1, 2_000, 7), 0, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"journal_id": b"k" * 16},
        {"last_sequence": 41},
        {"round_number": 8},
        {"claim_number": 4},
        {"counters": Counters(6, 500, 1, 2_000, 7)},
    ],
)
def test_a_new_journal_goes_on_exactly_where_it_was_told(other: dict[str, Any]) -> None:
    """Catches: a unit that skips a round, or forgets wagers, with its new disk."""
    check_restored(TOLD, SAID)
    with pytest.raises(BookingRefused, match="another place than it was told"):
        check_restored(TOLD, dataclasses.replace(SAID, **other))
