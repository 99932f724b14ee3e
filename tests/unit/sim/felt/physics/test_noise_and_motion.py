"""Noise that depends on nothing but its number, and hands that move like hands."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, pstdev

import pytest

from sim.felt.physics.motion import Unsteadiness, minimum_jerk
from sim.felt.physics.noise import EXTREME, gauss
from sim.felt.physics.ranges import RANGES, Draw


def test_noise_is_a_function_of_key_and_number() -> None:
    first = [gauss(7, number) for number in range(100)]
    assert [gauss(7, number) for number in reversed(range(100))] == first[::-1]
    assert [gauss(8, number) for number in range(100)] != first


def test_noise_is_normal_enough() -> None:
    samples = [gauss(123, number) for number in range(20_000)]
    assert abs(fmean(samples)) < 0.03
    assert abs(pstdev(samples) - 1) < 0.03
    assert max(abs(sample) for sample in samples) <= EXTREME
    neighbours = fmean(a * b for a, b in pairwise(samples))
    assert abs(neighbours) < 0.03, "one sample says nothing about the next"


def test_a_reaching_hand_starts_and_ends_at_rest() -> None:
    assert [minimum_jerk(part) for part in (-1, 0, 0.5, 1, 2)] == [0, 0, 0.5, 1, 1]
    steps = [minimum_jerk(i / 100 + 0.01) - minimum_jerk(i / 100) for i in range(100)]
    assert all(step > 0 for step in steps)
    assert steps[0] < steps[49] / 100
    assert steps[99] < steps[50] / 100


@pytest.mark.parametrize("seed", range(5))
def test_unsteadiness_has_the_rms_it_was_given(seed: int) -> None:
    shiver = Unsteadiness(Draw(seed), 0.05, 0.02)
    samples = [shiver.at(t / 200) for t in range(200 * 60)]
    assert pstdev(samples) == pytest.approx((0.05**2 + 0.02**2) ** 0.5, rel=0.1)
    assert max(abs(sample) for sample in samples) <= shiver.peak


def test_a_draw_stays_in_its_range_and_remembers_what_it_was_asked_for() -> None:
    draw = Draw(3)
    for name, (low, high) in RANGES.items():
        assert low <= draw.of(name) <= high
    assert draw.used == set(RANGES)
    assert Draw(3).of("clay chip, fF") == Draw(3).of("clay chip, fF") != Draw(4).of("clay chip, fF")


def test_every_range_is_a_range() -> None:
    assert all(low < high for low, high in RANGES.values())
