"""The only door to one I2C bus: conversations in order, retried within bounds, then a fault.

A driver hands in a whole conversation as one job, so that nothing comes between its transfers; the
job must be safe to repeat. This module knows when a transfer failed. It does not know any chip, and
it never turns a failed read into a value.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Sequence
from typing import Protocol, SupportsBytes, TypeVar, cast

from smbus2 import i2c_msg

from hal.errors import BusFault
from hal.worker import Worker

T = TypeVar("T")
log = logging.getLogger("hal.i2c")

RETRIES_MAX = 2
SMBUS_BLOCK_BYTES_MAX = 32

# The same event has different numbers on different adapters (a missing acknowledge is 121 on a Pi,
# 110 or 6 behind USB), so the number explains a fault and never decides anything.
MEANINGS = {
    errno.EREMOTEIO: "no chip acknowledged",
    errno.ENXIO: "no chip acknowledged",
    errno.ETIMEDOUT: "the bus is stuck or no chip answered in time",
    errno.EIO: "the transfer broke off",
    errno.EAGAIN: "arbitration was lost",
}


class SMBusLike(Protocol):
    """The part of smbus2.SMBus the drivers use."""

    def read_byte_data(self, i2c_addr: int, register: int) -> int: ...

    def write_byte_data(self, i2c_addr: int, register: int, value: int) -> None: ...

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]: ...

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None: ...

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None: ...

    def close(self) -> None: ...


class ShortTransfer(Exception):  # noqa: N818 - caught by I2cBus, never seen outside
    """Fewer bytes came back than were asked for."""


class I2cBus:
    """One bus, its worker, and the count of what went wrong on it."""

    def __init__(
        self, name: str, smbus: SMBusLike, worker: Worker, retries_max: int = RETRIES_MAX
    ) -> None:
        self.name = name
        self.fault_count = 0
        self.last_fault = ""
        self._smbus = smbus
        self._worker = worker
        self._retries_max = retries_max

    async def run(self, job: Callable[[SMBusLike], T]) -> T:
        """Runs one conversation; raises BusFault when it failed `retries_max` + 1 times."""
        for attempts_left in range(self._retries_max, -1, -1):
            try:
                return await self._worker.run(lambda: job(self._smbus))
            except (OSError, ShortTransfer) as error:
                fault = self._note(error, attempts_left)
                if attempts_left == 0:
                    raise fault from error
        raise AssertionError("The last attempt either returned or raised.")

    def close(self) -> None:
        self._worker.close()
        self._smbus.close()

    def _note(self, error: OSError | ShortTransfer, attempts_left: int) -> BusFault:
        number = error.errno if isinstance(error, OSError) else None
        sentence = f"I2C bus {self.name}: {_meaning(error)}."
        self.fault_count += 1
        self.last_fault = sentence
        log.warning("%s Attempts left: %d.", sentence, attempts_left)
        return BusFault(sentence, number)


def read_registers(smbus: SMBusLike, address: int, register: int, count: int) -> bytes:
    """Reads `count` bytes from `register` on in one transfer of any length."""
    if count <= SMBUS_BLOCK_BYTES_MAX:
        data = bytes(smbus.read_i2c_block_data(address, register, count))
    else:
        answer = i2c_msg.read(address, count)
        smbus.i2c_rdwr(i2c_msg.write(address, [register]), answer)
        # smbus2's type hints give __bytes__ the wrong type; it does return bytes.
        data = bytes(cast(SupportsBytes, answer))
    if len(data) != count:
        raise ShortTransfer(
            f"chip 0x{address:02X} gave {len(data)} of {count} bytes from register 0x{register:02X}"
        )
    return data


def write_registers(smbus: SMBusLike, address: int, register: int, data: Sequence[int]) -> None:
    """Writes `data` from `register` on in one transfer of any length."""
    if len(data) <= SMBUS_BLOCK_BYTES_MAX:
        smbus.write_i2c_block_data(address, register, list(data))
    else:
        smbus.i2c_rdwr(i2c_msg.write(address, [register, *data]))


def _meaning(error: OSError | ShortTransfer) -> str:
    if isinstance(error, ShortTransfer):
        return str(error)
    if error.errno is None:
        return f"the transfer failed: {error}"
    meaning = MEANINGS.get(error.errno, os.strerror(error.errno))
    name = errno.errorcode.get(error.errno, "unknown")
    return f"{meaning} (errno {error.errno} {name})"
