"""A process with many units: each the controller's own link with a journal on a memory disk.

Nobody plays here but a loop: END, START with every seat, and again, as fast as the receipts come
or at a given pace. The two presses are journaled together, as two events, so that hundreds of units
leave the manager some of the machine. It keeps when each START was journaled, acknowledged and
shown. What the manager booked is found out by others.
"""

from __future__ import annotations

import asyncio
import logging
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from controller.journal.journal import Journal
from controller.journal.records import Entry, JournalRecord
from controller.link.call_order import CallOrder
from controller.link.link import ManagerLink
from hal.worker import InlineWorker
from manager.serve import settle_memory
from protocol.secrets import tls
from protocol.wire import events, messages
from protocol.wire.stream import FrameStream
from sim.runs.floor.property import SEATS, WAGER_CENTS, UnitFiles

MEMORY_DISK = Path("/dev/shm")
WAL_BYTES = 128 * 1024
LOOK_S = 0.01  # how often a process looks whether its own loop is late
SENSORS = tuple(f"{seat}A" for seat in range(1, SEATS + 1))


class _Link(ManagerLink):
    """The shipped link, with an ear at its receipts."""

    heard: asyncio.Event
    written_s = 0.0  # when the last events were handed to the line
    answered_s = 0.0  # when the last receipt was there, before the journal takes it

    async def _next_records(self) -> list[JournalRecord]:
        records = await super()._next_records()
        self.written_s = time.monotonic()
        return records

    async def _receive(self, stream: FrameStream) -> messages.Message:
        message = await super()._receive(stream)
        if isinstance(message, messages.Ack):
            self.answered_s = time.monotonic()
        return message

    async def _acknowledge(self, sequence: int) -> None:
        await super()._acknowledge(sequence)
        self.heard.set()


class Unit:
    """One table's unit as far as the link knows it. It is its own `LinkOwner`."""

    def __init__(self, files: UnitFiles, index: int, port: int, folder: Path) -> None:
        self.files = files
        self._port = port
        # Each unit has an address of its own, as on a floor: the door counts by address.
        self._address = f"127.1.{index // 250}.{index % 250 + 1}"
        self._context = tls.unit_context(
            Path(files.certificate), Path(files.certificate), Path(files.ca)
        )
        self.journal = Journal.open(
            str(folder / files.unit_id), unit_id=files.unit_id, wal_bytes=WAL_BYTES
        )
        self.link = _Link(
            CallOrder(lambda _address: self._connect(), (f"127.0.0.1:{port}",)),
            self,
            self.journal,
            InlineWorker("disk"),
            files.unit_id,
            "floor",
            lambda: None,
            random.Random(index),
        )
        self.link.heard = asyncio.Event()
        self.round_number = 0
        self.acked_rounds = 0
        self.faults: list[str] = []
        self.shown: tuple[int, float] = (0, 0.0)  # cents, and since when
        self.latencies_ms: list[float] = []
        self.line_ms: list[float] = []  # of those, without the unit's own journal and link

    @property
    def is_drained(self) -> bool:
        return self.link.up and self.journal.outbox.acked_sequence == self.journal.last_sequence

    async def play(self, until_s: float, pause_s: float) -> None:
        next_s = time.monotonic() + random.random() * pause_s
        while time.monotonic() < until_s:
            if pause_s:
                await asyncio.sleep(max(0.0, next_s - time.monotonic()))
                next_s += pause_s
            await self.play_round()

    async def play_round(self) -> None:
        """Ends the round before and starts one; returns with the receipt for both."""
        before: list[events.EventBody] = []
        if self.round_number:
            before.append(events.RoundEnd(self.round_number))
        self.round_number += 1
        wagered_cents = WAGER_CENTS * len(SENSORS)
        start = events.RoundStart(self.round_number, SENSORS, (), (), wagered_cents)
        begun_s = time.monotonic()
        await self._say([*before, start])
        self.latencies_ms.append((time.monotonic() - begun_s) * 1000)
        self.line_ms.append((self.link.answered_s - self.link.written_s) * 1000)
        self.acked_rounds += 1

    async def _say(self, bodies: list[events.EventBody]) -> None:
        """Journals events and returns with their receipt."""
        now_ms = time.time_ns() // 1_000_000
        entries = [Entry(body.KIND, body.to_body(), now_ms, now_ms) for body in bodies]
        sequence = self.journal.append_many(entries)[-1].sequence
        self.link.journal_grew()
        while self.journal.outbox.acked_sequence < sequence:
            self.link.heard.clear()
            await self.link.heard.wait()

    async def _connect(self) -> FrameStream:
        return await tls.open_stream(
            "127.0.0.1", self._port, self._context, local_address=self._address
        )

    # -- what the link tells ------------------------------------------------------------------

    def link_changed(self, up: bool) -> None:
        self.link.heard.set()

    def meters_arrived(self, meters: list[tuple[str, str, int]]) -> None:
        cents = meters[0][2]
        if cents != self.shown[0]:
            self.shown = cents, time.monotonic()

    def link_fault(self, code: str, sentence: str) -> None:
        self.faults.append(f"{code}: {sentence}")

    async def settings_arrived(self, body: bytes) -> None:
        now_ms = time.time_ns() // 1_000_000
        self.journal.adopt_settings(body, now_ms, now_ms)
        self.link.journal_grew()

    async def state_arrived(self, state: messages.State, told: Sequence[messages.Event]) -> None:
        self.faults.append("a state came, though the journal is whole")

    async def award_arrived(self, award: messages.Award) -> None:
        self.faults.append("an award came, though nothing was claimed")

    async def void_arrived(self, order: messages.Void) -> None:
        self.faults.append("a game was voided, though nobody asked for it")

    async def reversed_arrived(self, reversal: messages.Reversed) -> None:
        self.faults.append("a reversal came, though nothing was won")

    async def committed_arrived(self, committed: messages.Committed) -> None:
        self.faults.append("a win came, though nothing was claimed")

    async def hand_check_arrived(self, check: messages.HandCheck) -> None:
        self.faults.append("a checked hand came, though nothing was claimed")

    def cover_all_arrived(self, column: messages.CoverAll) -> None:
        self.faults.append("a column came, though nothing was dealt")

    async def claim_refused(self, error: messages.Error) -> None:
        self.faults.append(error.sentence)

    def state(self) -> str:
        return "open"


