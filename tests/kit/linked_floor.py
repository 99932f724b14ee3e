"""A floor of units over real sockets: the controller's own link and journal, and dealers who play.

Each unit has an address of its own on the loopback, as units on a network have. It knows what was
acknowledged and when, so that a test can say what was lost, doubled, or waited for.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from controller.journal.journal import Journal
from controller.link.call_order import CallOrder
from controller.link.identity import UnitIdentity
from controller.link.link import ManagerLink
from hal.worker import InlineWorker
from kit.files import write_private
from manager.identity import certificates
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Registry
from manager.identity.store import IdentityStore
from manager.ledger.store.ledger import Ledger
from protocol.secrets import tls
from protocol.wire import events, messages
from protocol.wire.address import split_address
from protocol.wire.stream import FrameStream
from sim.storage.disk import SimDisk

SENSORS = ("1A", "2A", "5A")
CENTS = 300
WATCH_S = 0.01
_lines = itertools.count(1)


@dataclass
class Seen:
    """What one unit's table was told."""

    is_up: bool = False
    downs: int = 0
    meters: list[tuple[str, str, int]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def link_changed(self, up: bool) -> None:
        self.downs += self.is_up and not up
        self.is_up = up

    def meters_arrived(self, meters: list[tuple[str, str, int]]) -> None:
        self.meters = meters

    def link_fault(self, code: str, sentence: str) -> None:
        self.faults.append(f"{code}: {sentence}")

    async def settings_arrived(self, body: bytes) -> None: ...
    async def state_arrived(self, state: Any, told: Any) -> None: ...
    async def award_arrived(self, award: Any) -> None: ...
    async def reversed_arrived(self, reversal: Any) -> None: ...
    async def void_arrived(self, order: Any) -> None: ...
    async def committed_arrived(self, committed: Any) -> None: ...
    async def hand_check_arrived(self, check: Any) -> None: ...
    def cover_all_arrived(self, column: Any) -> None: ...
    async def claim_refused(self, error: messages.Error) -> None: ...

    def state(self) -> str:
        return "open"


class Recorder:
    """A unit's journal on a disk in memory; it outlives the unit's connections."""

    def __init__(self) -> None:
        self._disk = SimDisk(1)
        self.journal = Journal.open("journal", vfs=self._disk.vfs_name, wal_bytes=65536)
        self.round_number = 0
        self._add(events.Boot(1, "linked", ""))

    def play_round(self) -> None:
        self.round_number += 1
        self._add(events.RoundStart(self.round_number, SENSORS, (), (), CENTS))
        self._add(events.RoundEnd(self.round_number))

    def close(self) -> None:
        self.journal.close()
        self._disk.close()

    def _add(self, body: events.EventBody) -> None:
        self.journal.append(body.KIND, body.to_body(), 0, 0)


class LinkedUnit:
    def __init__(
        self, folder: Path, table_id: str, addresses: Sequence[str], recorder: Recorder
    ) -> None:
        self.table_id = table_id
        self.seen = Seen()
        self.recorder = recorder
        self.journal = recorder.journal
        self._identity = UnitIdentity(folder)
        self._from = f"127.0.1.{next(_lines)}"
        self._writers: list[asyncio.StreamWriter] = []
        self.link = ManagerLink(
            CallOrder(self._connect, addresses),
            self.seen,
            self.journal,
            InlineWorker("disk"),
            f"UF-{table_id}",
            "linked",
            lambda: None,
            random.Random(table_id),
        )

    def play_round(self) -> None:
        self.recorder.play_round()
        self.link.journal_grew()

    @property
    def round_number(self) -> int:
        return self.recorder.round_number

    @property
    def acked(self) -> int:
        return self.journal.outbox.acked_sequence

    @property
    def acked_rounds(self) -> int:
        """Rounds whose START was acknowledged; sequence 1 is the boot, then two each."""
        return self.acked // 2

    async def close(self) -> None:
        for writer in self._writers:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _connect(self, address: str) -> FrameStream:
        place = split_address(address)
        assert place is not None, address
        reader, writer = await asyncio.open_connection(
            *place,
            limit=tls.READER_LIMIT_BYTES,
            ssl=self._identity.context(),
            server_hostname=tls.MANAGER_NAME,
            local_addr=(self._from, 0),
        )
        self._writers = [each for each in self._writers if not each.is_closing()]
        self._writers.append(writer)
        return FrameStream(reader, writer)


def enrol(data: Path, store: IdentityStore, folder: Path, unit_id: str) -> None:
    """Gives the unit a certificate of this floor, as an operator would."""
    key = certificates.new_key()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, unit_id)])
    request = x509.CertificateSigningRequestBuilder(subject).sign(key, hashes.SHA256())
    floor = IdentityFolder(data)
    issued = floor.issue(unit_id, request.public_bytes(Encoding.DER))
    Registry(store).add(tls.fingerprint(issued), unit_id)
    unit = UnitIdentity(folder)
    unit.path.mkdir(parents=True)
    pem = x509.load_der_x509_certificate(issued).public_bytes(Encoding.PEM)
    write_private(unit.unit, certificates.key_pem(key) + pem)
    write_private(unit.ca, floor.ca.read_bytes())


