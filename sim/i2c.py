"""A simulated I2C bus with real bit times, and smbus2's face on it.

It alone knows what a transfer costs in time and which errno the kernel gives for which misfortune.
The chips are models; who wires them to the bus and who arms faults is the world's business.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from smbus2 import i2c_msg

from hal.errors import WorkerBusy
from hal.worker import Worker
from sim.chips.base import Chip
from sim.faults import BusFaults

T = TypeVar("T")

SECOND_NS = 1_000_000_000
FREQUENCY_MIN_HZ = 10_000
FREQUENCY_MAX_HZ = 400_000  # The fastest that an MPR121 follows.
BYTE_BITS = 9  # Eight and the acknowledge.
EDGE_BITS = 1  # START, repeated START and STOP each take about one bit.
GENERAL_CALL = 0x00
READ_FLAG = 0x0001
MESSAGES_MAX = 42
MESSAGE_BYTES_MAX = 8192
BLOCK_BYTES_MAX = 32


@dataclass(frozen=True)
class Adapter:
    """Which errno one kind of bus master reports for which misfortune."""

    name: str
    nack: int
    stuck: int
    arbitration: int
    incomplete: int
    read_must_be_last: bool


PI_0_TO_4 = Adapter("i2c-bcm2835", errno.EREMOTEIO, errno.ETIMEDOUT, errno.EIO, errno.EIO, True)
PI_5 = Adapter("i2c-designware", errno.EREMOTEIO, errno.ETIMEDOUT, errno.EAGAIN, errno.EIO, False)
CP2112 = Adapter("hid-cp2112", errno.ETIMEDOUT, errno.ETIMEDOUT, errno.EIO, errno.EIO, False)


@dataclass(frozen=True)
class Message:
    """One message of a transfer: the bytes to write, or how many to read."""

    address: int
    data: bytes = b""
    read_count: int | None = None


def loop_now_ns() -> int:
    """The running loop's time. Virtual time has exact nanoseconds, any other loop a float."""
    loop = asyncio.get_running_loop()
    exact: int | None = getattr(loop, "now_ns", None)
    return int(loop.time() * SECOND_NS) if exact is None else exact


async def sleep_until_ns(target_ns: int, now_ns: Callable[[], int] = loop_now_ns) -> None:
    # A float of seconds may wake a nanosecond early, hence the loop.
    while (remaining_ns := target_ns - now_ns()) > 0:  # noqa: ASYNC110
        await asyncio.sleep(remaining_ns / SECOND_NS)


