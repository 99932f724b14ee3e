"""The unchanged sensing driver and bus over the register-accurate simulator.

The simulator was written from the ICs' data sheets without looking at the drivers, so each of
these tests compares two independent readings of the same hardware.
"""

from __future__ import annotations

import pytest

from hal.aio import sleep_ms, wait_for_ms
from hal.board.open import Board
from hal.errors import BusFault, SensorFault
from sim.floor.world import World
from sim.hardware.i2c import CP2112, PI_0_TO_4, PI_5, Adapter
from sim.hardware.ics.mpr121 import IrqRule
from tests.kit.board_over_sim import faults_of, on_table, started

# -- sensing ---------------------------------------------------------------------------------


def test_an_empty_felt_measures_what_the_felt_is() -> None:
    async def test(world: World, board: Board) -> None:
        _, references = await started(board)
        assert references == [world.felt.counts(place.id) for place in board.sensors]

    on_table(test)


@pytest.mark.parametrize("irq_rule", list(IrqRule))
def test_a_chip_on_the_felt_wakes_and_shows_on_its_electrode_only(irq_rule: IrqRule) -> None:
    async def test(world: World, board: Board) -> None:
        ic, _ = await started(board)
        assert await ic.read_touched() == 0
        assert ic.interrupt is not None
        edges_before = ic.interrupt.edge_count
        world.place_chip("3A")
        await sleep_ms(14)
        assert ic.interrupt.edge_count > edges_before
        assert ic.interrupt.active
        assert await ic.read_touched() == 1 << 2
        await sleep_ms(1)
        assert not ic.interrupt.active
        readings = await ic.snapshot()
        assert faults_of(readings) == {None}
        assert [reading.touched for reading in readings] == [n == 2 for n in range(7)]
        assert [reading.delta > 40 for reading in readings] == [n == 2 for n in range(7)]

    on_table(test, irq_rule=irq_rule)


def test_a_chip_that_lies_still_for_an_hour_is_not_forgotten() -> None:
    async def test(world: World, board: Board) -> None:
        ic, _ = await started(board)
        world.place_chip("5A")
        await sleep_ms(3_600_000)
        readings = await ic.snapshot()
        assert readings[4].touched
        assert readings[4].delta > 40
        world.remove_chip("5A")
        await sleep_ms(20)
        assert await ic.read_touched() == 0

    on_table(test)


def test_a_unit_that_boots_with_a_chip_on_the_felt_sees_it() -> None:
    async def test(world: World, board: Board) -> None:
        _, references = await started(board)
        world.place_chip("1A")
        world.cut_power()
        await sleep_ms(500)
        world.restore_power()
        ic = board.ics["sense-1"]
        await ic.start(references)
        readings = await ic.snapshot()
        assert readings[0].delta > 40
        assert await ic.read_touched() == 1

    on_table(test)


def test_an_ic_that_reset_itself_is_a_fault_until_recovered_with_the_old_references() -> None:
    async def test(world: World, board: Board) -> None:
        ic, references = await started(board)
        world.place_chip("2A")
        await sleep_ms(20)
        world.faults.reset_ic("sense-1")
        assert faults_of(await ic.snapshot()) == {"IC reset itself"}
        await ic.recover()
        readings = await ic.snapshot()
        assert faults_of(readings) == {None}
        assert [reading.reference for reading in readings] == references
        assert readings[1].delta > 40
        assert world.faults.struck["IC reset"] == 1

    on_table(test)


def test_over_current_is_a_fault_until_recovered_with_chips_in_place() -> None:
    async def test(world: World, board: Board) -> None:
        ic, _ = await started(board)
        world.place_chip("2A")
        await sleep_ms(20)
        world.faults.over_current("sense-1")
        with pytest.raises(SensorFault, match="over-current"):
            await ic.read_touched()
        assert faults_of(await ic.snapshot()) == {"over-current"}
        await ic.recover()
        assert await ic.read_touched() == 1 << 1

    on_table(test)


@pytest.mark.parametrize("shorted", [True, False])
def test_a_dead_electrode_faults_alone_and_mends(shorted: bool) -> None:
    async def test(world: World, board: Board) -> None:
        ic, _ = await started(board)
        world.faults.break_electrode("4A", shorted=shorted)
        await sleep_ms(20)
        readings = await ic.snapshot()
        assert [reading.fault is not None for reading in readings] == [n == 3 for n in range(7)]
        world.faults.mend_electrode("4A")
        await sleep_ms(20)
        assert faults_of(await ic.snapshot()) == {None}

    on_table(test)


def test_an_electrode_cannot_be_calibrated_while_it_is_dead() -> None:
    async def test(world: World, board: Board) -> None:
        world.faults.break_electrode("4A", shorted=True)
        with pytest.raises(SensorFault, match="electrode 3 is out of range"):
            await board.ics["sense-1"].measure()

    on_table(test)


# -- the bus ---------------------------------------------------------------------------------


@pytest.mark.parametrize("adapter", [PI_0_TO_4, PI_5, CP2112], ids=lambda adapter: adapter.name)
def test_two_lost_transfers_are_survived_and_three_are_a_fault(adapter: Adapter) -> None:
    async def test(world: World, board: Board) -> None:
        ic, _ = await started(board)
        world.faults.nack("sense-1", count=2)
        assert await ic.read_touched() == 0
        assert board.buses[1].fault_count == 2
        world.faults.nack("sense-1", count=3)
        with pytest.raises(BusFault) as caught:
            await ic.read_touched()
        assert caught.value.errno == adapter.nack
        assert await ic.read_touched() == 0

    on_table(test, adapter=adapter)


@pytest.mark.parametrize("method", ["read_touched", "snapshot", "measure"])
def test_a_missing_ic_never_reads_as_an_empty_felt(method: str) -> None:
    async def test(world: World, board: Board) -> None:
        ic, _ = await started(board)
        world.faults.nack("sense-1")
        with pytest.raises(BusFault):
            await getattr(ic, method)()

    on_table(test)


@pytest.mark.parametrize("method", ["read_touched", "snapshot"])
def test_short_reads_are_a_fault(method: str) -> None:
    async def test(world: World, board: Board) -> None:
        ic, _ = await started(board)
        world.faults.short_read("sense-1", count=3)
        with pytest.raises(BusFault):
            await getattr(ic, method)()
        assert world.faults.struck["short read"] == 3

    on_table(test)


def test_a_stuck_bus_is_a_fault_in_bounded_time_and_heals() -> None:
    async def test(world: World, board: Board) -> None:
        ic, _ = await started(board)
        world.faults.stick_bus(1)
        with pytest.raises(BusFault, match="stuck"):
            await wait_for_ms(ic.read_touched(), 100)
        world.faults.release_bus(1)
        assert await ic.read_touched() == 0

    on_table(test)


@pytest.mark.parametrize("failing_transfer", range(1, 11))
def test_a_start_that_breaks_off_anywhere_still_ends_running_or_in_a_fault(
    failing_transfer: int,
) -> None:
    async def test(world: World, board: Board) -> None:
        ic, references = await started(board)
        world.place_chip("6A")
        transfers_left = failing_transfer

        def count_down(_addressed: object) -> None:
            nonlocal transfers_left
            transfers_left -= 1
            if transfers_left == 0:
                world.faults.nack("sense-1", count=1)

        bus = world.buses[1]
        wake, bus.on_transfer = bus.on_transfer, count_down
        await ic.start(references)
        bus.on_transfer = wake
        readings = await ic.snapshot()
        assert faults_of(readings) == {None}
        assert readings[5].delta > 40
        assert world.faults.struck["nack"] == 1

    on_table(test)
