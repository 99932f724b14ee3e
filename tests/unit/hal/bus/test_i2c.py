"""A failed transfer is retried within bounds and then a fault, never a value."""

from __future__ import annotations

import asyncio
import errno
import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from hal.aio import sleep_ms
from hal.bus.i2c import RETRY_WITHIN_MS, I2cBus, SMBusLike, read_registers, write_registers
from hal.errors import BusFault
from hal.worker import InlineWorker, ThreadWorker
from sim.time.loop import run_virtual

T = TypeVar("T")


def read_one(smbus: SMBusLike) -> int:
    return smbus.read_byte_data(0x5A, 0x5D)


def test_a_transfer_that_fails_twice_succeeds_and_is_counted(smbus: Any, bus: I2cBus) -> None:
    smbus.registers[0x5D] = 0x24
    smbus.failures.extend([OSError(errno.EREMOTEIO, "x"), OSError(errno.EIO, "x")])
    assert run_virtual(bus.run(read_one)) == 0x24
    assert bus.fault_count == 2
    assert "broke off" in bus.last_fault


@pytest.mark.parametrize("number", [121, 110, 5, 6, 11, errno.ENODEV])
def test_every_error_number_becomes_a_bus_fault(smbus: Any, bus: I2cBus, number: int) -> None:
    smbus.failures.extend([OSError(number, "x")] * 3)
    with pytest.raises(BusFault, match=r"^I2C bus 1: .*errno") as caught:
        run_virtual(bus.run(read_one))
    assert caught.value.errno == number
    assert bus.fault_count == 3
    assert smbus.log == []


def test_an_error_without_a_number_is_a_bus_fault_too(smbus: Any, bus: I2cBus) -> None:
    smbus.failures.extend([OSError("the adapter is gone")] * 3)
    with pytest.raises(BusFault, match="the adapter is gone") as caught:
        run_virtual(bus.run(read_one))
    assert caught.value.errno is None


def test_the_number_of_retries_is_bounded(smbus: Any) -> None:
    bus = I2cBus("7", smbus, InlineWorker("i2c-7"), retries_max=0)
    smbus.failures.append(OSError(errno.ETIMEDOUT, "x"))
    with pytest.raises(BusFault, match="I2C bus 7: the bus is stuck"):
        run_virtual(bus.run(read_one))
    assert bus.fault_count == 1


@pytest.mark.parametrize("failures", [1, 2])
def test_the_time_of_a_recovery_takes_no_retry_away(smbus: Any, bus: I2cBus, failures: int) -> None:
    """Catches: its clock started before it waited for somebody else's recovery."""
    smbus.registers[0x5D] = 0x24
    smbus.failures.extend([OSError(errno.EREMOTEIO, "x")] * failures)

    async def main() -> int:
        bus._usable.clear()
        asking = asyncio.create_task(bus.run(read_one), name="asking")
        await sleep_ms(RETRY_WITHIN_MS + 80)
        bus._usable.set()
        return await asking

    assert run_virtual(main()) == 0x24
    assert bus.fault_count == failures


def test_a_conversation_that_was_slow_to_fail_is_not_repeated(smbus: Any) -> None:
    class SlowWorker(InlineWorker):
        async def run(self, job: Callable[[], T]) -> T:
            await sleep_ms(RETRY_WITHIN_MS // 2)
            return await super().run(job)

    bus = I2cBus("1", smbus, SlowWorker("i2c-1"))
    smbus.failures.extend([OSError(errno.ETIMEDOUT, "x")] * 3)
    with pytest.raises(BusFault):
        run_virtual(bus.run(read_one))
    assert bus.fault_count == 2, "two halves are the whole"


@pytest.mark.parametrize("count", [2, 43])
def test_short_data_is_a_fault_in_both_kinds_of_read(smbus: Any, bus: I2cBus, count: int) -> None:
    smbus.missing_bytes = 1
    with pytest.raises(BusFault, match=f"gave {count - 1} of {count} bytes") as caught:
        run_virtual(bus.run(lambda s: read_registers(s, 0x5A, 0, count)))
    assert caught.value.errno is None
    assert len(smbus.reads) == 3


def test_a_bus_that_stays_broken_tells_of_it_once_a_minute(
    smbus: Any, bus: I2cBus, caplog: pytest.LogCaptureFixture
) -> None:
    async def ask_for_ms(duration_ms: int) -> None:
        for _ in range(duration_ms // 1000):
            smbus.failures.extend([OSError(errno.ETIMEDOUT, "x")] * 3)
            with pytest.raises(BusFault):
                await bus.run(read_one)
            await sleep_ms(1000)

    with caplog.at_level(logging.WARNING, "hal.bus.i2c"):
        run_virtual(ask_for_ms(150_000))
    assert len(caplog.records) == 3
    assert bus.fault_count == 450
    with caplog.at_level(logging.WARNING, "hal.bus.i2c"):
        smbus.failures.append(OSError(errno.EIO, "x"))
        run_virtual(bus.run(read_one))
    assert len(caplog.records) == 4, "other trouble is told at once"


def test_a_programmers_error_is_not_retried(bus: I2cBus) -> None:
    def job(_: SMBusLike) -> None:
        raise ValueError("no such register")

    with pytest.raises(ValueError, match="no such register"):
        run_virtual(bus.run(job))
    assert bus.fault_count == 0


def test_each_failed_attempt_is_logged(
    smbus: Any, bus: I2cBus, caplog: pytest.LogCaptureFixture
) -> None:
    smbus.failures.append(OSError(errno.EREMOTEIO, "x"))
    with caplog.at_level(logging.WARNING, "hal.bus.i2c"):
        run_virtual(bus.run(read_one))
    assert [record.name for record in caplog.records] == ["hal.bus.i2c"]
    assert "no IC acknowledged" in caplog.text


def test_long_transfers_travel_whole(smbus: Any) -> None:
    data = bytes(range(64))
    write_registers(smbus, 0x40, 0x06, data)
    assert smbus.log == [("write", 0x06, data)]
    assert read_registers(smbus, 0x40, 0x06, 64) == data
    assert smbus.addresses == {0x40}


def test_close_closes_the_worker_and_the_bus(smbus: Any, bus: I2cBus) -> None:
    bus.close()
    assert smbus.closed
    with pytest.raises(Exception, match="was closed"):
        run_virtual(bus.run(read_one))


def test_a_bus_that_blocks_its_thread_leaves_the_loop_free(smbus: Any) -> None:
    """Mutation: a bus that runs its jobs on the loop would never see the loop's hundredth turn."""
    smbus.registers[0x5D] = 0x24
    turns_are_done = threading.Event()

    def blocked(bus: SMBusLike) -> int:
        assert turns_are_done.wait(10), "the loop waited with the bus"
        return read_one(bus)

    async def main() -> int:
        bus = I2cBus("1", smbus, ThreadWorker("i2c-1"))
        asking = asyncio.create_task(bus.run(blocked), name="asking")
        for _ in range(100):
            await asyncio.sleep(0)
        assert not asking.done()
        turns_are_done.set()
        try:
            return await asking
        finally:
            bus.close()

    assert asyncio.run(main()) == 0x24
