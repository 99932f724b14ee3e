"""The simulator's commands answer wrong arguments with a sentence, and forget only their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.__main__ import main
from sim.floor.floor import Impossible
from sim.runs.bench.run import PARTS, _prepare
from sim.runs.scenario.language import ScenarioError, parse_scenario

REFUSED = 2


@pytest.mark.parametrize("table", ["no-such-table", "../tables/four-card-touch", ""])
def test_the_bench_refuses_a_table_that_does_not_ship(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "--table", table, "--data", str(tmp_path / "data")]) == REFUSED
    assert "there is no table called" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_bench_refuses_a_folder_it_cannot_make(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="ascii")
    assert main(["bench", "--data", str(tmp_path / "file")]) == REFUSED
    assert "the data cannot lie in" in capsys.readouterr().err


def test_a_fresh_start_forgets_only_what_the_bench_put_there(tmp_path: Path) -> None:
    """Catches: removing the whole folder, which may be anybody's home."""
    mine = tmp_path / "letters.txt"
    mine.write_text("keep me", encoding="ascii")
    for part in PARTS:
        (tmp_path / part).mkdir()
        (tmp_path / part / "old").write_text("forget me", encoding="ascii")
    _prepare(tmp_path, fresh=True)
    assert mine.exists()
    assert not list(tmp_path.rglob("old"))


def test_earlier_data_that_cannot_be_forgotten_are_not_taken_for_fresh(tmp_path: Path) -> None:
    (tmp_path / "unit").write_text("a file where a folder should be", encoding="ascii")
    with pytest.raises(Impossible, match="cannot lie in"):
        _prepare(tmp_path, fresh=True)


def test_an_evening_without_rounds_proves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["evening", "--rounds", "0"])
    assert ended.value.code == REFUSED
    assert "'0' is not a whole number from 1" in capsys.readouterr().err


def test_figures_that_do_not_exist_are_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perf", "--only", "no such group"]) == REFUSED
    assert "there are: Chip to light" in capsys.readouterr().out


def test_nobody_waits_for_ever() -> None:
    parse_scenario("table four-card-touch\nwait 86400s")
    with pytest.raises(ScenarioError, match=r"line 2: .*longer than a day"):
        parse_scenario("table four-card-touch\nwait 86401s")