class SimI2c:
    """One bus: chips, a clock of its own, and the faults armed on it.

    `clock_ns` is when the last transfer ended; it may lie ahead of `now_ns()`, and the next one
    begins no earlier than both.
    """

    def __init__(
        self,
        number: int,
        frequency_hz: int,
        now_ns: Callable[[], int] = loop_now_ns,
        adapter: Adapter = PI_0_TO_4,
    ) -> None:
        self.number = number
        self.now_ns = now_ns
        self.adapter = adapter
        self.faults = BusFaults()
        self.clock_ns = 0
        self.transfer_count = 0
        self.on_transfer: Callable[[], None] | None = None
        self.turn = asyncio.Lock()
        self._chips: list[Chip] = []
        self._multiplexers: list[Chip] = []
        self.set_frequency(frequency_hz)

    def set_frequency(self, frequency_hz: int) -> None:
        if not FREQUENCY_MIN_HZ <= frequency_hz <= FREQUENCY_MAX_HZ:
            raise ValueError(f"I2C bus {self.number} cannot run at {frequency_hz} Hz.")
        self.frequency_hz = frequency_hz

    def attach(self, chip: Chip) -> None:
        if any(other.address == chip.address for other in self._chips):
            raise ValueError(f"I2C bus {self.number} already has a chip at {chip.address:#04x}.")
        self._chips.append(chip)
        if type(chip).connected is not Chip.connected:
            self._multiplexers.append(chip)

    def transfer(self, messages: Sequence[Message]) -> list[bytes]:
        """START, the messages joined by repeated STARTs, STOP. Gives the bytes of each read."""
        self.clock_ns = max(self.clock_ns, self.now_ns())
        self.transfer_count += 1
        addressed: list[Chip] = []
        try:
            self._meet_bus_faults()
            return [self._message(each, addressed) for each in messages]
        finally:
            self._stop(addressed)

    def _reachable(self) -> Iterator[Chip]:
        """Who hears the bus now: its own chips, and what its multiplexers connect."""
        for chip in self._chips:
            yield chip
            yield from chip.connected()

    def _who_answers(self, address: int) -> list[Chip]:
        chips = [chip for chip in self._chips if chip.responds_to(address)]
        for multiplexer in self._multiplexers:
            chips += [chip for chip in multiplexer.connected() if chip.responds_to(address)]
        return chips

    def _meet_bus_faults(self) -> None:
        self.clock_ns += self.faults.blocked_ns()
        stuck_ns = self.faults.stuck_ns()
        if stuck_ns is not None:
            self.clock_ns += stuck_ns
            raise self._error(self.adapter.stuck, "SDA is held low")
        if self.faults.strikes_arbitration():
            self._spend(EDGE_BITS + BYTE_BITS)
            raise self._error(self.adapter.arbitration, "arbitration lost")

    def _message(self, message: Message, addressed: list[Chip]) -> bytes:
        self._spend(EDGE_BITS + BYTE_BITS)
        if message.address == GENERAL_CALL and message.read_count is None:
            return self._general_call(message.data, addressed)
        chips = self._who_answers(message.address)
        addressed.extend(chip for chip in chips if chip not in addressed)
        if self.faults.strikes_nack(message.address, chips) or not chips:
            raise self._error(self.adapter.nack, f"no answer from {message.address:#04x}")
        if message.read_count is None:
            self._write(message, chips)
            return b""
        return self._read(message, message.read_count, chips)

    def _write(self, message: Message, chips: list[Chip]) -> None:
        self._spend(BYTE_BITS * len(message.data))
        acknowledged = False
        for chip in chips:
            chip.advance(self.clock_ns)
            acknowledged |= chip.write(message.data)
        if not acknowledged:
            raise self._error(self.adapter.nack, f"{message.address:#04x} refused a byte")

    def _read(self, message: Message, count: int, chips: list[Chip]) -> bytes:
        chips[0].advance(self.clock_ns)
        values = bytearray(chips[0].read(count))
        # Where several chips answer, the line is low if one of them pulls it low.
        for chip in chips[1:]:
            chip.advance(self.clock_ns)
            for index, value in enumerate(chip.read(count)):
                values[index] &= value
        arrived = max(0, count - self.faults.bytes_missing(message.address, chips))
        self._spend(BYTE_BITS * arrived)
        return bytes(values[:arrived])

    def _general_call(self, data: bytes, addressed: list[Chip]) -> bytes:
        self._spend(BYTE_BITS * len(data))
        for chip in self._reachable():
            chip.advance(self.clock_ns)
            if chip.general_call(data):
                addressed.append(chip)
        if not addressed:
            raise self._error(self.adapter.nack, "no answer to the general call")
        return b""

    def _stop(self, addressed: list[Chip]) -> None:
        self._spend(EDGE_BITS)
        for chip in addressed:
            chip.advance(self.clock_ns)
            chip.stop()
        if self.on_transfer is not None:
            self.on_transfer()

    def _spend(self, bits: int) -> None:
        self.clock_ns += bits * SECOND_NS // self.frequency_hz

    def _error(self, number: int, reason: str) -> OSError:
        return OSError(number, f"I2C bus {self.number}: {reason}")


