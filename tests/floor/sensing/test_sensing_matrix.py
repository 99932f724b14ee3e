"""The sensing matrix on a fixed, small set of seeds: every requirement holds, both ways."""

from __future__ import annotations

import argparse
import json

import pytest

from controller.core.felt.spot import ACCEPT, EMPTY, LEFT, REFUSE
from sim.felt.physics.ranges import RANGES
from sim.runs.sense import command
from sim.runs.sense.cases import CASES, PADS, Case, Scene
from sim.runs.sense.matrix import Plan, run_matrix, trial_seeds
from sim.runs.sense.registers import RegisterRunner
from sim.runs.sense.sensing_ic import ICS
from sim.runs.sense.tally import CaseFigures, broken_by
from sim.runs.sense.trial import Drawn, FastRunner, Outcome, Runner, draw_table, judge, run_trial

BOTH_WAYS = [
    "one chip, clay",
    "chips lying there at power-up",
    "chip half off",
    "chip on edge",
    "hand resting",
    "hand hovering",
    "card over the spot",
    "liquid",
    "dead pad",
]


def case_called(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


@pytest.mark.parametrize("ic", sorted(ICS))
@pytest.mark.parametrize("seed", [1, 2])
def test_every_requirement_holds_on_the_short_way(seed: int, ic: str) -> None:
    cases = tuple(case for case in CASES if not case.through_registers)
    result = run_matrix(Plan(seed, 160, 0.0, cases, ic))
    assert result.broken() == []
    assert sum(tally.chips for tally in result.tallies) > 50


@pytest.mark.parametrize("ic", sorted(ICS))
def test_a_dead_bus_never_reads_as_no_bet(ic: str) -> None:
    result = run_matrix(Plan(3, 6, 1.0, (case_called("dead bus"),), ic))
    assert result.broken() == []
    assert result.tallies[0].refused == 6 * len(PADS)


@pytest.mark.parametrize("ic", sorted(ICS))
@pytest.mark.parametrize("name", BOTH_WAYS)
def test_both_ways_come_to_the_same_verdicts(name: str, ic: str) -> None:
    case = case_called(name)
    for seed in trial_seeds(7, case, 3):
        verdicts = []
        for new_runner in (FastRunner, RegisterRunner):
            drawn = draw_table(case, seed, ICS[ic])
            scene = case.arrange(drawn.table)
            runner: Runner = new_runner(drawn.table, drawn.stored, ICS[ic])
            verdicts.append(runner.play(scene))
            assert runner.wrong_lights == []
        assert verdicts[0] == verdicts[1], f"{name}, seed {seed}"


def test_a_trial_is_its_seed() -> None:
    case = case_called("hand resting")
    assert run_trial(case, 5, FastRunner) == run_trial(case, 5, FastRunner)
    assert trial_seeds(1, case, 5) == trial_seeds(1, case, 9)[:5] != trial_seeds(2, case, 5)


# -- what counts as wrong --------------------------------------------------------------------


def judged(scene: Scene, verdicts: dict[str, int], lit_changes: int = 0) -> Outcome:
    runner = Runner()
    runner.lit_changes = lit_changes
    drawn = draw_table(CASES[0], 1)
    return judge(1, Drawn(drawn.table, drawn.stored, 0), scene, verdicts, runner)


def tallied(case: Case, *outcomes: Outcome) -> CaseFigures:
    tally = CaseFigures(case)
    for outcome in outcomes:
        tally.add(outcome)
    return tally


EMPTY_TABLE = dict.fromkeys(PADS, EMPTY)


def test_an_accepted_spot_without_a_chip_breaks_the_requirement() -> None:
    outcome = judged(Scene(1.0), {**EMPTY_TABLE, "3A": ACCEPT})
    assert broken_by([tallied(case_called("hand resting"), outcome)])
    assert not broken_by([tallied(case_called("phone"), outcome)]), "raw data cannot tell that"


@pytest.mark.parametrize("verdict", [EMPTY, LEFT])
def test_a_chip_that_reads_as_no_bet_breaks_the_requirement(verdict: int) -> None:
    outcome = judged(Scene(1.0, chips=("3A",)), {**EMPTY_TABLE, "3A": verdict})
    assert broken_by([tallied(case_called("one chip, clay"), outcome)])


def test_one_refused_chip_among_few_proves_nothing_but_two_do() -> None:
    case = case_called("one chip, clay")
    fine = judged(Scene(1.0, chips=("3A",)), {**EMPTY_TABLE, "3A": ACCEPT})
    missed = judged(Scene(1.0, chips=("3A",)), {**EMPTY_TABLE, "3A": REFUSE})
    assert broken_by([tallied(case, missed, *[fine] * 500)]) == []
    assert broken_by([tallied(case, missed, missed, *[fine] * 500)])


def test_flicker_silence_and_a_dead_spot_that_reads_empty_break_theirs() -> None:
    edge, dead = case_called("chip on edge"), case_called("dead pad")
    refused = {**EMPTY_TABLE, "3A": REFUSE}
    assert broken_by([tallied(edge, judged(Scene(1.0, maybe=("3A",)), refused))]) == []
    assert broken_by([tallied(edge, judged(Scene(1.0, maybe=("3A",)), refused, 3))])
    assert broken_by([tallied(edge, judged(Scene(1.0, maybe=("3A",)), EMPTY_TABLE))])
    assert broken_by([tallied(dead, judged(Scene(1.0, dead=("3A",)), EMPTY_TABLE))])
    assert broken_by([tallied(dead, judged(Scene(1.0, dead=("3A",)), refused))]) == []


# -- the command -----------------------------------------------------------------------------


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


@pytest.fixture
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    few = (case_called("dead pad"), case_called("card over the spot"))
    monkeypatch.setattr(
        command, "Plan", lambda seed, trials, part, ic: Plan(seed, trials, part, few, ic)
    )


@pytest.mark.usefixtures("few_cases")
def test_the_json_says_what_was_drawn_and_what_came_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = options("--seed", "4", "--trials", "12", "--json")
    assert command.main(words) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["seed"], said["trials"], said["broken"]) == (4, 12, [])
    assert said["trials_through_registers"] == 2, "at least one of each case"
    dead, card = said["cases"]
    assert (dead["false_accepts"], dead["dead_read_empty"]) == (0, 0)
    assert card["ranges"]["card, fF"] == list(RANGES["card, fF"])


@pytest.mark.usefixtures("few_cases")
def test_a_broken_requirement_is_said_and_is_the_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FastRunner, "play", lambda *_: dict.fromkeys(PADS, ACCEPT))
    words = options("--trials", "12")
    assert command.main(words) == 1
    said = capsys.readouterr().out
    assert said.startswith("sense seed 1, 12 trials, mpr121")
    assert "card over the spot: " in said.splitlines()[-1]
