"""A soak goes on where it was interrupted, and makes what it finds small and readable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sim.runs.scenario.language import parse_scenario
from sim.runs.storm.campaign import campaign, soak
from sim.runs.storm.campaign.as_scenario import scenario_of
from sim.runs.storm.campaign.smaller import make_smaller, rule_of
from sim.runs.storm.campaign.soak import Soak
from sim.runs.storm.campaign.storm_process import StormOutcome, run_apart
from sim.runs.storm.options import WIDE, StormOptions

BROKEN = "12.000 s, four-card-touch-1: no win lost: claim 3 is gone"


def well(options: StormOptions) -> StormOutcome:
    return StormOutcome(options, passed=True, says="", figures={"rounds": 2, "violations": []})


def broken(options: StormOptions) -> StormOutcome:
    figures = {"rounds": 2, "violations": [BROKEN]}
    return StormOutcome(options, passed=False, says=BROKEN, figures=figures)


def soak_with(
    monkeypatch: pytest.MonkeyPatch, folder: Path, storms: int, failing: int | None = None
) -> tuple[int, list[int]]:
    """Runs until so many storms were begun, and then is interrupted. (exit code, seeds begun)"""
    begun: list[int] = []

    def storm(options: StormOptions) -> StormOutcome:
        if len(begun) == storms:
            raise KeyboardInterrupt
        begun.append(options.seed)
        return broken(options) if options.seed == failing else well(options)

    monkeypatch.setattr(campaign, "run_apart", storm)
    monkeypatch.setattr(soak, "run_apart", lambda options, whole_trace=False: well(options))
    return Soak(folder).run(hours=1.0, processes=1), begun


def test_a_soak_goes_on_where_it_was_interrupted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, before = soak_with(monkeypatch, tmp_path, 5)
    assert code == 0
    assert "interrupted" in capsys.readouterr().out
    _, after = soak_with(monkeypatch, tmp_path, 4)
    first = Soak(tmp_path).first_seed
    assert before == [first + number for number in range(5)]
    assert after == [first + number for number in range(5, 9)]
    assert Soak(tmp_path).figures.storms.total() == 9


def test_a_torn_last_line_costs_that_storm_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    soak_with(monkeypatch, tmp_path, 3)
    log = tmp_path / "storms.jsonl"
    log.write_text(log.read_text()[:-20], encoding="utf-8")
    _, again = soak_with(monkeypatch, tmp_path, 2)
    assert [seed - Soak(tmp_path).first_seed for seed in again] == [2, 3]


def test_a_failure_is_told_again_by_every_later_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = Soak(tmp_path).first_seed + 1
    assert soak_with(monkeypatch, tmp_path, 3, failing)[0] == 1
    assert soak_with(monkeypatch, tmp_path, 1)[0] == 1
    assert f"--seed {failing} " in capsys.readouterr().out


def test_a_time_that_is_over_begins_no_storm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(campaign, "run_apart", lambda options: pytest.fail("a storm began"))
    assert Soak(tmp_path).run(hours=0.0, processes=1) == 0


def test_a_failing_storm_is_made_smaller() -> None:
    """It fails with two tables or more, while "link cut" is dealt, and for 0.02 hours or more."""

    def storm(options: StormOptions) -> StormOutcome:
        fails = options.tables >= 2 and "link cut" in options.weights and options.hours >= 0.02
        return broken(options) if fails else well(options)

    whole = StormOptions.drawn(tables=10, hours=0.2, seed=7, depth=WIDE)
    smallest = make_smaller(broken(whole), storm)
    assert rule_of(smallest) == "no win lost"
    assert (smallest.options.tables, list(smallest.options.weights)) == (2, ["link cut"])
    assert 0.02 <= smallest.options.hours < 0.04
    assert "--without" in smallest.options.command


def test_another_promise_is_another_failure() -> None:
    other = "1.000 s, manager-1: counted once: twice"

    def storm(options: StormOptions) -> StormOutcome:
        return replace(broken(options), figures={"violations": [other]})

    whole = broken(StormOptions.drawn(tables=2, hours=0.2, seed=7))
    assert make_smaller(whole, storm) is whole


def test_a_storm_is_written_as_a_scenario_that_can_be_played() -> None:
    options = StormOptions.drawn(tables=2, hours=0.01, seed=3, depth=WIDE)
    ended = run_apart(options, whole_trace=True)
    assert ended.passed, ended.says
    text = scenario_of(replace(ended, says=BROKEN))
    verbs = [instruction.verb for instruction in parse_scenario(text)]
    assert verbs[0] == "table"
    assert {"place", "press", "wait"} <= set(verbs)
    assert options.command in text
    assert text.startswith(f"# {BROKEN}")
