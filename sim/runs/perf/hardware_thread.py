"""The simulated hardware on a thread and loop of its own, and a backend whose buses really block.

So a unit can be measured in real time as on a Pi: its loop, a thread per bus that sleeps while bits
travel, and edges that come from a thread it does not know. It alone knows the way between the
threads. Nothing here is virtual time, and nothing repeats exactly.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

from smbus2 import i2c_msg

from hal.board.config import BoardConfig
from hal.bus.i2c import SMBusLike
from hal.worker import ThreadWorker, Worker
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.i2c import SECOND_NS, SimI2c

T = TypeVar("T")

ANSWER_MAX_S = 10


class HardwareThread:
    """One world and the thread it lives on; `do` and `ask` act on it from any other thread."""

    def __init__(self, board: BoardConfig) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hardware", daemon=True)
        self._thread.start()
        self.world = self.do(lambda: World(board))
        self.do(self.world.start)

    def do(self, act: Callable[[], T]) -> T:
        """Runs it where the hardware lives, and waits for what comes of it."""
        return self._begin(act).result(ANSWER_MAX_S)

    async def ask(self, act: Callable[[], T]) -> T:
        """The same for a task, whose loop goes on meanwhile."""
        return await asyncio.wrap_future(self._begin(act))

    def _begin(self, act: Callable[[], T]) -> Future[T]:
        async def acted() -> T:
            return act()

        return asyncio.run_coroutine_threadsafe(acted(), self._loop)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self.world.close(), self._loop).result(ANSWER_MAX_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class ThreadedBackend(SimBackend):
    """The simulated board with the threads of a real one."""

    def __init__(self, hardware: HardwareThread) -> None:
        super().__init__(hardware.world)
        self._hardware = hardware

    def open_i2c(self, number: int, frequency_hz: int) -> tuple[SMBusLike, Worker]:
        smbus, _ = super().open_i2c(number, frequency_hz)
        bus = self._hardware.world.buses[number]
        return _BlockingBus(self._hardware, bus, smbus), ThreadWorker(f"i2c-{number}")

    def disk_worker(self, name: str = "disk") -> Worker:
        return ThreadWorker(name)


class _BlockingBus(SMBusLike):
    """Each call keeps its thread for as long as the transfer takes, failed ones too."""

    def __init__(self, hardware: HardwareThread, bus: SimI2c, smbus: SMBusLike) -> None:
        self._hardware = hardware
        self._bus = bus
        self._smbus = smbus

    def read_byte_data(self, i2c_addr: int, register: int) -> int:
        return self._transfer(lambda: self._smbus.read_byte_data(i2c_addr, register))

    def write_byte_data(self, i2c_addr: int, register: int, value: int) -> None:
        self._transfer(lambda: self._smbus.write_byte_data(i2c_addr, register, value))

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]:
        return self._transfer(lambda: self._smbus.read_i2c_block_data(i2c_addr, register, length))

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        self._transfer(lambda: self._smbus.write_i2c_block_data(i2c_addr, register, data))

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None:
        self._transfer(lambda: self._smbus.i2c_rdwr(*i2c_msgs))

    def close(self) -> None:
        self._smbus.close()

    def _transfer(self, call: Callable[[], T]) -> T:
        try:
            return self._hardware.do(call)
        finally:
            remaining_s = self._bus.clock_ns / SECOND_NS - time.monotonic()
            time.sleep(max(0.0, remaining_s))
