"""A chip laid on an accepted one is noticed where raw data allow; what is no chip never is."""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import pytest

from controller.core import pile
from controller.core.sensing import ACCEPT
from hal.aio import sleep_ms, ticks_ms
from sim.floor import Floor, FloorTable
from sim.loop import run_virtual
from sim.physics.table import PhysicalTable
from tests.unit.sensing.sensing_rig import Rig, on_rig

SPOT = "3A"
Act = Callable[[PhysicalTable, float], object]


def second_chip_ff(felt: PhysicalTable) -> float:
    """It lies a chip's height above the pad."""
    return felt.chip_ff * exp(-1 / felt._stack_growth)


def additions(act: Act, seed: int, chip: str, watch_ms: int = 5000) -> list[int]:
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

    on_rig(scene, seed, chip)
    return found


def drop_second(felt: PhysicalTable, now_s: float) -> None:
    felt._stack_growth = 1.4  # a second chip adds 0.49
    felt.drop(SPOT, now_s, second_chip_ff(felt))


def put_second(felt: PhysicalTable, now_s: float) -> None:
    felt._stack_growth = 1.4
    felt.put_by_hand(SPOT, now_s, second_chip_ff(felt), height_mm=6.6)


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_chip_that_falls_on_a_bet_is_an_addition_at_that_moment(chip: str, seed: int) -> None:
    (began_ms,) = additions(drop_second, seed, chip)
    assert 0 <= began_ms <= 210, "a resting chip is read ten times a second"


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_chip_that_a_hand_leaves_on_a_bet_is_an_addition(chip: str, seed: int) -> None:
    (began_ms,) = additions(put_second, seed, chip)
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
def test_what_is_no_chip_is_no_addition(chip: str, what: str) -> None:
    assert [additions(NO_CHIP[what], seed, chip) for seed in (1, 2)] == [[], []]


def test_teeth_a_lighter_addition_would_take_cards_for_chips(
    chip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pile, "ADDED_MIN", 0.30)
    assert additions(NO_CHIP["cards let fall"], 1, chip)


def test_an_addition_in_a_round_is_recorded_and_shown_and_is_no_bet() -> None:
    async def run() -> None:
        floor = Floor(1)
        table = await floor.open_table("four-card-touch")
        await sleep_ms(3000)
        table.place("2A")
        await sleep_ms(2000)
        await table.press("START")
        await sleep_ms(700)
        assert table.unit.controller is not None
        assert table.unit.controller.light("2A") == "accepted"
        added_ms = _pile_up(table, 30)
        await sleep_ms(1300)
        state = table.unit.controller.keeper.state
        present, offset_ms = state.late["2A"]
        assert present
        assert added_ms <= offset_ms <= added_ms + 120
        assert table.unit.controller.light("2A") == "late"
        await sleep_ms(2000)
        assert table.unit.controller.light("2A") == "accepted"
        assert state.late_count == 1, "told once"
        assert state.accepted == ["2A"]
        await floor.close()

    run_virtual(run())


def _pile_up(table: FloorTable, counts: int) -> int:
    """Half a chip more on 2A; returns when, in ms since the lock."""
    assert table.unit.controller is not None
    controller = table.unit.controller
    spot = controller.spots["2A"]
    raw = table.unit.references["2A"] - round(spot.level * spot.calibration.chip_delta)
    table.world.lay_reading("2A", raw - counts)
    return controller.keeper.round_age_ms()
