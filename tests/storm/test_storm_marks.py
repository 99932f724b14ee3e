"""A storm that was strong enough must have met everything that it is there to meet."""

from __future__ import annotations

from collections.abc import Iterable

from sim.runs.storm.marks import FAULTS_MIN, MUST_FIRE
from sim.runs.storm.record import Record, Violation
from sim.runs.storm.run import check_marks
from sim.time.loop import run_virtual


def verdict(faults: int, fired: Iterable[str]) -> list[Violation]:
    async def judge() -> list[Violation]:
        record = Record()
        record.faults["power cut"] = faults
        for name in fired:
            record.marks.fire(name)
        check_marks(record)
        return record.violations

    return run_virtual(judge())


def test_a_mark_that_never_fired_fails_a_storm_of_sufficient_size() -> None:
    [found] = verdict(FAULTS_MIN, MUST_FIRE[1:])
    assert found.rule == "the storm was strong enough"
    assert MUST_FIRE[0] in found.sentence


def test_a_short_storm_may_miss_one() -> None:
    assert verdict(FAULTS_MIN - 1, MUST_FIRE[1:]) == []


def test_a_storm_that_met_everything_passes() -> None:
    assert verdict(FAULTS_MIN, MUST_FIRE) == []