class Clients:
    """The units of one process, and what the parent asks of them."""

    def __init__(self, files: list[UnitFiles], first_index: int, port: int, folder: Path) -> None:
        numbered = enumerate(files, start=first_index)
        self._units = [Unit(each, index, port, folder) for index, each in numbered]
        self._links: list[asyncio.Task[None]] = []

    async def serve(self, parent: Connection) -> None:
        """Carries out one request after another until the parent has no more."""
        loop = asyncio.get_running_loop()
        try:
            while (request := await loop.run_in_executor(None, parent.recv)) is not None:
                name, *arguments = request
                parent.send(await getattr(self, f"do_{name}")(*arguments))
        finally:
            for link in self._links:
                link.cancel()
            await asyncio.gather(*self._links, return_exceptions=True)

    async def do_ready(self) -> None:
        """This process has started, and nobody has called the manager yet."""

    async def do_connect(self) -> None:
        self._links = [asyncio.create_task(unit.link.run(), name="link") for unit in self._units]

    async def do_drained(self) -> float:
        """When every unit is connected and has a receipt for all it said."""
        while not all(unit.is_drained for unit in self._units):  # noqa: ASYNC110 - many at once
            await asyncio.sleep(0.02)
        return time.monotonic()

    async def do_play(self, until_s: float, pause_s: float) -> dict[str, Any]:
        settle_memory()  # a unit of its own has little to look through: here are hundreds
        for unit in self._units:
            unit.latencies_ms, unit.line_ms = [], []
        before, cpu_s = sum(unit.acked_rounds for unit in self._units), time.process_time()
        late_ms, *_ = await asyncio.gather(
            _late_ms(until_s), *(unit.play(until_s, pause_s) for unit in self._units)
        )
        return {
            "cpu_s": time.process_time() - cpu_s,
            "late_ms": late_ms,
            "rounds": sum(unit.acked_rounds for unit in self._units) - before,
            "latencies_ms": [each for unit in self._units for each in unit.latencies_ms],
            "line_ms": [each for unit in self._units for each in unit.line_ms],
        }

    async def do_start_one(self) -> float:
        """One round at the first table; returns when its START was said."""
        said_s = time.monotonic()
        await self._units[0].play_round()
        return said_s

    async def do_shown(self) -> list[tuple[int, float]]:
        return [unit.shown for unit in self._units]

    async def do_report(self) -> list[tuple[str, int, list[str]]]:
        return [(unit.files.table_id, unit.acked_rounds, unit.faults) for unit in self._units]


async def _late_ms(until_s: float) -> list[float]:
    """How much later than asked this process came round: a receipt waits for that, too.

    On a floor each unit has a machine of its own. Here hundreds share a process, and all processes
    share the machine with the manager.
    """
    found: list[float] = []
    while (begun_s := time.monotonic()) < until_s:
        await asyncio.sleep(LOOK_S)
        found.append((time.monotonic() - begun_s - LOOK_S) * 1000)
    return found


def run_clients(parent: Connection, files: list[UnitFiles], first_index: int, port: int) -> None:
    """What each process of units runs."""
    logging.disable()  # hundreds of links would all say the same
    tls.limit_tls_buffers()
    place = MEMORY_DISK if MEMORY_DISK.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="floor-", dir=place))

    async def serve() -> None:
        await Clients(files, first_index, port, folder).serve(parent)

    try:
        with suppress(KeyboardInterrupt):  # it goes to all processes, and the first one tells
            signal.signal(signal.SIGINT, signal.default_int_handler)
            asyncio.run(serve())
    finally:
        shutil.rmtree(folder)
