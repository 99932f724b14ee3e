"""A trial on a small tree: what is noticed, what is not, and that the tree is as it was."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kit.command_line import CommandRefused
from tests.kit.places import ROOT, TESTS
from tests.mutate.changes import Change, changes_of
from tests.mutate.reach import Reach, Reached
from tests.mutate.trial import Copy, Outcome, within

MODULE = "manager/till.py"
FILE = "tests/unit/manager/test_till.py"
NOTICING = f"{FILE}::test_worth"
SOURCE = """
def worth(chips: int) -> int:
    if chips > 10:
        return 0
    while chips < 0:
        chips += 1
    return chips * 5


def unused(chips: int) -> int:
    return chips + 1
"""
TEST = """
from manager.till import worth

def test_worth() -> None:
    assert worth(3) == 15
    assert worth(-2) == 0

def test_that_fails() -> None:
    assert False
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for folder in ("manager", "tests/unit/manager", "tests/mutate"):
        (root / folder).mkdir(parents=True)
    for name in ("recorder.py", "warm.py"):
        shutil.copy2(TESTS / "mutate" / name, root / "tests" / "mutate")
    shutil.copy2(ROOT / "pyproject.toml", root)
    (root / MODULE).write_text(SOURCE, encoding="utf-8")
    (root / FILE).write_text(TEST, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def copy(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    copy = Copy(root, tmp_path_factory.mktemp("copy") / "tree")
    yield copy
    copy.close()


@pytest.fixture(scope="module")
def reach(root: Path, copy: Copy) -> Reach:
    reach = Reach(copy.place.parent / "reach.json")
    files = reach.unmeasured(root, [FILE])
    reach.measure(root, files, lambda parts: map(copy.record, parts))
    return reach


def the_change(root: Path, before: str, after: str) -> Change:
    changes = changes_of(root, MODULE)
    (found,) = (each for each in changes if (each.before, each.after) == (before, after))
    return found


@pytest.mark.parametrize(
    ("before", "after", "outcome", "by"),
    [
        (
            "chips * 5",
            "(chips // 5)",
            Outcome.KILLED,
            "tests/unit/manager/test_till.py::test_worth",
        ),
        ("chips > 10", "(chips >= 10)", Outcome.SURVIVED, ""),
        ("chips + 1", "(chips - 1)", Outcome.SURVIVED, ""),  # asked of all that run the module
    ],
)
def test_a_trial(
    root: Path, copy: Copy, reach: Reach, before: str, after: str, outcome: Outcome, by: str
) -> None:
    change = the_change(root, before, after)
    verdict = copy.trial(change, reach.tests_for(change))
    assert (verdict.outcome, verdict.by) == (outcome, by)
    assert (root / MODULE).read_text() == (copy.place / MODULE).read_text() == SOURCE


def test_a_module_that_no_test_runs_is_told_apart(root: Path, copy: Copy, reach: Reach) -> None:
    (root / "manager" / "nobody.py").write_text(SOURCE, encoding="utf-8")
    change = changes_of(root, "manager/nobody.py")[0]
    assert reach.tests_for(change) == []
    (copy.place / "manager" / "nobody.py").write_text(SOURCE, encoding="utf-8")
    assert copy.trial(change, []).outcome is Outcome.UNREACHED


def test_a_change_that_never_ends_is_noticed(
    root: Path, copy: Copy, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.mutate.trial.START_CPU_S", 2)
    change = the_change(root, "chips < 0", "(chips <= 0)")
    endless = replace(change, after="True")
    verdict = copy.trial(endless, reach.tests_for(endless))
    assert (verdict.outcome, verdict.by) == (Outcome.KILLED, "it does not end")


def test_what_is_measured_is_kept_and_a_test_that_fails_is_left_out(
    root: Path, copy: Copy, reach: Reach
) -> None:
    again = Reach(copy.place.parent / "reach.json")
    assert again.unmeasured(root, [FILE]) == []
    assert again.names() == {NOTICING}


def test_a_test_that_is_gone_has_noticed_nothing(root: Path, copy: Copy) -> None:
    change = the_change(root, "chips > 10", "(chips >= 10)")
    with pytest.raises(CommandRefused, match="FRESH=1"):
        copy.trial(change, [Reached(f"{FILE}::test_gone", 0.1, frozenset())])
    broken = replace(change, after="chips > (")
    tests = [Reached(NOTICING, 0.1, frozenset())]
    assert copy.trial(broken, tests).outcome is Outcome.KILLED


def test_a_dear_test_does_not_keep_the_cheap_ones_after_it_from_being_asked() -> None:
    """Catches: the first test that does not fit ending the list, whatever stands after it."""
    dear = [Reached(f"{FILE}::test_dear_{number}", 15.0, frozenset()) for number in (1, 2)]
    cheap = Reached(NOTICING, 0.1, frozenset())
    assert within([*dear, cheap], 20.0) == [dear[0], cheap]
    assert within([cheap, *dear], 20.0) == [cheap, dear[0]]
    assert within(dear, 1.0) == dear[:1], "at least one"
