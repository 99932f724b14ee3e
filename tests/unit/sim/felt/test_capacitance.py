"""Counts and femtofarads are the same pad: the charge equation, both ends, and a lost wire."""

from __future__ import annotations

import pytest

from sim.felt.capacitance import SHORT_CIRCUIT_FEMTOFARADS, femtofarads
from sim.felt.felt import OPEN_CIRCUIT_COUNTS, SHORT_CIRCUIT_COUNTS


def test_the_usual_pad_and_the_usual_chip() -> None:
    assert femtofarads(700) == pytest.approx(3546, abs=1)
    assert femtofarads(640) - femtofarads(700) == pytest.approx(332, abs=1)


def test_fewer_counts_are_always_more_capacitance() -> None:
    steps = [femtofarads(counts) for counts in range(1, 1024)]
    assert steps == sorted(steps, reverse=True)


def test_an_open_pad_has_next_to_nothing_and_a_shorted_one_too_much() -> None:
    assert femtofarads(OPEN_CIRCUIT_COUNTS) < 5
    assert femtofarads(SHORT_CIRCUIT_COUNTS) == SHORT_CIRCUIT_FEMTOFARADS
