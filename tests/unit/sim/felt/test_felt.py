"""The felt: repeatable pads, and levels as sums of terms."""

from __future__ import annotations

import pytest

from sim.felt.felt import OPEN_CIRCUIT_COUNTS, Felt, Pad

PADS = [f"{seat}{letter}" for seat in range(1, 8) for letter in "AB"]


def test_the_same_seed_gives_the_same_felt_and_another_does_not() -> None:
    assert Felt(PADS, 7).describe() == Felt(PADS, 7).describe()
    assert Felt(PADS, 7).describe() != Felt(PADS, 8).describe()
    assert Felt(PADS, 7).describe().startswith("felt seed 7: 1A ")


@pytest.mark.parametrize("seed", range(20))
def test_pads_differ_a_little_and_a_chip_is_a_clear_step(seed: int) -> None:
    felt = Felt(PADS, seed)
    empty = {pad: felt.counts(pad) for pad in PADS}
    assert len(set(empty.values())) > 1
    for pad in PADS:
        assert 676 <= empty[pad] <= 724
        felt.pad(pad).chip = True
        assert 54 <= empty[pad] - felt.counts(pad) <= 66
        felt.pad(pad).chip = False
        assert felt.counts(pad) == empty[pad]


def test_further_physics_joins_as_a_term() -> None:
    felt = Felt(["1A"], 1)
    before = felt.counts("1A")

    def wet(pad: Pad) -> int:
        return -25

    felt.terms.append(wet)
    assert felt.counts("1A") == before - 25


def test_a_broken_pad_measures_nothing_else() -> None:
    felt = Felt(["1A"], 1)
    felt.pad("1A").broken_counts = OPEN_CIRCUIT_COUNTS
    felt.pad("1A").chip = True
    assert felt.counts("1A") == OPEN_CIRCUIT_COUNTS


def test_an_unknown_pad_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no sensor 9A on this felt; there are 1A, 2A"):
        Felt(["1A", "2A"], 1).counts("9A")
