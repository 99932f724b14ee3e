"""The runner has teeth: it says what failed and where, and nothing that fails goes by."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from controller.felt.late_changes import LateChanges
from controller.inputs.presses import Presses
from controller.lights.lamp_player import LampPlayer
from controller.unit import Unit
from manager.__main__ import main as manager_main
from manager.intake.round_events import RoundEvents
from sim.__main__ import main
from sim.runs.scenario.command import play_text
from sim.runs.scenario.language import ScenarioError
from sim.runs.scenario.verdict import CannotDo, Failure, Mismatch, ProductFailed

TOUCH, KEYPAD = "table four-card-touch\n", "table four-card-keypad\n"


def failure_of(text: str) -> Failure:
    with pytest.raises(Failure) as caught:
        play_text(text)
    return caught.value


@pytest.mark.parametrize(
    ("lines", "expected", "found"),
    [
        ("place 3\nexpect light 3 accepted", "accepted", "detected"),
        ("place 3\nexpect light 3 off", "off", "detected"),
        ("expect state locked", "locked", "open"),
        ("expect meter main 9999.99", "9999.99", "10000.00"),
        ("expect wagers 1", "1", "0"),
        ("expect award 5 1.00", "1.00", "0.00"),
        ("expect envy 5 1.00", "1.00", "0.00"),
        ("press START\nexpect accepted", "accepted", "refused"),
        ("place 3\npress START\nexpect refused", "refused", "accepted"),
        ("place 3\npress START\nplace 4\nexpect late 4 removed", "removed", "added"),
        ("power cut\nexpect state open", "open", "without power"),
        ('power cut\nexpect sentence "bets"', "bets", "without power"),
        ('expect sentence "locked"', "locked", "Waiting for bets."),
        ("power cut\npress START\nexpect refused", "refused", "no answer, the unit has no power"),
    ],
)
def test_a_wrong_expectation_names_line_expected_and_found(
    lines: str, expected: str, found: str
) -> None:
    failure = failure_of(TOUCH + lines)
    assert isinstance(failure, Mismatch)
    assert (failure.expected, failure.found) == (expected, found)
    last_line = lines.count("\n") + 2
    text = lines.splitlines()[-1]
    assert str(failure).startswith(
        f"line {last_line}: `{text}`: expected {expected}, found {found}\n"
    )


def test_a_failure_shows_the_last_message_and_every_light() -> None:
    report = str(failure_of(f"{TOUCH}place 3\nwait 2s\npress END\nexpect state locked"))
    assert "table: open, round 0, 0 wagers, link up, key none" in report
    assert "last message (refused): There is no game to end." in report
    assert "lights: 1A off, 2A off, 3A detected, 4A off" in report


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("table roulette", "there is no table called roulette; there are crazy-4-multi-link, face"),
        (f"{TOUCH}key JPH", "no key switch"),
        (f"{KEYPAD}swipe SUPERVISOR", "no card reader"),
        (f"{KEYPAD}press HAND royal-flush", "There is no key HAND royal-flush; there are START"),
        (f"{TOUCH}place 9", "There is no sensor 9A on this felt"),
        (f"{TOUCH}remove 3B", "There is no sensor 3B"),
        (f"{TOUCH}expect light 9 off", "no white lamp at sensor 9A"),
        (f"{TOUCH}meter minor 5.00", "there is no meter called minor; there are main"),
        (f"{TOUCH}expect meter minor 5.00", "there is no meter called minor"),
        (f"{TOUCH}place 3\npress START\nmeter main 5.00", "can no longer be restated"),
        (f"{TOUCH}fault nack sense-9", "there are sense-1, lights-1"),
        (f"{TOUCH}fault over-current lights-1", "has no over-current flag"),
    ],
)
def test_what_the_table_cannot_do_is_said_with_its_line(text: str, words: str) -> None:
    failure = failure_of(text)
    assert isinstance(failure, CannotDo)
    assert str(failure).startswith(f"line {text.count(chr(10)) + 1}: ")
    assert words in failure.sentence


def test_a_second_table_stands_on_the_same_floor() -> None:
    play_text(
        f"{TOUCH}place 3\npress START\nexpect meter main 10000.25\n"
        f"{KEYPAD}2: expect meter main 10000.25\n2: expect wagers 0\n2: expect light 3 off\n"
        "1: expect light 3 accepted"
    )


def test_what_differs_at_the_second_table_is_told_with_that_table() -> None:
    failure = failure_of(f"{TOUCH}{TOUCH}place 3\npress START\n2: expect state locked")
    assert isinstance(failure, Mismatch)
    assert (failure.expected, failure.found) == ("locked", "open")
    assert "table: open, round 0" in failure.picture


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("2: place 3", "line 2: `2: place 3`: table 2 was not opened before this line"),
        ("2: table four-card-touch", "`table` opens the next table by itself"),
        (4 * TOUCH, "a floor has at most 4 tables"),
    ],
)
def test_a_table_that_is_not_there_is_refused_before_anything_is_played(
    lines: str, words: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        play_text(TOUCH + lines)
    assert words in str(caught.value)


# --- a product that breaks ------------------------------------------------------------------


def test_an_exception_in_an_answer_fails_the_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    async def break_down(self: Presses, button: str, *beside: Any, **how: Any) -> None:
        raise ZeroDivisionError("on START")

    monkeypatch.setattr(Presses, "press", break_down)
    failure = failure_of(f"{TOUCH}press START\nexpect state open")
    assert isinstance(failure, ProductFailed)
    assert "the product failed: ZeroDivisionError at runs/test_scenario_runner" in str(failure)


@pytest.mark.parametrize("victim", [LampPlayer, LateChanges])
def test_a_task_that_dies_fails_the_scenario(monkeypatch: pytest.MonkeyPatch, victim: type) -> None:
    async def die(self: Any) -> None:
        raise KeyError("gone")

    monkeypatch.setattr(victim, "run", die)
    assert "the product failed: KeyError" in str(failure_of(f"{TOUCH}wait 1s"))


def test_an_exception_in_the_start_of_the_unit_fails_the_scenario(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def die(self: Unit) -> None:
        raise OSError("no disk")

    monkeypatch.setattr(Unit, "_resume", die)
    assert "the product failed: OSError" in str(failure_of(f"{TOUCH}wait 1s"))


def test_an_exception_in_the_manager_fails_the_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(self: RoundEvents, step: Any, body: Any) -> None:
        raise TypeError("a round is no number")

    monkeypatch.setattr(RoundEvents, "_round_start", die)
    failure = failure_of(f"{TOUCH}place 3\npress START\nwait 1s\nexpect wagers 1")
    assert isinstance(failure, ProductFailed)


def test_books_that_do_not_add_up_fail_the_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.floor.floor.Floor.unsound_books", lambda self: "two cents are missing")
    assert "the books are wrong: two cents are missing" in str(failure_of(f"{TOUCH}wait 1s"))


# --- the command ----------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {
        "good": f"{TOUCH}place 3\nexpect light 3 detected\n",
        "bad": f"{TOUCH}expect state locked\n",
        "odd": f"{TOUCH}dance\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe")
    return {name: str(tmp_path / f"{name}.txt") for name in (*texts, "binary", "missing")}


def test_exit_code_0_when_all_went_as_written(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", files["good"]]) == 0
    assert capsys.readouterr().out == f"ok     {files['good']}\n1 passed, 0 failed\n"


def test_exit_code_1_and_the_rest_is_still_played(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    order = ("missing", "bad", "odd", "binary", "good")
    assert main(["run", "--quiet", *(files[name] for name in order)]) == 1
    printed = capsys.readouterr().out
    assert f"FAILED {files['missing']}: cannot be read: No such file" in printed
    assert f"FAILED {files['bad']}: line 2: `expect state locked`: expected locked" in printed
    assert f"FAILED {files['odd']}: line 2: `dance`: is no instruction" in printed
    assert f"FAILED {files['binary']}: cannot be read: it is not UTF-8 text" in printed
    assert printed.endswith("1 passed, 4 failed\n")
    assert "ok  " not in printed


def test_a_broken_product_does_not_end_the_run(
    files: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def die(self: Any) -> None:
        raise RuntimeError("the floor gave way")

    monkeypatch.setattr("sim.floor.floor.Floor.wins", die)
    assert main(["run", files["good"], files["good"]]) == 1
    printed = capsys.readouterr().out
    assert printed.count("the product failed after the last line: RuntimeError") == 2


def test_verbose_prints_each_line_with_virtual_time_and_the_log(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "-v", "--seed", "7", files["good"]]) == 0
    captured = capsys.readouterr()
    assert "     0.000 s  line   1  table four-card-touch\n" in captured.out
    assert "  line   3  expect light 3 detected\n" in captured.out
    assert "felt seed 7" in captured.err
    assert "INFO controller.link: link is up" in captured.err
    assert logging.getLogger().level == logging.WARNING


def test_the_product_is_quiet_otherwise(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", files["good"]])
    assert capsys.readouterr().err == ""


def test_kept_books_serve_the_managers_own_tools(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "kept"
    assert main(["run", "--quiet", "--keep", str(folder), files["good"]]) == 0
    assert manager_main(["audit", "--data", str(folder)]) == 0
    assert "are sound" in capsys.readouterr().out


def test_books_are_kept_of_a_scenario_that_fails_too(files: dict[str, str], tmp_path: Path) -> None:
    assert main(["run", "--keep", str(tmp_path / "kept"), files["bad"]]) == 1
    assert (tmp_path / "kept" / "ledger.sqlite").is_file()


def test_books_are_never_kept_over_others(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep = ["run", "--keep", str(tmp_path)]
    assert main([*keep, files["good"]]) == 2
    assert "is not empty" in capsys.readouterr().out
    assert main([*keep, files["good"], files["bad"]]) == 2
    assert "takes one scenario" in capsys.readouterr().out
