"""A machine that is busy with something else reads late and at odd moments; felt stays felt."""

from __future__ import annotations

import random

import pytest

from controller.core.felt import spot as sensing
from hal.aio import ticks_add
from tests.kit.watched_spot import CHIP, FELT, Watched

SEEDS = range(12)
GAPS_MS = (10, 10, 12, 40, 100, 250, 500, 900, 2_000)
SETTLING_MS = 15_000  # a dozen readings, however late
NOISE = (-1, 0, 0, 0, 1)


class Late(Watched):
    """Read after gaps of any length, with noise."""

    def __init__(self, seed: int, ic: str) -> None:
        super().__init__(ic=ic)
        self.chance = random.Random(seed)

    def pass_late(self, duration_ms: int) -> set[int]:
        """The verdicts that a START would have met on the way."""
        met = set()
        while duration_ms > 0:
            gap_ms = self.chance.choice(GAPS_MS)
            duration_ms -= gap_ms
            self.now_ms = ticks_add(self.now_ms, gap_ms)
            self.read(self.chance.choice(NOISE))
            met.add(self.verdict())
        return met


@pytest.mark.parametrize("seed", SEEDS)
def test_empty_felt_that_is_read_seldom_stays_empty(seed: int, ic: str) -> None:
    spot = Late(seed, ic)
    spot.pass_late(SETTLING_MS)
    assert spot.pass_late(300_000) == {sensing.EMPTY}


@pytest.mark.parametrize("seed", SEEDS)
def test_an_accepted_chip_that_is_read_seldom_stays_accepted(seed: int, ic: str) -> None:
    spot = Late(seed, ic)
    spot.pass_ms(1_000)
    spot.put(CHIP)
    spot.pass_ms(500)
    assert spot.pass_late(300_000) == {sensing.ACCEPT}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chip_that_falls_while_nobody_can_look_is_no_silent_loss(seed: int, ic: str) -> None:
    """It may be refused, which shows; laid down anew it is a bet."""
    spot = Late(seed, ic)
    spot.pass_late(SETTLING_MS)
    spot.put(CHIP)
    assert spot.pass_late(60_000) <= {sensing.ACCEPT, sensing.REFUSE}
    spot.put(FELT)
    spot.pass_ms(3_000)
    spot.put(CHIP)
    spot.pass_ms(500)
    assert spot.verdict() == sensing.ACCEPT


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spot_that_was_left_is_empty_again_and_stays_so(seed: int, ic: str) -> None:
    spot = Late(seed, ic)
    spot.put(CHIP)
    spot.pass_late(SETTLING_MS)
    spot.put(FELT)
    spot.pass_late(SETTLING_MS)
    assert spot.pass_late(300_000) == {sensing.EMPTY}
