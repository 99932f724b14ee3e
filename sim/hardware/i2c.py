"""A simulated I2C bus with real bit times.

It alone knows what a transfer costs in time and which errno the kernel gives for which misfortune.
The ICs are models; who wires them to the bus and who arms faults is the world's business.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from hal.errors import WorkerBusy
from hal.worker import Worker
from sim.hardware.faults import BusFaults
from sim.hardware.ics.base import Ic

T = TypeVar("T")

SECOND_NS = 1_000_000_000
FREQUENCY_MIN_HZ = 10_000
FREQUENCY_MAX_HZ = 400_000  # The fastest that an MPR121 follows.
BYTE_BITS = 9  # Eight and the acknowledge.
EDGE_BITS = 1  # START, repeated START and STOP each take about one bit.
GENERAL_CALL = 0x00


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


class Message(NamedTuple):
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
    loop = asyncio.get_running_loop()
    # A float of seconds may wake a nanosecond early, hence the loop.
    while (remaining_ns := target_ns - now_ns()) > 0:
        # asyncio.sleep, without calling off a timer that has rung: each job on a bus comes here.
        rung: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(remaining_ns / SECOND_NS, _ring, rung)
        try:
            await rung
        except BaseException:
            timer.cancel()
            raise


def _ring(rung: asyncio.Future[None]) -> None:
    if not rung.done():
        rung.set_result(None)


class SimI2c:
    """One bus: ICs, a clock of its own, and the faults armed on it.

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
        self.on_transfer: Callable[[Sequence[Ic]], None] | None = None  # hears who was addressed
        self.turn = asyncio.Lock()
        self._ics: list[Ic] = []
        self._multiplexers: list[Ic] = []
        # Each by its own address, and those that may answer to others too.
        self._by_address: dict[int, Ic] = {}
        self._many_addressed: list[Ic] = []
        self.set_frequency(frequency_hz)

    def set_frequency(self, frequency_hz: int) -> None:
        if not FREQUENCY_MIN_HZ <= frequency_hz <= FREQUENCY_MAX_HZ:
            raise ValueError(f"I2C bus {self.number} cannot run at {frequency_hz} Hz.")
        self.frequency_hz = frequency_hz
        self._edge_ns = EDGE_BITS * SECOND_NS // frequency_hz
        self._byte_ns = BYTE_BITS * SECOND_NS // frequency_hz
        self._address_ns = (EDGE_BITS + BYTE_BITS) * SECOND_NS // frequency_hz

    def attach(self, ic: Ic) -> None:
        if any(other.address == ic.address for other in self._ics):
            raise ValueError(f"I2C bus {self.number} already has an IC at {ic.address:#04x}.")
        self._ics.append(ic)
        self._by_address[ic.address] = ic
        if type(ic).responds_to is not Ic.responds_to:
            self._many_addressed.append(ic)
        if type(ic).connected is not Ic.connected:
            self._multiplexers.append(ic)

    def transfer(self, messages: Sequence[Message]) -> list[bytes]:
        """START, the messages joined by repeated STARTs, STOP. Gives the bytes of each read."""
        now_ns = self.now_ns()
        if now_ns > self.clock_ns:
            self.clock_ns = now_ns
        self.transfer_count += 1
        addressed: list[Ic] = []
        try:
            if self.faults.is_quiet:
                return [self._undisturbed(each, addressed) for each in messages]
            self._meet_bus_faults()
            return [self._message(each, addressed) for each in messages]
        finally:
            self._stop(addressed)

    def _reachable(self) -> Iterator[Ic]:
        """Who hears the bus now: its own ICs, and what its multiplexers connect."""
        for ic in self._ics:
            yield ic
            yield from ic.connected()

    def _only_one(self, address: int) -> Ic | None:
        """The IC that alone answers; None where nobody does, or several do."""
        found = self._by_address.get(address)
        if found is not None and not found.powered:
            found = None
        for ic in self._many_addressed:
            if ic.hears_other_addresses and address != ic.address and ic.responds_to(address):
                return None
        for multiplexer in self._multiplexers:
            for ic in multiplexer.connected():
                if ic.responds_to(address):
                    if found is not None:
                        return None
                    found = ic
        return None if address == GENERAL_CALL else found

    def _who_answers(self, address: int) -> list[Ic]:
        plain = self._by_address.get(address)
        ics = [plain] if plain is not None and plain.powered else []
        for ic in self._many_addressed:
            if ic.hears_other_addresses and address != ic.address and ic.responds_to(address):
                ics.append(ic)
        for multiplexer in self._multiplexers:
            for ic in multiplexer.connected():
                if ic.responds_to(address):
                    ics.append(ic)
        return ics

    def _meet_bus_faults(self) -> None:
        self.clock_ns += self.faults.blocked_ns()
        stuck_ns = self.faults.stuck_ns()
        if stuck_ns is not None:
            self.clock_ns += stuck_ns
            raise self._error(self.adapter.stuck, "SDA is held low")
        if self.faults.strikes_arbitration():
            self._spend(EDGE_BITS + BYTE_BITS)
            raise self._error(self.adapter.arbitration, "arbitration lost")

    def _undisturbed(self, message: Message, addressed: list[Ic]) -> bytes:
        """The same as `_message`, without asking for faults: nearly all messages are like this."""
        address, data, read_count = message
        ic = self._only_one(address)
        if ic is None:
            return self._message(message, addressed)
        if ic not in addressed:
            addressed.append(ic)
        if read_count is not None:
            clock_ns = self.clock_ns + self._address_ns
            ic.advance(clock_ns)
            self.clock_ns = clock_ns + BYTE_BITS * read_count * SECOND_NS // self.frequency_hz
            return ic.read(read_count)
        self.clock_ns += self._address_ns + BYTE_BITS * len(data) * SECOND_NS // self.frequency_hz
        ic.advance(self.clock_ns)
        ic.byte_ns = self._byte_ns
        if not ic.write(data):
            raise self._error(self.adapter.nack, f"{address:#04x} refused a byte")
        return b""

    def _message(self, message: Message, addressed: list[Ic]) -> bytes:
        address, _, read_count = message
        self.clock_ns += self._address_ns
        if address == GENERAL_CALL and read_count is None:
            return self._general_call(message.data, addressed)
        ics = self._who_answers(address)
        for ic in ics:
            if ic not in addressed:
                addressed.append(ic)
        if self.faults.strikes_nack(address, ics) or not ics:
            raise self._error(self.adapter.nack, f"no answer from {address:#04x}")
        if read_count is None:
            self._write(message, ics)
            return b""
        return self._read(message, read_count, ics)

    def _write(self, message: Message, ics: list[Ic]) -> None:
        self._spend(BYTE_BITS * len(message.data))
        acknowledged = False
        for ic in ics:
            ic.advance(self.clock_ns)
            ic.byte_ns = self._byte_ns
            acknowledged |= ic.write(message.data)
        if not acknowledged:
            raise self._error(self.adapter.nack, f"{message.address:#04x} refused a byte")

    def _read(self, message: Message, count: int, ics: list[Ic]) -> bytes:
        ics[0].advance(self.clock_ns)
        values = bytearray(ics[0].read(count))
        # Where several ICs answer, the line is low if one of them pulls it low.
        for ic in ics[1:]:
            ic.advance(self.clock_ns)
            for index, value in enumerate(ic.read(count)):
                values[index] &= value
        arrived = max(0, count - self.faults.bytes_missing(message.address, ics))
        self._spend(BYTE_BITS * arrived)
        return bytes(values[:arrived])

    def _general_call(self, data: bytes, addressed: list[Ic]) -> bytes:
        self._spend(BYTE_BITS * len(data))
        for ic in self._reachable():
            ic.advance(self.clock_ns)
            if ic.general_call(data):
                addressed.append(ic)
        if not addressed:
            raise self._error(self.adapter.nack, "no answer to the general call")
        return b""

    def _stop(self, addressed: list[Ic]) -> None:
        self.clock_ns += self._edge_ns
        for ic in addressed:
            ic.advance(self.clock_ns)
            ic.stop()
        if self.on_transfer is not None:
            self.on_transfer(addressed)

    def _spend(self, bits: int) -> None:
        self.clock_ns += bits * SECOND_NS // self.frequency_hz

    def _error(self, number: int, reason: str) -> OSError:
        return OSError(number, f"I2C bus {self.number}: {reason}")


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
