"""The order in which tests are asked about a change."""

from __future__ import annotations

from pathlib import Path

from tests.mutate.changes import Change
from tests.mutate.reach import Reach

OWN = "tests/unit/manager/link/test_server.py"
NEAR = "tests/unit/manager/link/test_gate.py"
FAR = ("tests/unit/manager/test_money.py", "tests/golden/test_told.py")


def test_each_other_file_has_its_turn_before_any_is_asked_twice(tmp_path: Path) -> None:
    """Catches: only the cheap tests of one file elsewhere asked, as far as the time goes.

    The drawn evenings are of every room. Only what computes for seconds waits for all others.
    """
    cpu_s = {
        f"{FAR[0]}::test_a": 0.1,
        f"{FAR[0]}::test_b": 0.2,
        f"{FAR[1]}::test_c": 0.3,
        f"{NEAR}::test_d": 0.5,
        f"{NEAR}::test_e": 0.4,
        f"{OWN}::test_f": 0.9,
        f"{OWN}::test_g": 3.0,
    }
    function = "manager/link/server.py:Server.serve"
    for file in (OWN, NEAR, *FAR):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("", encoding="utf-8")
    reach = Reach(tmp_path / "reach.json")
    rows: list[dict[str, object]] = [
        {"test": test, "cpu_s": each, "functions": [function]} for test, each in cpu_s.items()
    ]
    reach.measure(tmp_path, [OWN, NEAR, *FAR], lambda _parts: [rows])
    module, _, name = function.partition(":")
    change = Change(module, name, 1, "return 1", "number", "1", "2", 7, 8)
    asked = [each.test.rpartition("_")[2] for each in reach.tests_for(change)]
    assert asked == ["f", "e", "d", "c", "a", "b", "g"]
    assert reach.test_count(change) == 7
    (tmp_path / NEAR).unlink()
    assert reach.unmeasured(tmp_path, [OWN, *FAR]) == []
    asked = [each.test.rpartition("_")[2] for each in reach.tests_for(change)]
    assert asked == ["f", "c", "a", "b", "g"], "nobody asks a test that is gone"


def test_of_a_function_that_runs_when_its_module_is_read_its_own_file_is_asked(
    tmp_path: Path,
) -> None:
    """Catches: a change that only a look at the module's own tables could notice."""
    for file in (OWN, NEAR):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("", encoding="utf-8")
    reach = Reach(tmp_path / "reach.json")
    rows: list[dict[str, object]] = [
        {"test": f"{OWN}::test_a", "cpu_s": 0.1, "functions": []},
        {"test": f"{OWN}::test_b", "cpu_s": 0.2, "functions": ["manager/link/server.py:other"]},
        {"test": f"{NEAR}::test_c", "cpu_s": 0.1, "functions": []},
    ]
    reach.measure(tmp_path, [OWN, NEAR], lambda _parts: [rows])
    change = Change("manager/link/server.py", "made", 1, "return 1", "number", "1", "2", 7, 8)
    asked = [each.test.rpartition("_")[2] for each in reach.tests_for(change)]
    assert asked == ["a", "b"]
    assert reach.test_count(change) == 0
