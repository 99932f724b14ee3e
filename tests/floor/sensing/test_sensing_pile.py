"""A chip laid on an accepted one is noticed where raw data allow; what is no chip never is."""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import pytest

from controller.core.felt import tuning
from controller.core.felt.spot import ACCEPT
from hal.aio import sleep_ms, ticks_ms
from sim.felt.physics.table import PhysicalTable
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual
from tests.kit.sensing_rig import Rig, on_rig

SPOT = "3A"
Act = Callable[[PhysicalTable, float], object]


def second_chip_ff(felt: PhysicalTable) -> float:
    """It lies a chip's height above the pad."""
    return felt.chip_ff * exp(-1 / felt._stack_growth)


def additions(act: Act, seed: int, ic: str, watch_ms: int = 5000) -> list[int]:
    """What is done to an accepted chip; returns when an addition began, in ms after the act."""
    found: list[int] = []

    async def scene(ready: Rig) -> None:
        ready.world.on_felt(lambda felt, now_s: felt.drop(SPOT, now_s, felt.chip_ff))
        await sleep_ms(1500)
        assert await ready.verdict(SPOT) == ACCEPT
        ready.round_open = True
        await sleep_ms(40 + seed % 60)
        on_chip = ready.spots[SPOT].classifier.pile
        acted_ms, known = ticks_ms(), on_chip.count
        ready.world.on_felt(act)
        for _ in range(watch_ms // 10):
            await sleep_ms(10)
            if on_chip.count != known:
                known = on_chip.count
                found.append(on_chip.began_ms - acted_ms)

    on_rig(scene, seed, ic)
    return found


def drop_second(felt: PhysicalTable, now_s: float) -> None:
    felt._stack_growth = 1.4  # a second chip adds 0.49
    felt.drop(SPOT, now_s, second_chip_ff(felt))


def put_second(felt: PhysicalTable, now_s: float) -> None:
    felt._stack_growth = 1.4
    felt.put_by_hand(SPOT, now_s, second_chip_ff(felt), height_mm=6.6)


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_chip_that_falls_on_a_bet_is_an_addition_at_that_moment(ic: str, seed: int) -> None:
    (began_ms,) = additions(drop_second, seed, ic)
    assert 0 <= began_ms <= 210, "a resting chip is read ten times a second"


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_chip_that_a_hand_leaves_on_a_bet_is_an_addition(ic: str, seed: int) -> None:
    (began_ms,) = additions(put_second, seed, ic)
    assert 200 <= began_ms <= 2500


NO_CHIP: dict[str, Act] = {
    "cards by hand": lambda felt, now_s: felt.put_by_hand(SPOT, now_s, 0.35 * felt.chip_ff),
    "cards let fall": lambda felt, now_s: felt.drop(SPOT, now_s, 0.35 * felt.chip_ff),
    "finger": lambda felt, now_s: felt.rest_hand(SPOT, now_s, whole=False),
    "palm": lambda felt, now_s: felt.rest_hand(SPOT, now_s, whole=True),
    "hover": lambda felt, now_s: felt.hover(SPOT, now_s),
    "liquid": lambda felt, now_s: felt.spill([SPOT], now_s),
    "liquid under a hand": lambda felt, now_s: felt.spill([SPOT], now_s, SPOT),
    "warmth": lambda felt, now_s: felt.warm(now_s, 0.5 * felt.chip_ff, 4.0),
    "interference": lambda felt, now_s: felt.interfere([SPOT, "4A"], now_s),
}


@pytest.mark.parametrize("what", NO_CHIP)
def test_what_is_no_chip_is_no_addition(ic: str, what: str) -> None:
    assert [additions(NO_CHIP[what], seed, ic) for seed in (1, 2)] == [[], []]


def test_teeth_a_lighter_addition_would_take_cards_for_chips(
    ic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "ADDED_MIN_CHIPS", 0.30)
    assert additions(NO_CHIP["cards let fall"], 1, ic)


# -- in a round ----------------------------------------------------------------------------------

BET = "2A"


def test_an_addition_in_a_round_is_recorded_and_shown_and_is_no_bet(table_name: str) -> None:
    async def run() -> None:
        floor = Floor(1)
        table = await _locked(floor, table_name, 1.0)
        added_ms = _lay(table, 1.5)
        await sleep_ms(1300)
        await _shown_and_no_bet(table, added_ms, 120)
        await floor.close()

    run_virtual(run())


def test_an_addition_that_a_hand_lays_on_an_old_bet_is_shown_when_it_is_certain(
    table_name: str,
) -> None:
    """A light one rests for 1.5 s before it counts; what the dealer sees must outlast that."""

    async def run() -> None:
        floor = Floor(1)
        table = await _locked(floor, table_name, 0.88)
        _lay(table, 2.9)
        await sleep_ms(300)
        left_ms = _lay(table, 1.31)
        await sleep_ms(1800)
        await _shown_and_no_bet(table, left_ms, 120)
        await floor.close()

    run_virtual(run())


async def _locked(floor: Floor, name: str, level: float) -> FloorTable:
    """A table whose one bet weighs `level` chips."""
    table = await floor.open_table(name)
    await sleep_ms(3000)
    _lay(table, level)
    await sleep_ms(2000)
    await table.press("START")
    await sleep_ms(700)
    assert table.unit.controller is not None
    assert table.unit.controller.lights.light(BET) == "accepted"
    return table


def _lay(table: FloorTable, level: float) -> int:
    """So many chips in all on the bet's spot; returns when, in ms since the lock."""
    assert table.unit.controller is not None
    controller = table.unit.controller
    counts = round(level * controller.felt.spots[BET].calibration.chip_delta)
    table.world.electrodes.lay_reading(BET, table.unit.references.raw_by_sensor[BET] - counts)
    return controller.keeper.clock.age_ms()


async def _shown_and_no_bet(table: FloorTable, came_ms: int, lag_max_ms: int) -> None:
    assert table.unit.controller is not None
    controller = table.unit.controller
    state = controller.keeper.state
    present, offset_ms = state.late[BET]
    assert present
    assert came_ms <= offset_ms <= came_ms + lag_max_ms
    assert controller.lights.light(BET) == "late"
    await sleep_ms(2000)
    assert controller.lights.light(BET) == "late", "somebody has to have the time to look"
    await sleep_ms(1000)
    assert controller.lights.light(BET) == "accepted"
    assert state.late_count == 1, "told once"
    assert state.accepted == [BET]
