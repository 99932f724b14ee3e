"""The simulated bus: bit times, smbus2's calls, the kernel's errors, and the worker's waiting."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable

import pytest
from smbus2 import i2c_msg

from hal.errors import WorkerBusy
from sim.hardware.i2c import CP2112, PI_0_TO_4, PI_5, Adapter, SimBusWorker, SimI2c
from sim.hardware.ics.mpr121 import Mpr121
from sim.hardware.ics.pca9685 import Pca9685
from sim.hardware.ics.tca9555 import Tca9555
from sim.hardware.smbus import SimSMBus
from sim.time.loop import VirtualLoop, run_virtual

MS = 1_000_000


def new_bus(frequency_hz: int = 400_000, adapter: Adapter = PI_0_TO_4) -> SimI2c:
    bus = SimI2c(1, frequency_hz, now_ns=lambda: 0, adapter=adapter)
    for ic in (Mpr121(0x5A), Mpr121(0x5B), Pca9685(0x40), Tca9555(0x20)):
        bus.attach(ic)
    return bus


def virtual_bus(frequency_hz: int = 400_000) -> SimI2c:
    bus = SimI2c(1, frequency_hz)
    bus.attach(Mpr121(0x5A))
    return bus


def virtual_now_ns() -> int:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop.now_ns


# -- bit times, against the table in the hardware notes --------------------------------------


@pytest.mark.parametrize(
    ("address", "register", "count", "at_100_khz_ms", "at_400_khz_ms"),
    [
        (0x5A, 0x00, 2, 0.48, 0.12),
        (0x5A, 0x04, 24, 2.46, 0.615),
        (0x5A, 0x04, 26, 2.64, 0.66),
        (0x5A, 0x00, 43, 4.17, 1.0425),
        (0x20, 0x00, 2, 0.48, 0.12),
    ],
)
def test_a_read_takes_its_bit_time(
    address: int, register: int, count: int, at_100_khz_ms: float, at_400_khz_ms: float
) -> None:
    for frequency_hz, expected_ms in ((100_000, at_100_khz_ms), (400_000, at_400_khz_ms)):
        bus = new_bus(frequency_hz)
        write, read = i2c_msg.write(address, [register]), i2c_msg.read(address, count)
        SimSMBus(bus).i2c_rdwr(write, read)
        assert bus.clock_ns == round(expected_ms * MS)


@pytest.mark.parametrize(
    ("leds", "at_100_khz_ms", "at_400_khz_ms"), [(1, 0.56, 0.14), (16, 5.96, 1.49)]
)
def test_a_write_takes_its_bit_time(leds: int, at_100_khz_ms: float, at_400_khz_ms: float) -> None:
    for frequency_hz, expected_ms in ((100_000, at_100_khz_ms), (400_000, at_400_khz_ms)):
        bus = new_bus(frequency_hz)
        SimSMBus(bus).i2c_rdwr(i2c_msg.write(0x40, [0x06] + [0] * 4 * leds))
        assert bus.clock_ns == round(expected_ms * MS)


def test_a_refused_address_takes_eleven_bits() -> None:
    bus = new_bus()
    with pytest.raises(OSError, match="no answer from 0x10"):
        SimSMBus(bus).read_byte_data(0x10, 0)
    assert bus.clock_ns == 11 * 2500


def test_a_frequency_no_sensing_ic_follows_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot run at 1000000 Hz"):
        new_bus(1_000_000)


def test_two_ics_cannot_share_an_address() -> None:
    bus = new_bus()
    with pytest.raises(ValueError, match="already has an IC at 0x5a"):
        bus.attach(Mpr121(0x5A))


# -- smbus2's calls --------------------------------------------------------------------------


def test_every_call_reaches_the_registers() -> None:
    smbus = SimSMBus(new_bus())
    smbus.write_byte_data(0x5A, 0x5B, 0x11)
    assert smbus.read_byte_data(0x5A, 0x5B) == 0x11
    smbus.write_i2c_block_data(0x5A, 0x41, [12, 6, 13, 7])
    assert smbus.read_i2c_block_data(0x5A, 0x41, 4) == [12, 6, 13, 7]
    write, read = i2c_msg.write(0x5A, [0x41]), i2c_msg.read(0x5A, 4)
    smbus.i2c_rdwr(write, read)
    assert bytes(read) == bytes([12, 6, 13, 7])


def test_a_block_of_more_than_32_bytes_is_refused_as_smbus2_does() -> None:
    smbus = SimSMBus(new_bus())
    with pytest.raises(ValueError, match="32"):
        smbus.read_i2c_block_data(0x5A, 0, 33)
    with pytest.raises(ValueError, match="32"):
        smbus.write_i2c_block_data(0x5A, 0, [0] * 33)


def test_a_read_before_the_last_message_is_refused_on_older_boards() -> None:
    messages = [i2c_msg.read(0x5A, 1), i2c_msg.write(0x5A, [0])]
    with pytest.raises(OSError, match="has to be the last") as caught:
        SimSMBus(new_bus(adapter=PI_0_TO_4)).i2c_rdwr(*messages)
    assert caught.value.errno == errno.EOPNOTSUPP
    SimSMBus(new_bus(adapter=PI_5)).i2c_rdwr(*messages)


def test_too_many_messages_are_refused() -> None:
    smbus = SimSMBus(new_bus())
    for messages in ([], [i2c_msg.write(0x5A, [0])] * 43):
        with pytest.raises(OSError, match="one to 42") as caught:
            smbus.i2c_rdwr(*messages)
        assert caught.value.errno == errno.EINVAL


def test_a_closed_handle_is_dead_and_another_is_not() -> None:
    bus = new_bus()
    closed, other = SimSMBus(bus), SimSMBus(bus)
    closed.close()
    with pytest.raises(OSError, match="closed") as caught:
        closed.read_byte_data(0x5A, 0)
    assert caught.value.errno == errno.EBADF
    assert other.read_byte_data(0x5A, 0x5D) == 0x24


def test_an_all_call_write_reaches_every_lamp_ic() -> None:
    bus = SimI2c(1, 400_000, now_ns=lambda: 0)
    ics = [Pca9685(0x40), Pca9685(0x41)]
    for ic in ics:
        bus.attach(ic)
    smbus = SimSMBus(bus)
    smbus.write_byte_data(0x70, 0xFE, 7)
    assert [smbus.read_byte_data(ic.address, 0xFE) for ic in ics] == [7, 7]
    smbus.write_byte_data(0x40, 0x00, 0x10)
    smbus.write_byte_data(0x70, 0xFE, 9)
    assert [smbus.read_byte_data(ic.address, 0xFE) for ic in ics] == [7, 9]


def test_ics_that_answer_together_pull_the_line_low_together() -> None:
    bus = SimI2c(1, 400_000, now_ns=lambda: 0)
    for address in (0x40, 0x41):
        bus.attach(Pca9685(address))
    smbus = SimSMBus(bus)
    smbus.write_byte_data(0x40, 0xFE, 0b1100)
    smbus.write_byte_data(0x41, 0xFE, 0b1010)
    assert smbus.read_byte_data(0x70, 0xFE) == 0b1000


def test_a_software_reset_reaches_the_lamp_ics_only() -> None:
    bus = new_bus()
    smbus = SimSMBus(bus)
    smbus.write_byte_data(0x5A, 0x5B, 0x11)
    smbus.write_byte_data(0x40, 0xFE, 7)
    smbus.i2c_rdwr(i2c_msg.write(0x00, [0x06]))
    assert smbus.read_byte_data(0x40, 0xFE) == 0x1E
    assert smbus.read_byte_data(0x5A, 0x5B) == 0x11


def test_a_lamp_changes_at_the_stop_of_its_transfer() -> None:
    bus = SimI2c(1, 400_000, now_ns=lambda: 10 * MS)
    lamps = Pca9685(0x40)
    bus.attach(lamps)
    smbus = SimSMBus(bus)
    smbus.write_byte_data(0x40, 0x00, 0x20)
    bus.clock_ns = 20 * MS
    seen: list[int] = []
    lamps.on_output = lambda at_ns, channel, level: seen.append(at_ns)
    smbus.write_i2c_block_data(0x40, 0x06, [0, 0x10, 0, 0])
    assert seen == [20 * MS + 140_000]


# -- what the kernel reports -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("adapter", "nack", "stuck", "arbitration"),
    [(PI_0_TO_4, 121, 110, 5), (PI_5, 121, 110, 11), (CP2112, 110, 110, 5)],
)
def test_each_adapter_has_its_own_errors(
    adapter: Adapter, nack: int, stuck: int, arbitration: int
) -> None:
    bus = new_bus(adapter=adapter)
    smbus = SimSMBus(bus)
    arms: list[Callable[[], None]] = [
        lambda: bus.faults.nack(0x5A, 1),
        lambda: bus.faults.hold_data_line(MS),
        lambda: bus.faults.lose_arbitration(1),
    ]
    found = []
    for arm in arms:
        arm()
        with pytest.raises(OSError, match="I2C bus 1") as caught:
            smbus.read_byte_data(0x5A, 0x5D)
        found.append(caught.value.errno)
        bus.faults.release_data_line()
        assert smbus.read_byte_data(0x5A, 0x5D) == 0x24
    assert found == [nack, stuck, arbitration]


def test_faults_strike_as_often_as_armed_and_are_counted() -> None:
    bus = new_bus()
    smbus = SimSMBus(bus)
    bus.faults.nack(0x5A, 2)
    for _ in range(2):
        with pytest.raises(OSError, match="no answer"):
            smbus.read_byte_data(0x5A, 0x5D)
    assert smbus.read_byte_data(0x5B, 0x5D) == 0x24
    assert smbus.read_byte_data(0x5A, 0x5D) == 0x24
    assert bus.faults.struck == {"nack": 2}


def test_a_stuck_line_costs_its_timeout_until_released() -> None:
    bus = new_bus()
    bus.faults.hold_data_line(30 * MS)
    with pytest.raises(OSError, match="SDA is held low"):
        SimSMBus(bus).read_byte_data(0x5A, 0x5D)
    assert bus.clock_ns == 30 * MS + 2500


def test_a_short_read_shortens_a_block_and_fails_everything_else() -> None:
    bus = new_bus()
    smbus = SimSMBus(bus)
    bus.faults.short_read(0x5A, 3)
    assert smbus.read_i2c_block_data(0x5A, 0x5C, 2) == [0x10]
    with pytest.raises(OSError, match="0 of 1 bytes") as caught:
        smbus.read_byte_data(0x5A, 0x5D)
    assert caught.value.errno == errno.EIO
    read = i2c_msg.read(0x5A, 43)
    with pytest.raises(OSError, match="42 of 43 bytes"):
        smbus.i2c_rdwr(i2c_msg.write(0x5A, [0]), read)
    assert smbus.read_byte_data(0x5A, 0x5D) == 0x24


def test_a_cleared_bus_has_no_faults_left() -> None:
    bus = new_bus()
    bus.faults.nack(0x5A)
    bus.faults.short_read(0x5A)
    bus.faults.lose_arbitration()
    bus.faults.hold_data_line()
    bus.faults.clear()
    assert SimSMBus(bus).read_byte_data(0x5A, 0x5D) == 0x24
    assert not bus.faults.struck


# -- the worker ------------------------------------------------------------------------------


def test_a_job_returns_when_its_bus_time_has_passed() -> None:
    async def scene() -> None:
        bus = virtual_bus()
        smbus, worker = SimSMBus(bus), SimBusWorker(bus)
        await asyncio.sleep(1)
        assert await worker.run(lambda: smbus.read_i2c_block_data(0x5A, 0x5C, 2)) == [0x10, 0x24]
        assert virtual_now_ns() == 1_000_120_000

    run_virtual(scene())


def test_jobs_of_two_handles_on_one_bus_are_served_in_turn() -> None:
    async def scene() -> None:
        bus = virtual_bus()
        began: list[tuple[str, int]] = []
        ended: list[tuple[str, int]] = []

        def job(name: str) -> None:
            began.append((name, virtual_now_ns()))
            SimSMBus(bus).read_i2c_block_data(0x5A, 0x00, 2)

        async def client(name: str) -> None:
            await SimBusWorker(bus).run(lambda: job(name))
            ended.append((name, virtual_now_ns()))

        await asyncio.gather(*(client(name) for name in "abc"))
        # None looks at an IC before the wires are free for it.
        assert began == [("a", 0), ("b", 120_000), ("c", 240_000)]
        assert ended == [("a", 120_000), ("b", 240_000), ("c", 360_000)]

    run_virtual(scene())


def test_a_failed_job_also_takes_its_time() -> None:
    async def scene() -> None:
        bus = virtual_bus()
        smbus, worker = SimSMBus(bus), SimBusWorker(bus)
        bus.faults.hold_data_line(30 * MS)
        with pytest.raises(OSError, match="SDA"):
            await worker.run(lambda: smbus.read_byte_data(0x5A, 0))
        assert virtual_now_ns() == 30 * MS + 2500

    run_virtual(scene())


def test_a_cancelled_caller_leaves_the_wires_busy_until_the_transfer_is_over() -> None:
    async def scene() -> None:
        bus = virtual_bus()
        smbus, worker = SimSMBus(bus), SimBusWorker(bus)
        first = asyncio.create_task(worker.run(lambda: smbus.read_i2c_block_data(0x5A, 0, 2)))
        await asyncio.sleep(0.00005)
        first.cancel()
        assert await worker.run(virtual_now_ns) == 120_000
        await asyncio.gather(first, return_exceptions=True)

    run_virtual(scene())


def test_a_closed_worker_takes_no_job() -> None:
    async def scene() -> None:
        worker = SimBusWorker(virtual_bus())
        worker.close()
        with pytest.raises(WorkerBusy, match="was closed"):
            await worker.run(lambda: None)

    run_virtual(scene())


def test_the_worker_also_keeps_time_on_an_ordinary_loop() -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        bus = virtual_bus()
        smbus, worker = SimSMBus(bus), SimBusWorker(bus)
        begin = loop.time()
        await worker.run(lambda: smbus.read_i2c_block_data(0x5A, 0, 2))
        assert loop.time() - begin >= 0.00012

    asyncio.run(scene())
