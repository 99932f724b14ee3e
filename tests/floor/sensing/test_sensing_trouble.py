"""Trouble on top of trouble, through registers and bus: nothing false is taken or stranded.

Mutations these catch: an interrupt that still counts as news behind a blocked bus, drifted felt
that is forgotten when its IC resets itself, and a lost register that nobody writes again.
"""

from __future__ import annotations

import random

import pytest

from controller.core.felt.reasons import CREPT
from controller.core.felt.spot import ACCEPT
from hal.aio import sleep_ms, ticks_ms
from hal.ics.kinds import FDC1004, MPR121
from sim.runs.sense.board import BUS, SENSE
from tests.kit.sensing_rig import Rig, on_rig

SECOND_MS = 1000


# On these drawn tables the spill would look like a chip that fell, were it called prompt.
@pytest.mark.parametrize("seed", [4, 31, 68])
def test_liquid_that_comes_while_the_bus_blocks_is_no_bet(seed: int) -> None:
    async def scene(ready: Rig) -> None:
        await sleep_ms(SECOND_MS)
        chance = random.Random(seed)
        await sleep_ms(int(chance.uniform(500, 2500)))
        ready.world.faults.block_bus(BUS, 1000)
        pads = ["3A"] if chance.random() < 0.5 else ["2A", "3A", "4A"]
        ready.world.on_felt(lambda felt, now: felt.spill(pads, now))
        for _ in range(60):
            await sleep_ms(100)
            now_ms = ticks_ms()
            assert all(spot.verdict_at_lock(now_ms) != ACCEPT for spot in ready.spots.values())
        assert ready.world.faults.struck["blocked"] == 1

    on_rig(scene, seed, MPR121)


@pytest.mark.parametrize(("ic", "ff"), [(MPR121, 50.0), (MPR121, -50.0), (FDC1004, -50.0)])
def test_felt_that_drifted_in_a_round_is_known_after_its_ic_reset(ic: str, ff: float) -> None:
    async def scene(ready: Rig) -> None:
        ready.round_open = True
        ready.world.on_felt(lambda felt, now: felt.warm(now, ff, over_s=60.0))
        await sleep_ms(62 * SECOND_MS)
        assert {spot.reason for spot in ready.spots.values()} == {CREPT}
        ready.world.faults.reset_ic(SENSE)
        await sleep_ms(3 * SECOND_MS)
        ready.round_open = False
        await sleep_ms(15 * SECOND_MS)
        assert all(abs(spot.zero) > 0.01 for spot in ready.spots.values()), "it is not followed"

    on_rig(scene, 2, ic)


def test_one_lost_register_is_written_again_and_the_bet_is_kept() -> None:
    async def scene(ready: Rig) -> None:
        ready.world.place_chip("3A")
        await sleep_ms(2 * SECOND_MS)
        assert await ready.verdict("3A") == ACCEPT
        ready.world.faults.move_baseline("3A")
        await sleep_ms(2 * SECOND_MS)
        assert await ready.verdict("3A") == ACCEPT
        assert ready.world.faults.struck["moved baseline"] == 1

    on_rig(scene, 5, MPR121)
