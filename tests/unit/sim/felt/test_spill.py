"""Liquid on a plain felt: it moves what the pads measure, and a cloth takes it away."""

from __future__ import annotations

from sim.felt.felt import Felt
from sim.hardware.ics.base import Source

SECOND_NS = 1_000_000_000


def test_a_spill_moves_the_level_until_it_is_wiped() -> None:
    felt = Felt(["1A", "2A", "3A"], seed=7)
    dry = [felt.level(pad) for pad in ("1A", "2A", "3A")]
    felt.spill(["1A", "2A"], at_ns=SECOND_NS)
    for pad, before in zip(("1A", "2A"), dry, strict=False):
        wet = felt.level(pad)
        assert isinstance(wet, Source)
        assert isinstance(before, int)
        assert wet.counts(SECOND_NS - 1) in (before, before - 1)  # not there yet
        assert wet.counts(20 * SECOND_NS) < before - 5
    assert felt.level("3A") == dry[2]
    felt.wipe(["1A", "2A"], at_ns=21 * SECOND_NS)
    assert [felt.level(pad) for pad in ("1A", "2A", "3A")] == dry


def test_a_chip_counts_under_the_liquid() -> None:
    felt = Felt(["1A"], seed=7)
    felt.spill(["1A"], at_ns=0)
    wet = felt.level("1A")
    felt.place("1A", at_ns=SECOND_NS)
    both = felt.level("1A")
    assert isinstance(wet, Source)
    assert isinstance(both, Source)
    assert both.counts(9 * SECOND_NS) < wet.counts(9 * SECOND_NS)


def test_the_same_seed_spills_the_same() -> None:
    def counts(seed: int) -> list[int]:
        felt = Felt(["1A", "2A"], seed)
        felt.spill(["1A", "2A"], at_ns=0)
        levels = [felt.level(pad) for pad in ("1A", "2A")]
        return [each.counts(5 * SECOND_NS) for each in levels if isinstance(each, Source)]

    assert counts(3) == counts(3) != counts(4)
