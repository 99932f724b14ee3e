"""A visit to a unit: one try with the PIN, the table given back whatever happens.

Mutations this catches: a second try after a wrong PIN (a robot's way into the lock-out), a table
that stays closed after Ctrl-C or an error, a table closed without being told to.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from deploy.tech.commands import calibrate, selftest
from deploy.tech.door import Answer, UnitGone
from deploy.tech.terminal import Terminal, printable
from deploy.tech.visit import View, Visit
from kit.command_line import CommandRefused
from tests.kit.scripted_door import ScriptedDoor, refused, view, working

VERDICTS = [
    {"part": "lamps", "passed": True, "sentence": "dark"},
    {"part": "sensor 3A", "passed": False, "sentence": "open"},
]


def signed_in(door: ScriptedDoor) -> Visit:
    visit = Visit(door)
    visit.sign_in("Tech 3", "246813")
    return visit


def test_a_wrong_pin_is_tried_once_and_told_in_the_units_words() -> None:
    door = ScriptedDoor([], {"/sign-in": refused(403, "Too many wrong PINs.")})
    visit = Visit(door)
    with pytest.raises(CommandRefused, match="Too many wrong PINs"):
        visit.sign_in("Tech 3", "000000")
    visit.close()
    assert door.paths == ["/sign-in"]
    assert door.is_closed


@pytest.mark.parametrize(
    ("is_round_open", "word"), [(True, "A game is under way at Table 7"), (False, "is open for")]
)
def test_a_running_table_is_the_reason_and_the_command_is_named(
    is_round_open: bool, word: str
) -> None:
    door = ScriptedDoor([view(round_open=is_round_open)])
    visit = signed_in(door)
    with pytest.raises(CommandRefused, match=word) as told, visit.in_service("selftest", False):
        pytest.fail("the table was closed without being told to")
    assert "underfelt-tech selftest --close-table" in str(told.value)
    assert door.acts == []


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, UnitGone("gone"), RuntimeError("bug")])
def test_the_table_is_given_back_whatever_ends_the_work(
    trouble: type[BaseException] | BaseException,
) -> None:
    door = ScriptedDoor([view()])
    visit = signed_in(door)
    with pytest.raises(BaseException), visit.in_service("selftest", True):  # noqa: B017, PT011
        raise trouble
    visit.close()
    assert door.acts == ["enter", "leave"]
    assert door.paths[-1] == "/sign-out"


def test_a_table_that_was_in_service_before_stays_so() -> None:
    door = ScriptedDoor([working("")])
    with signed_in(door).in_service("selftest", False):
        pass
    assert door.acts == []


def test_a_unit_that_is_gone_at_the_end_is_told_and_no_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Gone(ScriptedDoor):
        def ask(self, *words: object) -> object:  # type: ignore[override]
            raise UnitGone("The unit does not answer.")

    visit = Visit(Gone([]))
    visit._is_signed_in = True
    visit.close()
    assert "opens again by itself two minutes" in capsys.readouterr().err


def test_verdicts_are_shown_once_each_and_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    under_way = working(selftest.WORK, selftest=VERDICTS[:1])
    door = ScriptedDoor([under_way, under_way, working("", selftest=VERDICTS)])
    assert selftest.follow(signed_in(door), Terminal()) == VERDICTS
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["ok     lamps: dark", "FAULT  sensor 3A: open"]


def test_a_unit_that_vanishes_in_the_middle_says_what_was_under_way() -> None:
    door = ScriptedDoor([working(selftest.WORK), UnitGone("The unit does not answer.")])
    with pytest.raises(UnitGone, match="The self-test was under way"):
        selftest.follow(signed_in(door), Terminal())


def test_a_test_that_ended_early_is_no_success() -> None:
    mode = {"on": True, "tech": "Tech 3", "work": "", "sentence": "Stopped."}
    door = ScriptedDoor([view(mode=mode, selftest=VERDICTS[:1])])
    with pytest.raises(CommandRefused, match=r"ended early: Stopped\."):
        selftest.follow(signed_in(door), Terminal())


def step(name: str, seat: int, buttons: list[str], verdict: str = "") -> dict[str, object]:
    results = {"1A": {"verdict": verdict, "sentence": "found"}} if verdict else {}
    state = {"step": name, "seat": seat, "sentence": f"{name} {seat}", "measuring": False}
    return working("calibration", calibration=state | {"buttons": buttons, "results": results})


def test_a_step_that_was_just_taken_is_not_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutation: the first view after a press, which may still show the step before."""
    empty = step("empty", 0, ["measure"])
    review = step("review", 0, ["save", "back"], "good")
    done = step("done", 0, [], "good")
    door = ScriptedDoor([empty, empty, empty, review, review, done])
    visit = signed_in(door)
    monkeypatch.setattr(Visit, "present", lambda _: pytest.MonkeyPatch.context())
    monkeypatch.setattr("builtins.input", lambda _: "")
    assert calibrate.follow(visit, Terminal()) == 0
    pressed = [fields["argument"] for _, path, fields in door.asked if path == "/act"]
    assert pressed == ["measure", "save"]
    visit.close()
    assert "/sign-out" not in door.paths, "the unit starts anew and knows nobody"


def test_a_bad_spot_cannot_be_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = iter(["w", "", "q"])
    door = ScriptedDoor([step("review", 0, ["save", "back"], "bad")])
    monkeypatch.setattr(Visit, "present", lambda _: pytest.MonkeyPatch.context())
    monkeypatch.setattr("builtins.input", lambda _: next(keys))
    with pytest.raises(CommandRefused, match="nothing was saved"):
        calibrate.follow(signed_in(door), Terminal())
    assert door.acts == []


def test_control_characters_of_a_unit_are_shown_and_not_obeyed() -> None:
    assert printable("a\x1b[2Jb\n") == "a\\x1b[2Jb\\x0a"


class LossyDoor(ScriptedDoor):
    """Each answer to a press is lost so many times before one arrives."""

    def __init__(self, views: list[View | Exception], lost: int) -> None:
        super().__init__(views)
        self._lost = lost

    def ask(self, method: str, path: str, fields: Mapping[str, str] | None = None) -> Answer:
        answer = super().ask(method, path, fields)
        if path == "/act" and self._lost:
            self._lost -= 1
            raise UnitGone("only noise arrives")
        return answer


def test_a_lost_answer_is_looked_after_and_nothing_is_pressed_twice() -> None:
    door = LossyDoor([working("self-test")], 1)
    signed_in(door).act_surely("selftest", lambda shown: shown["mode"]["work"] == "self-test")
    assert door.acts == ["selftest"]


def test_a_press_that_was_not_heard_is_pressed_again_and_not_for_ever() -> None:
    door = LossyDoor([view()], 1)
    signed_in(door).act_surely("enter", lambda shown: bool(shown["mode"]["on"]))
    assert door.acts == ["enter", "enter"]
    door = LossyDoor([view() for _ in range(9)], 9)
    with pytest.raises(UnitGone, match="only noise"):
        signed_in(door).act_surely("enter", lambda shown: bool(shown["mode"]["on"]))
    assert door.acts == ["enter"] * 3
