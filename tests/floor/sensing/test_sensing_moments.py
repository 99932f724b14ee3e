"""A change is certain only after a while, but the unit knows when it began."""

from __future__ import annotations

import pytest

from controller.core.felt.spot import ABSENT, PRESENT, Spot
from hal.aio import sleep_ms, ticks_ms
from sim.felt.physics.table import PhysicalTable
from sim.felt.physics.things import HumanHand
from sim.floor.floor import Floor, FloorTable
from sim.time.loop import run_virtual
from tests.kit.sensing_rig import Rig, on_rig

SEEDS = range(1, 7)
CERTAIN_AFTER_MS = 100


async def _confirmed(ready: Rig, sensor: str, presence: str) -> Spot:
    spot = ready.spots[sensor]
    for _ in range(400):
        if spot.presence == presence and spot.confirmed:
            return spot
        await sleep_ms(10)
    raise AssertionError(f"{sensor} never became {presence}")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_dropped_chip_came_when_it_first_showed(ic: str, seed: int) -> None:
    async def scene(ready: Rig) -> None:
        fell_ms = ticks_ms()
        ready.world.on_felt(lambda felt, now_s: felt.drop("2A", now_s, felt.one_chip_ff()))
        spot = await _confirmed(ready, "2A", PRESENT)
        assert ticks_ms() - fell_ms > CERTAIN_AFTER_MS
        assert 0 <= spot.classifier.began_ms - fell_ms <= 30

    on_rig(scene, seed, ic)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_lifted_chip_left_when_the_spot_began_to_read_empty(ic: str, seed: int) -> None:
    async def scene(ready: Rig) -> None:
        ready.world.on_felt(lambda felt, now_s: felt.drop("2A", now_s, felt.one_chip_ff()))
        await sleep_ms(2000)
        lifted_ms = ticks_ms()
        ready.world.on_felt(lambda felt, now_s: felt.lift("2A", now_s))
        spot = await _confirmed(ready, "2A", ABSENT)
        assert ticks_ms() - lifted_ms > CERTAIN_AFTER_MS
        assert 0 <= spot.classifier.began_ms - lifted_ms <= 40

    on_rig(scene, seed, ic)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chip_that_a_hand_left_came_as_the_hand_left(ic: str, seed: int) -> None:
    def put(felt: PhysicalTable, now_s: float) -> tuple[float, float]:
        gone_s = felt.put_by_hand("3A", now_s, felt.one_chip_ff())
        hand = felt.pads["3A"].things[-2]
        assert isinstance(hand, HumanHand)
        return (hand._poses[-1].begin_s - now_s) * 1000, (gone_s - now_s) * 1000

    async def scene(ready: Rig) -> None:
        put_ms = ticks_ms()
        let_go_ms, gone_ms = ready.world.on_felt(put)
        spot = await _confirmed(ready, "3A", PRESENT)
        assert ticks_ms() - put_ms > let_go_ms + 500
        assert let_go_ms < spot.classifier.began_ms - put_ms < gone_ms

    on_rig(scene, seed, ic)


# -- in a round ----------------------------------------------------------------------------------


async def _locked(floor: Floor, name: str, before_start_ms: int = 2000) -> FloorTable:
    table = await floor.open_table(name)
    await sleep_ms(3000)
    table.place("2A")
    await sleep_ms(2000)
    table.place("3A")
    await sleep_ms(before_start_ms)
    await table.press("START")
    return table


def _late(table: FloorTable) -> dict[str, tuple[bool, int]]:
    assert table.unit.controller is not None
    return dict(table.unit.controller.keeper.state.late)


def _age_ms(table: FloorTable) -> int:
    assert table.unit.controller is not None
    return table.unit.controller.keeper.clock.age_ms()


def test_a_late_change_is_recorded_with_the_moment_it_began(table_name: str) -> None:
    async def run() -> None:
        floor = Floor(1)
        table = await _locked(floor, table_name)
        await sleep_ms(700)
        moved_ms = _age_ms(table)
        table.remove("2A")
        table.place("6A")
        await sleep_ms(1000)
        late = _late(table)
        assert [(sensor, present) for sensor, (present, _) in sorted(late.items())] == [
            ("2A", False),
            ("6A", True),
        ]
        for _, offset_ms in late.values():
            assert moved_ms <= offset_ms <= moved_ms + 45
        await floor.close()

    run_virtual(run())


def test_what_was_under_way_at_the_lock_happened_at_the_lock(table_name: str) -> None:
    async def run() -> None:
        floor = Floor(1)
        table = await _locked(floor, table_name, before_start_ms=50)
        await sleep_ms(1000)
        assert _late(table) == {"3A": (True, 0)}
        await floor.close()

    run_virtual(run())


def test_a_chip_gone_in_the_dark_left_when_somebody_looked_again(table_name: str) -> None:
    """Nobody knows more: the offset is that of the first reading that found it gone."""

    async def run() -> None:
        floor = Floor(1)
        table = await _locked(floor, table_name)
        await sleep_ms(1000)
        await table.cut_power()
        table.remove("2A")
        await sleep_ms(5000)
        await table.restore_power()
        await sleep_ms(3000)
        present, offset_ms = _late(table)["2A"]
        assert not present
        assert 5900 <= offset_ms <= _age_ms(table)
        await floor.close()

    run_virtual(run())
