"""What every backend's I2C bus must do: whole transfers, numbered faults, nothing blocked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from smbus2 import i2c_msg

from hal.aio import sleep_ms, ticks_diff, ticks_ms
from hal.bus.i2c import I2cBus, SMBusLike, read_registers, write_registers
from hal.errors import BusFault, HardwareFault
from tests.contract.contract_rig import BUS, KEYPAD_TABLE, TOUCH_TABLE, Rig, on, refused

SENSE, LIGHTS = 0x5A, 0x40
NOBODY = 0x33
AFE2, DEBOUNCE, THRESHOLDS = 0x5D, 0x5B, 0x41
MODE1, LED0 = 0x00, 0x06
AUTO_INCREMENT_ASLEEP = 0x30


async def fault_of(bus: I2cBus, job: Callable[[SMBusLike], object]) -> BusFault:
    with refused(BusFault) as caught:
        await bus.run(job)
    fault = caught[0]
    assert isinstance(fault, BusFault)
    return fault


def read_afe2(smbus: SMBusLike) -> int:
    return smbus.read_byte_data(SENSE, AFE2)


@on(TOUCH_TABLE)
async def a_register_reads_what_the_ic_holds(rig: Rig) -> None:
    async with rig.bus() as bus:
        assert await bus.run(read_afe2) == 0x24
        assert await bus.run(lambda smbus: smbus.read_byte_data(LIGHTS, MODE1)) == 0x11


@on(TOUCH_TABLE)
async def a_register_keeps_what_was_written(rig: Rig) -> None:
    async with rig.bus() as bus:
        await bus.run(lambda smbus: smbus.write_byte_data(SENSE, DEBOUNCE, 0x11))
        assert await bus.run(lambda smbus: smbus.read_byte_data(SENSE, DEBOUNCE)) == 0x11


@on(TOUCH_TABLE)
async def blocks_of_every_smbus_length_come_back_whole(rig: Rig) -> None:
    async with rig.bus() as bus:
        for length in (1, 2, 7, 13, 24):
            data = [(17 * place + length) & 0xFF for place in range(length)]
            await bus.run(lambda smbus, d=data: write_registers(smbus, SENSE, THRESHOLDS, d))
            found = await bus.run(
                lambda smbus, n=length: read_registers(smbus, SENSE, THRESHOLDS, n)
            )
            assert list(found) == data


@on(TOUCH_TABLE)
async def transfers_beyond_32_bytes_come_back_whole(rig: Rig) -> None:
    """The register and 15 channels: the longest write that every adapter takes."""
    frame = [value for channel in range(15) for value in (0, 0, channel + 1, channel % 16)]
    async with rig.bus() as bus:
        await bus.run(lambda smbus: smbus.write_byte_data(LIGHTS, MODE1, AUTO_INCREMENT_ASLEEP))
        await bus.run(lambda smbus: write_registers(smbus, LIGHTS, LED0, frame))
        assert list(await bus.run(lambda smbus: read_registers(smbus, LIGHTS, LED0, 60))) == frame
        assert len(await bus.run(lambda smbus: read_registers(smbus, SENSE, 0, 0x2B))) == 0x2B


@on(TOUCH_TABLE)
async def a_repeated_start_joins_write_and_read(rig: Rig) -> None:
    async with rig.bus() as bus:
        joined = i2c_msg.read(SENSE, 1)
        await bus.run(lambda smbus: smbus.i2c_rdwr(i2c_msg.write(SENSE, [AFE2]), joined))
        assert list(joined) == [0x24]


@on(TOUCH_TABLE)
async def a_read_alone_goes_on_where_the_ic_stands(rig: Rig) -> None:
    async with rig.bus() as bus:
        await bus.run(lambda smbus: smbus.i2c_rdwr(i2c_msg.write(SENSE, [AFE2])))
        alone = i2c_msg.read(SENSE, 2)
        await bus.run(lambda smbus: smbus.i2c_rdwr(alone))
        assert list(alone) == [0x24, 0x00]


@on(TOUCH_TABLE)
async def an_empty_address_is_a_fault_with_its_number(rig: Rig) -> None:
    async with rig.bus() as bus:
        fault = await fault_of(bus, lambda smbus: smbus.read_byte_data(NOBODY, 0))
        assert fault.errno == rig.adapter.nack, fault
        fault = await fault_of(bus, lambda smbus: smbus.write_byte_data(NOBODY, 0, 0))
        assert fault.errno == rig.adapter.nack, fault
        assert await bus.run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def two_lost_acknowledges_are_survived_and_a_third_is_a_fault(rig: Rig) -> None:
    async with rig.bus() as bus:
        rig.world.faults.nack("sense-1", count=2)
        assert await bus.run(read_afe2) == 0x24
        assert bus.fault_count == 2
        rig.world.faults.nack("sense-1", count=3)
        fault = await fault_of(bus, read_afe2)
        assert fault.errno == rig.adapter.nack, fault
        assert rig.world.faults.struck["nack"] == 5


@on(TOUCH_TABLE)
async def a_silent_ic_leaves_its_neighbour_alone(rig: Rig) -> None:
    async with rig.bus() as bus:
        rig.world.faults.nack("sense-1")
        await fault_of(bus, read_afe2)
        assert await bus.run(lambda smbus: smbus.read_byte_data(LIGHTS, MODE1)) == 0x11
        rig.world.faults.clear_bus(BUS)
        assert await bus.run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def lost_arbitration_is_survived_twice_and_has_its_number(rig: Rig) -> None:
    async with rig.bus() as bus:
        rig.world.faults.lose_arbitration(BUS, count=2)
        assert await bus.run(read_afe2) == 0x24
        rig.world.faults.lose_arbitration(BUS, count=3)
        fault = await fault_of(bus, read_afe2)
        assert fault.errno == rig.adapter.arbitration, fault
        assert await bus.run(read_afe2) == 0x24
        assert rig.world.faults.struck["arbitration"] == 5


@on(TOUCH_TABLE)
async def a_held_bus_is_a_fault_in_bounded_time_and_heals(rig: Rig) -> None:
    async with rig.bus() as bus:
        rig.world.faults.stick_bus(BUS)
        began = ticks_ms()
        fault = await fault_of(bus, read_afe2)
        assert fault.errno == rig.adapter.stuck, fault
        assert 60 <= ticks_diff(ticks_ms(), began) <= 400
        assert rig.world.faults.struck["stuck"] >= 3
        rig.world.faults.release_bus(BUS)
        assert await bus.run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def a_held_bus_does_not_hold_the_loop(rig: Rig) -> None:
    longest_ms = 0

    async def tick() -> None:
        nonlocal longest_ms
        while True:
            before = ticks_ms()
            await sleep_ms(5)
            longest_ms = max(longest_ms, ticks_diff(ticks_ms(), before))

    async with rig.bus() as bus:
        rig.world.faults.stick_bus(BUS)
        ticking = asyncio.create_task(tick())
        await fault_of(bus, read_afe2)
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        rig.world.faults.release_bus(BUS)
    assert 5 <= longest_ms <= 25, f"the loop stood still for {longest_ms} ms"


@on(TOUCH_TABLE)
async def a_line_held_in_mid_byte_is_clocked_free(rig: Rig) -> None:
    with rig.opened_board() as board:
        rig.world.faults.stick_bus(BUS, pulses_to_free=7)
        await _answers_again(board.buses[BUS])
        assert rig.world.faults.struck["clock pulse"] == 7
        assert rig.world.faults.struck["supply cut"] == 0


@on(KEYPAD_TABLE)
async def an_ic_that_hangs_on_the_line_loses_its_supply(rig: Rig) -> None:
    with rig.opened_board() as board:
        bus = board.buses[BUS]
        await bus.run(lambda smbus: smbus.write_byte_data(SENSE, DEBOUNCE, 0x11))
        rig.world.faults.stick_bus(BUS)
        await _answers_again(bus)
        assert rig.world.faults.struck["supply cut"] == 1
        assert await bus.run(lambda smbus: smbus.read_byte_data(SENSE, DEBOUNCE)) == 0


@on(TOUCH_TABLE)
async def a_grounded_line_stays_a_fault_and_the_bus_is_there_when_it_is_mended(rig: Rig) -> None:
    with rig.opened_board() as board:
        rig.world.faults.ground_bus(BUS)
        for _ in range(3):
            await fault_of(board.buses[BUS], read_afe2)
        recovery = board.buses[BUS].recovery
        assert recovery is not None
        assert rig.world.faults.struck["supply cut"] == 1, recovery.last_outcome
        rig.world.faults.release_bus(BUS)
        assert await board.buses[BUS].run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def a_recovery_can_be_rehearsed_on_a_sound_bus(rig: Rig) -> None:
    with rig.opened_board() as board:
        bus = board.buses[BUS]
        await bus.run(lambda smbus: smbus.write_byte_data(SENSE, DEBOUNCE, 0x11))
        await bus.rehearse_recovery()
        assert rig.world.faults.struck["supply cut"] == 1
        assert await bus.run(lambda smbus: smbus.read_byte_data(SENSE, DEBOUNCE)) == 0
        assert bus.fault_count == 0


async def _answers_again(bus: I2cBus) -> None:
    """Two failed conversations ask for a recovery, and the third has the bus back."""
    for _ in range(2):
        await fault_of(bus, read_afe2)
    assert await bus.run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def a_short_read_is_a_fault_and_never_a_value(rig: Rig) -> None:
    async with rig.bus() as bus:
        for count in (2, 0x2B):
            rig.world.faults.short_read("sense-1", count=3)
            await fault_of(bus, lambda smbus, n=count: read_registers(smbus, SENSE, 0, n))
        assert rig.world.faults.struck["short read"] == 6
        assert await bus.run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def many_conversations_at_once_do_not_mix(rig: Rig) -> None:
    async with rig.bus() as bus:
        await bus.run(lambda smbus: smbus.write_byte_data(LIGHTS, MODE1, AUTO_INCREMENT_ASLEEP))

        async def converse(number: int) -> None:
            address, register = (SENSE, THRESHOLDS) if number % 2 else (LIGHTS, LED0)
            data = [number, number % 16]

            def job(smbus: SMBusLike) -> bytes:
                write_registers(smbus, address, register, data)
                return read_registers(smbus, address, register, 2)

            assert list(await bus.run(job)) == data

        await asyncio.gather(*(converse(number) for number in range(30)))


@on(TOUCH_TABLE)
async def a_bus_that_is_not_there_is_refused_in_words(rig: Rig) -> None:
    with refused(HardwareFault) as caught:
        rig.backend.open_i2c(31, 400_000)
    assert "I2C bus 31 could not be opened" in str(caught[0])


@on(TOUCH_TABLE)
async def a_closed_bus_takes_no_more_jobs(rig: Rig) -> None:
    async with rig.bus() as bus:
        await bus.run(read_afe2)
    with refused(HardwareFault):
        await bus.run(read_afe2)
