"""A wide storm is the same storm as a deep one, as far as sensing is not in doubt.

Patient people play drawn bets on the floor of a seed: nobody hurries, nothing is wet or broken. At
both depths every chip is a bet, and nothing else is.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from controller.core.felt.spot import ABSENT, FAULT, PRESENT, UNSURE
from sim.runs.storm.floor.floor import StormFloor
from sim.runs.storm.floor.loop import StormLoop
from sim.runs.storm.floor.table import StormTable
from sim.runs.storm.options import DEEP, DEPTHS, WIDE, StormOptions
from sim.runs.storm.record import Record
from sim.runs.storm.run import _close, run_storm

TABLES, ROUNDS = 3, 3
HAND_S = 0.4
REST_S = 2.0
PATIENCE_S = 30

Bets = list[list[str]]


def on_a_floor(
    depth: str, seed: str, tables: int, story: Callable[[StormFloor], Awaitable[None]]
) -> None:
    """Plays a story on the floor of a seed, with nobody else at the tables."""

    async def play() -> None:
        floor = StormFloor(tables, seed, Record(), depth)
        try:
            for table in floor.tables:
                await table.install()
                await table.power_on()
            await story(floor)
        finally:
            await floor.close()

    loop = StormLoop()
    try:
        loop.run_until_complete(play())
    finally:
        _close(loop)


async def wait_for_phase(table: StormTable, phase: str) -> None:
    for _ in range(PATIENCE_S * 10):
        if table.panel.phase() == phase:
            return
        await asyncio.sleep(0.1)
    pytest.fail(f"{table.name} is {table.panel.phase()}, not {phase}: {table.panel.message()}")


async def play_rounds(table: StormTable, chance: random.Random) -> tuple[Bets, Bets]:
    """(what lay on the felt at each START, what each round took for bets)."""
    lay: Bets = []
    taken: Bets = []
    for _ in range(ROUNDS):
        await wait_for_phase(table, "open")
        count = chance.randint(1, len(table.sensors) - 1)
        lay.append(sorted(chance.sample(table.sensors, count)))
        for sensor in table.sensors:
            if (sensor in lay[-1]) != table.world.has_chip(sensor):
                (table.place if sensor in lay[-1] else table.remove)(sensor)
                await asyncio.sleep(HAND_S)
        await asyncio.sleep(REST_S)
        await table.press("START")
        await wait_for_phase(table, "locked")
        taken.append(sorted(table.journal.round.accepted))
        await table.press("END")
    return lay, taken


def bets_of(depth: str, seed: int) -> list[tuple[Bets, Bets]]:
    """For each table of the seed's floor."""
    found: list[tuple[Bets, Bets]] = []

    async def story(floor: StormFloor) -> None:
        chances = [random.Random(f"{seed}/{table.name}") for table in floor.tables]
        found.extend(await asyncio.gather(*map(play_rounds, floor.tables, chances)))

    on_a_floor(depth, f"storm {seed}", TABLES, story)
    return found


@pytest.mark.parametrize("seed", [1, 2])  # the second has FDC1004s behind a multiplexer
def test_both_depths_take_the_same_bets(seed: int) -> None:
    deep, wide = bets_of(DEEP, seed), bets_of(WIDE, seed)
    assert deep == wide
    assert all(lay == taken for lay, taken in wide)


def presence(table: StormTable, sensor: str) -> str:
    assert table.controller is not None
    return str(table.controller.felt.spots[sensor].presence)


@pytest.mark.parametrize("depth", DEPTHS)
def test_what_happens_to_the_hardware_reaches_the_spots(depth: str) -> None:
    """A dead electrode, a silent IC, an IC that forgot, and the way back from each."""

    async def story(floor: StormFloor) -> None:
        [table] = floor.tables
        faults, sensor = table.world.faults, table.sensors[0]
        ic = next(s.ic for s in table.plan.config.board.sensors if s.id == sensor)
        await asyncio.sleep(REST_S)
        table.place(sensor)
        await asyncio.sleep(REST_S)
        assert presence(table, sensor) == PRESENT
        for hurt, heal in (
            (lambda: faults.break_electrode(sensor), lambda: faults.mend_electrode(sensor)),
            (lambda: faults.nack(ic), lambda: faults.clear_bus(table.world.board.buses[0].number)),
        ):
            hurt()
            await asyncio.sleep(REST_S)
            assert presence(table, sensor) == FAULT
            heal()
            await asyncio.sleep(3 * REST_S)
            assert presence(table, sensor) == PRESENT
        seen: list[str] = []
        assert table.controller is not None
        table.controller.felt.listen(lambda: seen.append(presence(table, sensor)))
        faults.reset_ic(ic)
        await asyncio.sleep(3 * REST_S)
        assert FAULT in seen
        assert presence(table, sensor) == PRESENT
        table.remove(sensor)
        await asyncio.sleep(REST_S)
        assert presence(table, sensor) == ABSENT

    on_a_floor(depth, "storm 1", 1, story)


def test_wet_felt_is_no_bet_in_a_wide_storm() -> None:
    async def story(floor: StormFloor) -> None:
        [table] = floor.tables
        sensor = table.sensors[0]
        await asyncio.sleep(REST_S)
        table.place(sensor)
        table.world.spill([sensor])
        await asyncio.sleep(REST_S)
        assert presence(table, sensor) == UNSURE
        table.world.wipe([sensor])
        await asyncio.sleep(REST_S)
        assert presence(table, sensor) == PRESENT

    on_a_floor(WIDE, "storm 1", 1, story)


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_storm_says_its_depth_and_keeps_its_promises(depth: str) -> None:
    result = run_storm(StormOptions.drawn(tables=2, hours=0.01, seed=3, depth=depth))
    assert result.violations == []
    assert result.as_dict()["depth"] == depth
    assert result.options.command.endswith(f"--depth {depth}")
