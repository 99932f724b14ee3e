"""The only door to one I2C bus: conversations in order, retried within bounds, then a fault.

A driver hands in a whole conversation as one job, so that nothing comes between its transfers; the
job must be safe to repeat. This module knows when a transfer failed and when to ask for a recovery;
how a bus is freed is `hal.bus.recovery`'s. It does not know any IC, and it never turns a failed
read into a value.
"""

from __future__ import annotations

import errno
import logging
import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, SupportsBytes, TypeVar, cast

from smbus2 import i2c_msg

from hal.aio import Event, ticks_diff, ticks_ms
from hal.errors import BusFault, HardwareFault
from hal.worker import Worker

if TYPE_CHECKING:
    from hal.bus.recovery import BusRecovery

T = TypeVar("T")
log = logging.getLogger("hal.bus.i2c")

RETRIES_MAX = 2
# A conversation that took this long to fail met a stuck bus, and a repeat would only hold up every
# other IC once more.
RETRY_WITHIN_MS = 250
TELL_AGAIN_MS = 60_000
SMBUS_BLOCK_BYTES_MAX = 32

# The same event has different numbers on different adapters (a missing acknowledge is 121 on a Pi,
# 110 or 6 behind USB), so the number explains a fault and decides nothing about an IC.
MEANINGS = {
    errno.EREMOTEIO: "no IC acknowledged",
    errno.ENXIO: "no IC acknowledged",
    errno.ETIMEDOUT: "the bus is stuck or no IC answered in time",
    errno.EIO: "the transfer broke off",
    errno.EAGAIN: "arbitration was lost",
}
# A held data line reads as an acknowledge of everything: a missing one proves that the line moves.
NOT_ACKNOWLEDGED = (errno.EREMOTEIO, errno.ENXIO)


class SMBusLike(Protocol):
    """The part of smbus2.SMBus the drivers use."""

    def read_byte_data(self, i2c_addr: int, register: int) -> int: ...

    def write_byte_data(self, i2c_addr: int, register: int, value: int) -> None: ...

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]: ...

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None: ...

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None: ...

    def close(self) -> None: ...


class Bus(Protocol):
    """Where a driver talks to its IC: a bus, or one channel of a multiplexer on it."""

    name: str

    async def run(self, job: Callable[[SMBusLike], T]) -> T: ...


class TransferBroken(Exception):  # noqa: N818 - caught by I2cBus, never seen outside
    """Every transfer was acknowledged and yet the conversation is worth nothing: repeat it."""


class ShortTransfer(TransferBroken):
    """Fewer bytes came back than were asked for."""


class _Addressed:
    """Passes every call on, and remembers whom the last one was for."""

    def __init__(self, smbus: SMBusLike) -> None:
        self.address = 0
        self._smbus = smbus

    def read_byte_data(self, i2c_addr: int, register: int) -> int:
        self.address = i2c_addr
        return self._smbus.read_byte_data(i2c_addr, register)

    def write_byte_data(self, i2c_addr: int, register: int, value: int) -> None:
        self.address = i2c_addr
        self._smbus.write_byte_data(i2c_addr, register, value)

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]:
        self.address = i2c_addr
        return self._smbus.read_i2c_block_data(i2c_addr, register, length)

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        self.address = i2c_addr
        self._smbus.write_i2c_block_data(i2c_addr, register, data)

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None:
        self.address = i2c_msgs[0].addr
        self._smbus.i2c_rdwr(*i2c_msgs)

    def close(self) -> None:
        self._smbus.close()


