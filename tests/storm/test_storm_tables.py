"""The tables of a storm: two as they ship, and from the third on everything that ships."""

from __future__ import annotations

import tomllib

import pytest

from manager.games import load_paytable, paytable_ids
from sim.floor.manager import SimManager
from sim.runs.storm.draw.tables import TablePlan, draw_floor
from sim.runs.storm.options import StormOptions
from sim.time.loop import run_virtual

Floors = list[list[TablePlan]]


@pytest.fixture(scope="module")
def floors() -> Floors:
    return [draw_floor(4, StormOptions(4, 1.0, seed).floor_seed) for seed in range(1, 41)]


def games_of(plan: TablePlan) -> list[str]:
    return [part["paytable"] for part in tomllib.loads(plan.text)["paytables"].values()]


def test_the_first_two_are_a_touch_and_a_keypad_table_as_they_ship(floors: Floors) -> None:
    for touch, keypad, *_ in floors:
        assert [touch.workflow, keypad.workflow] == ["touch", "keypad"]
        assert games_of(touch) == games_of(keypad) == ["four-card/progressive/Pays-1"]


def test_floors_of_four_play_every_jackpot_paytable_of_the_packs(floors: Floors) -> None:
    drawn = {load_paytable(name).id for floor in floors for p in floor for name in games_of(p)}
    assert drawn == {name for name in paytable_ids() if load_paytable(name).is_jackpot}


def test_floors_of_four_have_every_policy_and_both_types_of_jackpot(floors: Floors) -> None:
    terms = [
        part
        for floor in floors
        for plan in floor
        for part in tomllib.loads(plan.text)["jackpots"].values()
    ]
    assert {part.get("award_policy") for part in terms if "type" not in part} == {
        "sequential",
        "equal_share",
        "each_full",
    }
    assert {part.get("type", "progressive") for part in terms} == {"progressive", "house"}
    assert {part["fixed_pays_from"] for part in terms} == {"tray", "meter"}


@pytest.mark.parametrize("seed", range(1, 13))
def test_whatever_is_drawn_one_manager_opens_all_of_it(seed: int) -> None:
    async def opened() -> list[str]:
        manager = SimManager(seed, lambda: 0)
        try:
            return [manager.app.open_table(p.text) for p in draw_floor(8, f"storm {seed}")]
        finally:
            await manager.close()

    assert len(set(run_virtual(opened()))) == 8


def test_what_was_drawn_is_told_and_repeats(floors: Floors) -> None:
    again = draw_floor(4, StormOptions(4, 1.0, 1).floor_seed)
    assert [plan.says for plan in again] == [plan.says for plan in floors[0]]
    for plan in floors[0]:
        assert plan.says.startswith(f"{plan.table_id}: {plan.workflow}, ")
        assert all(name in plan.says for name in games_of(plan))
