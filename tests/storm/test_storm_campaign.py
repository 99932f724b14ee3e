"""A campaign says what failed, how to see it again, and what never happened."""

from __future__ import annotations

from typing import Any

import pytest

from sim.runs.storm.campaign import campaign, storm_process
from sim.runs.storm.campaign.campaign import run_campaign
from sim.runs.storm.campaign.storm_process import StormOutcome, run_apart
from sim.runs.storm.marks import MUST_FIRE
from sim.runs.storm.options import DEPTHS, WIDE, StormOptions


def verdict(options: StormOptions, marks: dict[str, int], violations: list[str]) -> StormOutcome:
    figures: dict[str, Any] = {"rounds": 2, "faults": {"power cut": 3}, "marks": marks}
    return StormOutcome(options, not violations, "; ".join(violations), figures)


def said_by(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lost: str, broken: int
) -> tuple[int, str]:
    """A campaign of storms without a floor: one mark never fires, one seed breaks a promise."""

    def storm(options: StormOptions) -> StormOutcome:
        marks = {name: 1 for name in MUST_FIRE if name != lost}
        return verdict(options, marks, ["a win was lost"] if options.seed == broken else [])

    monkeypatch.setattr(campaign, "run_apart", storm)
    return run_campaign(seconds=1e-9, fresh_from=99), capsys.readouterr().out


def test_a_campaign_in_which_all_is_well_passes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = said_by(monkeypatch, capsys, lost="", broken=0)
    assert code == 0
    assert "every promise was kept" in said
    assert f"{len(campaign.FIXED_SEEDS)} storms" in said  # the fixed set, however short the time


def test_a_campaign_mixes_the_depths_and_says_the_hours_of_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, said = said_by(monkeypatch, capsys, lost="", broken=0)
    for depth in DEPTHS:
        hours = 2 * sum(tables * hours for tables, hours, each in campaign.SIZES if each == depth)
        assert f"8 {depth} ({hours:.2f} table-hours" in said


def test_a_failing_seed_is_printed_as_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = said_by(monkeypatch, capsys, lost="", broken=3)
    tables, hours, depth = campaign.SIZES[2]
    assert code == 1
    numbers = f"--tables {tables} --hours {hours} --seed 3 --depth {depth}"
    assert f"python -m sim storm {numbers}\n" in said
    assert "a win was lost" in said


def test_a_mark_that_never_fired_fails_the_campaign(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = said_by(monkeypatch, capsys, lost=MUST_FIRE[0], broken=0)
    assert code == 1
    assert f"it never happened that {MUST_FIRE[0]}" in said


def test_a_storm_runs_in_a_process_of_its_own() -> None:
    ended = run_apart(StormOptions.drawn(tables=1, hours=0.002, seed=3))
    assert ended.passed, ended.says
    assert ended.figures["seed"] == 3
    assert ended.figures["trace_sha256"]


def test_a_storm_that_falls_over_or_hangs_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    options = StormOptions.drawn(tables=1, hours=0.01, seed=3)
    monkeypatch.setattr(StormOptions, "command", property(lambda self: "python -c 1/0"))
    fallen = run_apart(options)
    assert (fallen.passed, "ZeroDivisionError" in fallen.says) == (False, True)
    monkeypatch.setattr(storm_process, "CPU_MAX_S", 1)
    monkeypatch.setattr(
        StormOptions, "command", property(lambda self: "python -c 'while True: pass'")
    )
    busy = run_apart(options)
    assert (busy.passed, busy.says) == (False, "no end after 1 CPU seconds")
    monkeypatch.setattr(storm_process, "WALL_MAX_S", 0.2)
    monkeypatch.setattr(
        StormOptions, "command", property(lambda self: "python -c \"__import__('time').sleep(60)\"")
    )
    asleep = run_apart(options)
    assert (asleep.passed, asleep.says) == (False, "no end after 0.2 s")


def test_a_floor_of_two_managers_ends_in_order() -> None:
    ended = run_apart(StormOptions.drawn(tables=9, hours=0.001, seed=4, depth=WIDE))
    assert ended.passed, ended.says
