"""A machine that is busy with something else reads late and at odd moments; felt stays felt."""

from __future__ import annotations

import random

import pytest

from controller.core import sensing
from hal.aio import ticks_add
from tests.unit.sensing.watched_spot import CHIP_RAW, EMPTY_RAW, Watched

SEEDS = range(12)
GAPS_MS = (10, 10, 12, 40, 100, 250, 500, 900, 2_000)
SETTLING_MS = 15_000  # a dozen readings, however late
NOISE = (-1, 0, 0, 0, 1)


class Late(Watched):
    """Read after gaps of any length, with a count of noise."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.level = EMPTY_RAW
        super().__init__()

    def pass_late(self, duration_ms: int) -> set[int]:
        """The verdicts that a START would have met on the way."""
        met = set()
        while duration_ms > 0:
            gap_ms = self.chance.choice(GAPS_MS)
            duration_ms -= gap_ms
            self.now_ms = ticks_add(self.now_ms, gap_ms)
            self.raw = self.level + self.chance.choice(NOISE)
            self.read()
            met.add(self.verdict())
        return met

    def drop(self, level: int) -> None:
        self.level = level
        self.put(level)


@pytest.mark.parametrize("seed", SEEDS)
def test_empty_felt_that_is_read_seldom_stays_empty(seed: int) -> None:
    spot = Late(random.Random(seed))
    spot.pass_late(SETTLING_MS)
    assert spot.pass_late(300_000) == {sensing.EMPTY}


@pytest.mark.parametrize("seed", SEEDS)
def test_an_accepted_chip_that_is_read_seldom_stays_accepted(seed: int) -> None:
    spot = Late(random.Random(seed))
    spot.pass_ms(1_000)
    spot.drop(CHIP_RAW)
    spot.pass_ms(500)
    assert spot.pass_late(300_000) == {sensing.ACCEPT}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chip_that_falls_while_nobody_can_look_is_no_silent_loss(seed: int) -> None:
    """It may be refused, which shows; laid down anew it is a bet."""
    spot = Late(random.Random(seed))
    spot.pass_late(SETTLING_MS)
    spot.drop(CHIP_RAW)
    assert spot.pass_late(60_000) <= {sensing.ACCEPT, sensing.REFUSE}
    spot.drop(EMPTY_RAW)
    spot.pass_ms(3_000)
    spot.drop(CHIP_RAW)
    spot.pass_ms(500)
    assert spot.verdict() == sensing.ACCEPT


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spot_that_was_left_is_empty_again_and_stays_so(seed: int) -> None:
    spot = Late(random.Random(seed))
    spot.drop(CHIP_RAW)
    spot.pass_late(SETTLING_MS)
    spot.drop(EMPTY_RAW)
    spot.pass_late(SETTLING_MS)
    assert spot.pass_late(300_000) == {sensing.EMPTY}
