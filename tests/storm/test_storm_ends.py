"""What falls over after the faults have stopped breaks a promise like anything before."""

from __future__ import annotations

import pytest

from manager.audit import causes
from sim.runs.storm import run
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.options import StormOptions


def test_a_task_that_dies_after_the_last_fault_fails_the_storm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def falls() -> None:
        raise RuntimeError("it fell")

    async def at_rest(floor: StormFloor) -> None:
        await floor.tables[0].unit.serve(falls, patience_s=1.0)

    monkeypatch.setattr(run, "check_all", at_rest)
    [found] = run.run_storm(StormOptions(1, 0.0005, 3, weights={"power cut": 1})).violations
    assert found.rule == "the program does not fall over"
    assert "it fell" in found.sentence


def test_an_audit_that_accuses_a_bet_as_it_was_said_fails_the_storm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(causes, "_same", lambda one, other: False)
    [found] = run.run_storm(StormOptions(1, 0.01, 3, weights={"power cut": 1})).violations
    assert found.rule == "an audit finds the books sound"
    assert "ROUND_START" in found.sentence
