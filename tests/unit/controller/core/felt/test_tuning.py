"""Every figure that tunes sensing is in `tuning`, and its name says its unit."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from controller.core import felt
from controller.core.felt import tuning

UNITS = {
    *("CHIPS", "NOISES", "SIGMAS", "PART", "MS", "COUNTS", "TIMES", "SQUARES"),
    *("COUNT", "READINGS", "BLOCKS", "CROSSINGS", "SEATS"),
}
MODULES = sorted(path for path in Path(felt.__file__).parent.glob("*.py") if path.stem != "tuning")
# No figures of sensing: neutral elements, a pair, halves, and milliseconds in a second.
PLAIN = {0, 1, 2, 1000}
CODES_MAX = 4  # kinds, zones, origins and verdicts are numbered from 0 or 1


def test_every_figure_says_its_unit() -> None:
    figures = [name for name in vars(tuning) if name.isupper()]
    assert len(figures) > 100
    assert [name for name in figures if not UNITS & set(name.split("_"))] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_figure_hides_in_the_code(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    codes = {
        id(statement.value)
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, int)
        and statement.value.value <= CODES_MAX
    }
    figures = [
        f"line {node.lineno}: {node.value}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and id(node) not in codes
        and node.value not in PLAIN
    ]
    assert figures == []