class I2cBus:
    """One bus, its worker, and the count of what went wrong on it."""

    def __init__(
        self,
        name: str,
        smbus: SMBusLike,
        worker: Worker,
        retries_max: int = RETRIES_MAX,
        recovery: BusRecovery | None = None,
    ) -> None:
        self.name = name
        self.fault_count = 0
        self.last_fault = ""
        # How often a transfer with each address failed. A held bus fails with all of them.
        self.faults_at: Counter[int] = Counter()
        self.recovery = recovery
        self._smbus = _Addressed(smbus)
        self._worker = worker
        self._retries_max = retries_max
        # Conversations that failed one after another, none of them for want of an acknowledge.
        self._stuck_count = 0
        self._told_ms = 0
        # Cleared while a recovery has the wires.
        self._usable = Event()
        self._usable.set()

    async def run(self, job: Callable[[SMBusLike], T]) -> T:
        """Runs one conversation; raises BusFault when it failed `retries_max` + 1 times."""
        spent_ms = 0
        for attempts_left in range(self._retries_max, -1, -1):
            # Before each: another conversation's failure may have begun a recovery meanwhile.
            if not self._usable.is_set():
                await self._usable.wait()
            # Not before: the time that a recovery took says nothing about this conversation.
            asked_ms = ticks_ms()
            try:
                result = await self._worker.run(lambda: self._attempt(job))
            except (OSError, TransferBroken) as error:
                spent_ms += _age_ms(asked_ms)
                is_last = attempts_left == 0 or spent_ms >= RETRY_WITHIN_MS
                fault = self._note(error, 0 if is_last else attempts_left)
                if is_last:
                    await self._failed(error)
                    raise fault from error
            else:
                self._stuck_count = 0
                return result
        raise AssertionError("The last attempt either returned or raised.")

    async def rehearse_recovery(self) -> None:
        """Frees the bus although nothing holds it; its ICs may lose their supply.

        Raises HardwareFault when a held bus could not be freed in this way.
        """
        assert self.recovery is not None, "a board that cannot recover has nothing to rehearse"
        await self._usable.wait()
        self._usable.clear()
        try:
            await self.recovery.rehearse(self._worker)
        except OSError as error:
            raise HardwareFault(
                f"I2C bus {self.name} could not be taken from its driver: {error}."
            ) from error
        finally:
            self._usable.set()

    def close(self) -> None:
        self._worker.close()
        self._return_pins()
        self._smbus.close()

    def _attempt(self, job: Callable[[SMBusLike], T]) -> T:
        if self.recovery is not None:
            self.recovery.require_pins_returned()
        return job(self._smbus)

    def _return_pins(self) -> None:
        """A program that ends in the middle of a recovery leaves the bus to its driver."""
        try:
            if self.recovery is not None:
                self.recovery.require_pins_returned()
        except (OSError, HardwareFault) as error:
            log.error("I2C bus %s stays without its driver: %s.", self.name, error)

    async def _failed(self, error: OSError | TransferBroken) -> None:
        may_be_stuck = isinstance(error, OSError) and error.errno not in NOT_ACKNOWLEDGED
        self._stuck_count = self._stuck_count + 1 if may_be_stuck else 0
        recovery = self.recovery
        if recovery is None or not recovery.is_due(self._stuck_count) or not self._usable.is_set():
            return
        self._usable.clear()
        try:
            await recovery.attempt(self._worker, self._stuck_count)
        finally:
            self._usable.set()

    def _note(self, error: OSError | TransferBroken, attempts_left: int) -> BusFault:
        number = error.errno if isinstance(error, OSError) else None
        sentence = f"I2C bus {self.name}: {_meaning(error)}."
        self.fault_count += 1
        self.faults_at[self._smbus.address] += 1
        level = logging.WARNING if self._is_news(sentence) else logging.DEBUG
        log.log(level, "%s Attempts left: %d.", sentence, attempts_left)
        self.last_fault = sentence
        return BusFault(sentence, number)

    def _is_news(self, sentence: str) -> bool:
        """A bus that stays broken is asked many times a second: its log must not fill the disk."""
        is_old = sentence == self.last_fault and _age_ms(self._told_ms) < TELL_AGAIN_MS
        if not is_old:
            self._told_ms = ticks_ms()
        return not is_old


def read_registers(smbus: SMBusLike, address: int, register: int, count: int) -> bytes:
    """Reads `count` bytes from `register` on in one transfer of any length."""
    if count <= SMBUS_BLOCK_BYTES_MAX:
        data = bytes(smbus.read_i2c_block_data(address, register, count))
    else:
        answer = i2c_msg.read(address, count)
        smbus.i2c_rdwr(i2c_msg.write(address, [register]), answer)
        data = message_bytes(answer)
    if len(data) != count:
        raise ShortTransfer(
            f"IC 0x{address:02X} gave {len(data)} of {count} bytes from register 0x{register:02X}"
        )
    return data


def write_registers(smbus: SMBusLike, address: int, register: int, data: Sequence[int]) -> None:
    """Writes `data` from `register` on in one transfer of any length."""
    if len(data) <= SMBUS_BLOCK_BYTES_MAX:
        smbus.write_i2c_block_data(address, register, list(data))
    else:
        smbus.i2c_rdwr(i2c_msg.write(address, [register, *data]))


def message_bytes(message: i2c_msg) -> bytes:
    # smbus2's type hints give __bytes__ the wrong type; it does return bytes.
    return bytes(cast(SupportsBytes, message))


def _age_ms(since_ticks: int) -> int:
    return ticks_diff(ticks_ms(), since_ticks)


def _meaning(error: OSError | TransferBroken) -> str:
    if isinstance(error, TransferBroken):
        return str(error)
    if error.errno is None:
        return f"the transfer failed: {error}"
    meaning = MEANINGS.get(error.errno, os.strerror(error.errno))
    name = errno.errorcode.get(error.errno, "unknown")
    return f"{meaning} (errno {error.errno} {name})"
