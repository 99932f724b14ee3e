"""What passed through a table is counted here as its unit counts it, and compared once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.intake.counters import CounterWatch, TableCounters
from manager.ledger.engines.relations import COUNTERS
from protocol.wire.errors import ErrorCode
from protocol.wire.rows import NO_COUNTERS, Counters
from tests.kit.pretend_units import Desk

TABLE, CENT = "touch-1", 1_000_000


@pytest.fixture
def counters(desk: Desk) -> TableCounters:
    return TableCounters(desk.store)


def test_wagers_and_wins_add_up_for_each_table(desk: Desk, counters: TableCounters) -> None:
    """Catches: a sum that begins anew with each round, or forgets its wins."""
    assert counters.of(TABLE) == NO_COUNTERS
    with desk.store.transaction():
        counters.count_wagers(TABLE, 1, [100, 500])
        counters.count_win(TABLE, 700)
        counters.count_wagers(TABLE, 2, [])
        counters.count_wagers(TABLE, 3, [100])
        counters.count_win(TABLE, 20)
        counters.count_wagers("touch-2", 9, [100])
    assert counters.of(TABLE) == Counters(3, 700 * CENT, 2, 720, 3)
    assert counters.of("touch-2") == Counters(1, 100 * CENT, 0, 0, 9)
    assert desk.store.find(COUNTERS, {"table_id": TABLE}) == [(TABLE, *counters.of(TABLE))]


def test_both_counts_are_compared_at_the_same_event_and_once(
    desk: Desk, counters: TableCounters
) -> None:
    """Catches: a difference that is never told, told too early, or told for ever."""
    watch = CounterWatch(counters, desk.manager.book.alarms)
    unit = desk.manager.units.get(desk.units[TABLE].unit_id)
    ours, other = NO_COUNTERS, NO_COUNTERS._replace(wager_count=1)

    def hello(theirs: Counters, last: int) -> bool:
        said = replace(desk.units[TABLE].hello(), counters=(theirs,), last_sequence=last)
        return watch.told(unit, said) is not None

    assert not hello(ours, 0)
    assert hello(other, 0), "nothing of it is still to come"
    assert not hello(other, 3)
    assert watch.reached(unit, 2) is None
    problem = watch.reached(unit, 3)
    assert problem is not None
    assert (problem.code, problem.sequence) == (ErrorCode.COUNTERS, 3)
    assert watch.reached(unit, 3) is None
    assert not hello(other, 3)
    watch.forget(unit)
    assert watch.reached(unit, 3) is None
    assert not hello(other, 3)
    assert watch.told(unit, replace(desk.units[TABLE].hello(), last_sequence=3)) is None
    assert watch.reached(unit, 3) is None, "the newest hello counted nothing"
    assert desk.alarm_codes() == ["COUNTERS"]
