"""A unit seals its journal in virtual time, and the manager checks every seal as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.records import JournalRecord
from controller.journal.seals import DAY_MS, LOOK_EVERY_MS, RETRY_MS, ChainSealer
from controller.table.faults import FaultBoard
from hal import aio
from hal.worker import InlineWorker
from manager.intake.seals import SealBook
from protocol.proof.seal import SealReport
from protocol.wire import events
from sim.floor.floor import OPENING_WALL_MS, Floor, FloorTable
from sim.floor.signing_keys import seeded_sealer
from sim.storage.disk import SimDisk
from sim.time.loop import run_virtual

Scene = Callable[[Floor, FloorTable], Awaitable[None]]


def play(scene: Scene, sealer_seed: str = "") -> tuple[list[SealReport], list[str]]:
    """The scene, then what a full check finds and what the alarms say."""

    async def run() -> tuple[list[SealReport], list[str]]:
        floor = Floor(1)
        table = await floor.open_table("four-card-touch")
        if sealer_seed:
            await table.unit.close()
            table.unit.sealer = seeded_sealer(table.config.board.serial, sealer_seed)
            await table.unit.power_on()
        await asyncio.sleep(2)
        await scene(floor, table)
        await asyncio.sleep(2)
        reports = SealBook(table.manager.app.store).check_all()
        alarms = floor.alarms()
        await floor.close()
        return reports, alarms

    return run_virtual(run())


async def claim(table: FloorTable) -> None:
    table.place("5A")
    await asyncio.sleep(1)
    for button in ("START", "SEAT 5", "HAND four-aces", "CONFIRM"):
        await table.press(button)
        await asyncio.sleep(0.4)


def seals_of(table: FloorTable) -> list[tuple[int, events.Seal]]:
    """The seals the manager has taken in, each with its own sequence."""
    book = SealBook(table.manager.app.store)
    ((unit_id, journal_id),) = book.journals()
    return [
        (event.sequence, events.Seal.from_body(event.body))
        for event in book.events(unit_id, journal_id)
        if event.kind == events.SEAL
    ]


def kinds_of(table: FloorTable) -> dict[int, int]:
    book = SealBook(table.manager.app.store)
    ((unit_id, journal_id),) = book.journals()
    return {event.sequence: event.kind for event in book.events(unit_id, journal_id)}


def test_a_claim_is_sealed_right_after_it_and_the_day_at_the_start() -> None:
    async def scene(_: Floor, table: FloorTable) -> None:
        await claim(table)
        day, claimed = seals_of(table)
        assert (day[1].reason, claimed[1].reason) == ("day", "claim")
        kinds = kinds_of(table)
        assert kinds[claimed[1].sealed_sequence] == events.CLAIM
        assert claimed[0] == claimed[1].sealed_sequence + 1

    reports, alarms = play(scene)
    assert [report.sound for report in reports] == [True]
    assert reports[0].unsealed_claims == []
    assert not [alarm for alarm in alarms if "SEAL" in alarm]


class SealedJournal:
    """A journal and its sealer alone: days pass quickly where nothing else happens."""

    def __init__(self) -> None:
        self._disk = SimDisk(1)
        self.wall_ms = OPENING_WALL_MS
        self.faults = FaultBoard(lambda event: None)
        self.power_on()

    def power_on(self) -> None:
        self.journal = Journal.open("j", vfs=self._disk.vfs_name, wal_bytes=65536)
        self.sealer = ChainSealer(
            seeded_sealer("UF-1", 1),
            self.journal,
            InlineWorker("disk"),
            lambda: self.wall_ms + aio.ticks_ms(),
            partial(self.faults.set, "seal", "journal"),
            lambda: None,
        )
        self.task = asyncio.create_task(self.sealer.run(), name="sealer")

    async def power_off(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        self.journal.close()

    def boot(self) -> None:
        self.journal.append(events.BOOT, events.Boot(1, "t", "").to_body(), 0, self.wall_ms)

    def reasons(self) -> list[str]:
        records = self.journal.records.after(0, 100)
        return [events.Seal.from_body(r.body).reason for r in records if r.kind == events.SEAL]

    async def close(self) -> None:
        await self.power_off()
        self._disk.close()


def test_each_day_gets_one_seal_and_a_restart_none() -> None:
    async def run() -> None:
        unit = SealedJournal()
        unit.boot()
        await asyncio.sleep(1)
        assert unit.reasons() == ["day"]
        await asyncio.sleep((DAY_MS + LOOK_EVERY_MS) / 1000)
        assert unit.reasons() == ["day"] * 2
        await unit.power_off()
        unit.power_on()
        await asyncio.sleep(1)
        assert unit.reasons() == ["day"] * 2
        unit.wall_ms -= 30 * DAY_MS  # a clock set back is another day, which harms nothing
        await asyncio.sleep(LOOK_EVERY_MS / 1000)
        assert unit.reasons() == ["day"] * 3
        await unit.close()

    run_virtual(run())


def test_a_journal_that_cannot_be_sealed_says_so_and_is_sealed_later() -> None:
    async def run() -> None:
        unit = SealedJournal()
        unit.boot()
        append, unit.journal.append = unit.journal.append, failing  # type: ignore[method-assign]
        await asyncio.sleep(1)
        assert [fault.code for fault in unit.faults.all()] == ["seal"]
        unit.journal.append = append  # type: ignore[method-assign]
        await asyncio.sleep(RETRY_MS / 1000)
        assert unit.faults.all() == []
        assert "day" in unit.reasons()
        await unit.close()

    run_virtual(run())


def failing(*_: object) -> JournalRecord:
    raise JournalFault("The journal holds 51000 records and is full.")


def test_a_claim_without_its_seal_gets_it_at_the_next_start() -> None:
    async def scene(_: Floor, table: FloorTable) -> None:
        controller = table.unit.controller
        assert controller is not None
        assert controller.evidence.seals is not None
        controller.evidence.seals.claim_known = lambda number: None  # type: ignore[method-assign]
        await claim(table)
        assert [seal.reason for _, seal in seals_of(table)] == ["day"]
        await table.unit.power_cut()
        await table.unit.power_on()
        await asyncio.sleep(5)
        assert [seal.reason for _, seal in seals_of(table)] == ["day", "claim"]
        await table.unit.power_cut()
        await table.unit.power_on()
        await asyncio.sleep(5)
        assert len(seals_of(table)) == 2

    reports, _ = play(scene)
    assert reports[0].unsealed_claims == []


def test_seals_by_a_key_nobody_registered_raise_an_alarm_and_fail_the_check() -> None:
    async def scene(_: Floor, table: FloorTable) -> None:
        await claim(table)

    reports, alarms = play(scene, sealer_seed="a thief's own key")
    assert not reports[0].sound
    assert any(alarm.startswith("SEAL: The seal of unit UF-0001 over event") for alarm in alarms)


def test_the_same_seed_seals_with_the_same_bytes() -> None:
    def signatures() -> list[bytes]:
        found: list[bytes] = []

        async def scene(_: Floor, table: FloorTable) -> None:
            await claim(table)
            found.extend(seal.signature for _, seal in seals_of(table))

        play(scene)
        return found

    assert signatures() == signatures()
