"""Who gets a second run: a test of real time that lost a race, and nobody else.

Mutations this catches: a failure in virtual time that is tried until it passes; a broken tree, in
which everything fails, that is tried again; a collection error taken for a race.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.alone import RACES_MAX, last_failed, races

CHROMIUM = "tests/browser/test_whole_round.py::test_four_aces"
PROCESS = "tests/process/test_several_managers.py::test_cut_off[killed]"


def test_what_failed_in_real_time_is_tried_again() -> None:
    assert races([CHROMIUM, PROCESS]) == [CHROMIUM, PROCESS]


@pytest.mark.parametrize(
    "other",
    [
        "tests/unit/manager/test_money.py::test_cents",
        "tests/storm/test_storm_teeth.py::test_a_tooth",
        "tests/browser/test_whole_round.py",  # it could not even be read
    ],
)
def test_nothing_is_tried_again_when_something_cannot_have_lost_a_race(other: str) -> None:
    assert races([CHROMIUM, other]) == []


def test_many_failures_are_no_race() -> None:
    assert races([f"{CHROMIUM}[{n}]" for n in range(RACES_MAX)])
    assert not races([f"{CHROMIUM}[{n}]" for n in range(RACES_MAX + 1)])


def test_a_run_that_kept_no_failures_is_not_called_good(tmp_path: Path) -> None:
    assert last_failed(tmp_path / "lastfailed") == []
    assert races([]) == []
    kept = tmp_path / "kept"
    kept.write_text(f'{{"{PROCESS}": true, "{CHROMIUM}": true}}', encoding="utf-8")
    assert last_failed(kept) == [CHROMIUM, PROCESS]