class SimSMBus:
    """smbus2's calls on a simulated bus, errors included. One file handle, as the kernel has."""

    def __init__(self, bus: SimI2c) -> None:
        self._bus = bus
        self._open = True

    def read_byte_data(self, i2c_addr: int, register: int, force: bool | None = None) -> int:
        return self._read_all(i2c_addr, register, 1)[0]

    def write_byte_data(
        self, i2c_addr: int, register: int, value: int, force: bool | None = None
    ) -> None:
        self._transfer([Message(i2c_addr, bytes([register, value & 0xFF]))])

    def read_i2c_block_data(
        self, i2c_addr: int, register: int, length: int, force: bool | None = None
    ) -> list[int]:
        """An adapter that ended early says so in the block's length, so the list is shorter."""
        if length > BLOCK_BYTES_MAX:
            raise ValueError(f"Desired block length over {BLOCK_BYTES_MAX} bytes")
        return list(self._read(i2c_addr, register, length))

    def write_i2c_block_data(
        self, i2c_addr: int, register: int, data: Sequence[int], force: bool | None = None
    ) -> None:
        if len(data) > BLOCK_BYTES_MAX:
            raise ValueError(f"Data length cannot exceed {BLOCK_BYTES_MAX} bytes")
        self._transfer([Message(i2c_addr, bytes([register, *data]))])

    def i2c_rdwr(self, *i2c_msgs: i2c_msg) -> None:
        """Fills the read messages in place; the kernel never shortens one, it fails instead."""
        self._check_messages(i2c_msgs)
        answers = self._transfer([_message_of(each) for each in i2c_msgs])
        for each, answer in zip(i2c_msgs, answers, strict=True):
            if each.flags & READ_FLAG:
                self._check_complete(answer, each.len)
                ctypes.memmove(each.buf, answer, each.len)

    def close(self) -> None:
        self._open = False

    def _read(self, address: int, register: int, count: int) -> bytes:
        return self._transfer(
            [Message(address, bytes([register])), Message(address, read_count=count)]
        )[1]

    def _read_all(self, address: int, register: int, count: int) -> bytes:
        answer = self._read(address, register, count)
        self._check_complete(answer, count)
        return answer

    def _transfer(self, messages: Sequence[Message]) -> list[bytes]:
        if not self._open:
            raise OSError(errno.EBADF, f"I2C bus {self._bus.number} was closed")
        return self._bus.transfer(messages)

    def _check_complete(self, answer: bytes, count: int) -> None:
        if len(answer) < count:
            reason = f"I2C bus {self._bus.number}: {len(answer)} of {count} bytes arrived"
            raise OSError(self._bus.adapter.incomplete, reason)

    def _check_messages(self, messages: Sequence[i2c_msg]) -> None:
        too_long = any(each.len > MESSAGE_BYTES_MAX for each in messages)
        if not 1 <= len(messages) <= MESSAGES_MAX or too_long:
            raise OSError(errno.EINVAL, "one to 42 messages of at most 8192 bytes")
        early_read = any(each.flags & READ_FLAG for each in messages[:-1])
        if early_read and self._bus.adapter.read_must_be_last:
            raise OSError(errno.EOPNOTSUPP, "only one read message, and it has to be the last")


def _message_of(message: i2c_msg) -> Message:
    if message.flags & READ_FLAG:
        return Message(message.addr, read_count=message.len)
    return Message(message.addr, bytes(message))


class SimBusWorker(Worker):
    """Runs one job at a time on a simulated bus and returns when its bus time has passed."""

    def __init__(self, bus: SimI2c) -> None:
        self.name = f"i2c-{bus.number}"
        self._bus = bus
        self._closed = False

    async def run(self, job: Callable[[], T]) -> T:
        if self._closed:
            raise WorkerBusy(f"The worker {self.name} was closed and takes no more jobs.")
        async with self._bus.turn:
            # A job whose caller was cancelled still holds the wires until its time has passed.
            if self._bus.clock_ns > self._bus.now_ns():
                await sleep_until_ns(self._bus.clock_ns, self._bus.now_ns)
            try:
                return job()
            finally:
                await sleep_until_ns(self._bus.clock_ns, self._bus.now_ns)

    def close(self) -> None:
        self._closed = True