class LinkedFloor:
    def __init__(self, units: Sequence[LinkedUnit], rounds_per_s: float) -> None:
        self.units = list(units)
        self._pause_s = len(self.units) / rounds_per_s
        self._grew: list[float] = []  # when something was acknowledged
        self._tasks: list[asyncio.Task[None]] = []
        self._playing = True

    async def __aenter__(self) -> LinkedFloor:
        jobs = [self._watch(), *(unit.link.run() for unit in self.units)]
        jobs += [self._deal(unit) for unit in self.units]
        self._tasks = [asyncio.create_task(job) for job in jobs]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        results = await asyncio.gather(*self._tasks, return_exceptions=True)
        for unit in self.units:
            await unit.close()
        for result in results:
            if isinstance(result, Exception):
                raise result

    @property
    def now_s(self) -> float:
        return asyncio.get_running_loop().time()

    async def until(self, what: Callable[[], bool], limit_s: float) -> float:
        """How long it took; fails when it takes longer than the limit."""
        began_s = self.now_s
        await until(what, limit_s)
        return self.now_s - began_s

    async def until_played(self, rounds: int, limit_s: float = 60.0) -> None:
        """So many rounds more were acknowledged, by all units together."""
        wanted = self.acked_rounds + rounds
        await self.until(lambda: self.acked_rounds >= wanted, limit_s)

    async def until_drained(self, limit_s: float = 60.0) -> None:
        """Nobody plays any more, and everything was acknowledged."""
        self._playing = False
        await self.until(
            lambda: all(unit.acked == unit.journal.last_sequence for unit in self.units), limit_s
        )

    @property
    def acked_rounds(self) -> int:
        return sum(unit.acked_rounds for unit in self.units)

    def longest_wait_s(self, since_s: float) -> float:
        """The longest time without any acknowledgement.

        It ends now at the latest: all may have come since the watch last looked.
        """
        moments = [since_s, *(moment for moment in self._grew if moment > since_s), self.now_s]
        return max(b - a for a, b in itertools.pairwise(moments))

    async def _watch(self) -> None:
        before = 0
        while True:
            total = sum(unit.acked for unit in self.units)
            if total != before:
                before = total
                self._grew.append(self.now_s)
            await asyncio.sleep(WATCH_S)

    async def _deal(self, unit: LinkedUnit) -> None:
        """A dealer starts no round while the link is down, as the table would refuse it."""
        while True:
            await asyncio.sleep(self._pause_s)
            if self._playing and unit.seen.is_up:
                unit.play_round()


@dataclass(frozen=True)
class Count:
    lost: int  # acknowledged rounds whose wagers are not in the books
    doubled: int
    booked: int


def count(ledger: Ledger, units: Sequence[LinkedUnit]) -> Count:
    """What became of every acknowledged round, by the ledger's own rows."""
    query = (
        "SELECT table_id, round_number, count(*) FROM transactions WHERE kind = 'WAGER'"
        " GROUP BY table_id, round_number"
    )
    booked = {(table_id, number): int(times) for table_id, number, times in ledger.rows(query)}
    acked = {
        (unit.table_id, number) for unit in units for number in range(1, unit.acked_rounds + 1)
    }
    return Count(
        len(acked - booked.keys()),
        sum(times - 1 for times in booked.values()),
        len(booked),
    )


async def until(what: Callable[[], bool], limit_s: float) -> None:
    """Asks again and again, beside the loop: what is waited for happens in another process."""
    async with asyncio.timeout(limit_s):
        while not await asyncio.to_thread(what):  # noqa: ASYNC110
            await asyncio.sleep(WATCH_S)
