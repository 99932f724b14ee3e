"""Drawn evenings end as they did before, press by press and reading by reading.

Catches: most small changes in core and books that no test names, such as another limit of sensing,
a field of the round that is not cleared, or a row of the ledger that is not written.
"""

from __future__ import annotations

import pytest

from tests.golden import told

CASES = [(kind, seed) for kind, (_told, count) in told.KINDS.items() for seed in range(count)]


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_a_drawn_evening_goes_as_it_went(kind: str, seed: int) -> None:
    then = told.file_of(kind).read_text(encoding="utf-8").splitlines()[seed]
    assert told.line_of(kind, seed) == then, f"python -m tests.golden.told {kind} {seed} tells it"
