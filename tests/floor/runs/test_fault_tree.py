"""docs/fault-tree.md is what the rules make of it, and what was measured holds the promise.

Mutations this catches: a rule that was changed and the page was not, a matrix below 95 %.
"""

from __future__ import annotations

from pathlib import Path

from sim.runs.diagnose import pairs
from sim.runs.diagnose.document import PICTURE, fault_tree
from sim.runs.diagnose.faults import FAULTS
from sim.runs.diagnose.looks import WORDS, levels_drawn, looks
from sim.runs.diagnose.matrix import DIAGONAL_MIN, SOUND, measured, on_diagonal

PAGE = Path(__file__).parents[3] / "docs" / "fault-tree.md"


def test_the_page_is_made_from_the_rules() -> None:
    again = ".venv/bin/python -m sim diagnose --document docs/fault-tree.md"
    assert PAGE.read_text(encoding="utf-8") == fault_tree(), f"make it again: {again}"
    assert (PAGE.parent / PICTURE).read_text(encoding="utf-8") == levels_drawn()


def test_what_is_drawn_is_a_rules_or_in_order() -> None:
    assert looks().keys() == WORDS.keys() <= {*FAULTS, SOUND}


def test_every_fault_was_measured_and_most_are_named() -> None:
    matrix = measured()
    assert set(matrix) == {*FAULTS, SOUND}
    assert all(sum(row.values()) for row in matrix.values())
    assert on_diagonal(matrix) >= DIAGONAL_MIN


# Of two hundred evenings a few go either way, and one fault may leave little of the other.
PAIRS_MIN = 0.95


def test_most_pairs_are_named_and_none_that_was_tried_is_never_named() -> None:
    """A pair that is missed each time is a broken rule. What was measured is on the page."""
    tally = pairs.measured()
    assert set(tally) <= {",".join(pair) for pair in pairs.sensible()}
    assert [pair for pair, (named, _) in tally.items() if not named] == []
    assert pairs.named_part(tally) >= PAIRS_MIN
