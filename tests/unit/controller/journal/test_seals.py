"""Seals: one right after each claim, one a day, and one at the start for what a power cut left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.seals import DAY_MS, LOOK_EVERY_MS, RETRY_MS, ChainSealer
from controller.table.faults import FaultBoard
from hal.worker import InlineWorker
from protocol.proof.seal import REASON_CLAIM, REASON_DAY, Sealer
from protocol.wire import events
from protocol.wire.rows import ClaimedHand, LedgerTail, SeenTail
from sim.time.loop import run_virtual

NOON_MS = 20_000 * DAY_MS + DAY_MS // 2


class Unit:
    """A journal and who seals it, from one start to the next."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.wall_ms = NOON_MS
        self.grew = 0
        self.faults = FaultBoard(lambda _event: None)
        self.sealer = self.started()

    def started(self) -> ChainSealer:
        key = Sealer("UF-1", bytes(range(32)))
        disk = InlineWorker("disk")
        tell = partial(self.faults.set, "seal", "journal")
        return ChainSealer(key, self.journal, disk, lambda: self.wall_ms, tell, self._grown)

    def _grown(self) -> None:
        self.grew += 1

    def claim(self, number: int) -> None:
        body = events.Claim(1, number, (ClaimedHand("1A", "four-aces"),), False)
        self.journal.append(body.KIND, body.to_body(), 0, self.wall_ms)

    def seals(self) -> list[tuple[int, str]]:
        records = self.journal.records.after(0, 100)
        seals = [events.Seal.from_body(each.body) for each in records if each.kind == events.SEAL]
        return [(seal.sealed_sequence, seal.reason) for seal in seals]

    async def run_for(self, seconds: float) -> None:
        async with self.running():
            await asyncio.sleep(seconds)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.sealer.run())
        yield
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def unit(tmp_path: Path) -> Iterator[Unit]:
    journal = Journal.open(str(tmp_path / "journal"))
    first = events.Refused("START", "A record before the first seal.")
    journal.append(first.KIND, first.to_body(), 0, NOON_MS)
    yield Unit(journal)
    journal.close()


def test_the_first_start_seals_the_day_and_then_each_claim_at_once(unit: Unit) -> None:
    async def scenario() -> None:
        async with unit.running():
            await asyncio.sleep(1)
            assert unit.seals() == [(1, REASON_DAY)]
            unit.claim(1)
            unit.sealer.claim_known(1)
            await asyncio.sleep(1)
            assert unit.seals() == [(1, REASON_DAY), (3, REASON_CLAIM)]
            unit.sealer.claim_known(1)  # told again at every change of the round
            await asyncio.sleep(1)
            assert len(unit.seals()) == unit.grew == 2

    run_virtual(scenario())


@pytest.mark.parametrize("day", [0, 1, 2])
def test_a_unit_whose_clock_begins_in_1970_seals_its_days_as_well(unit: Unit, day: int) -> None:
    unit.wall_ms = day * DAY_MS
    run_virtual(unit.run_for(1))
    assert unit.seals() == [(1, REASON_DAY)]


def test_a_new_day_is_sealed_within_a_look(unit: Unit) -> None:
    async def scenario() -> None:
        async with unit.running():
            await asyncio.sleep(1)
            await asyncio.sleep(3 * LOOK_EVERY_MS / 1000)
            assert len(unit.seals()) == 1, "the same day"
            unit.wall_ms += DAY_MS
            await asyncio.sleep(LOOK_EVERY_MS / 1000)
            assert unit.seals() == [(1, REASON_DAY), (2, REASON_DAY)]

    run_virtual(scenario())


def test_a_claim_that_a_power_cut_left_without_its_seal_gets_it_at_the_next_start(
    unit: Unit,
) -> None:
    async def scenario() -> None:
        await unit.run_for(1)
        unit.claim(1)
        unit.sealer = unit.started()
        unit.sealer.begin_with(1)
        await unit.run_for(1)
        assert unit.seals() == [(1, REASON_DAY), (3, REASON_CLAIM)]
        unit.sealer = unit.started()
        unit.sealer.begin_with(1)
        await unit.run_for(1)
        assert len(unit.seals()) == 2, "sealed already, and the day as well"

    run_virtual(scenario())


def test_a_claim_known_from_before_the_start_is_no_new_one(unit: Unit) -> None:
    async def scenario() -> None:
        unit.sealer.begin_with(5)
        async with unit.running():
            await asyncio.sleep(1)
            unit.sealer.claim_known(5)
            await asyncio.sleep(1)
            assert unit.seals() == [(1, REASON_DAY)]
            unit.sealer.claim_known(6)
            await asyncio.sleep(1)
            assert unit.seals()[-1] == (2, REASON_CLAIM)

    run_virtual(scenario())


def test_a_journal_that_cannot_be_sealed_is_a_fault_until_it_can(
    unit: Unit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise JournalFault("The disk is full.")

    async def scenario() -> None:
        await unit.run_for(1)  # today's seal is made
        unit.claim(1)
        monkeypatch.setattr(Journal, "append", failing)
        async with unit.running():
            await asyncio.sleep(1)
            assert [fault.code for fault in unit.faults.all()] == ["seal"]
            monkeypatch.undo()
            await asyncio.sleep(RETRY_MS / 1000)
            assert unit.faults.all() == []
            assert unit.seals() == [(1, REASON_DAY), (3, REASON_CLAIM)]

    run_virtual(scenario())


def test_a_seal_countersigns_what_was_told_of_the_ledger(unit: Unit) -> None:
    """Catches: seals that name no tail, so that a ledger made anew would have no witness in it."""
    unit.journal.tail.note(LedgerTail(1, 42, bytes([7]) * 32, b""))
    unit.claim(1)
    run_virtual(unit.run_for(2))
    records = unit.journal.records.after(0, 100)
    seals = [events.Seal.from_body(each.body) for each in records if each.kind == events.SEAL]
    assert {seal.tail for seal in seals} == {(SeenTail(1, 42, bytes([7]) * 32),)}


def test_a_unit_that_was_told_nothing_countersigns_nothing(unit: Unit) -> None:
    unit.claim(1)
    run_virtual(unit.run_for(2))
    records = unit.journal.records.after(0, 100)
    seals = [events.Seal.from_body(each.body) for each in records if each.kind == events.SEAL]
    assert {seal.tail for seal in seals} == {()}


def test_a_restart_on_the_second_day_seals_no_day_again(unit: Unit) -> None:
    """Catches: the day of the first seal taken for that of the last one."""

    async def scenario() -> None:
        await unit.run_for(1)
        unit.wall_ms += DAY_MS
        await unit.run_for(1)
        assert len(unit.seals()) == 2
        unit.sealer = unit.started()
        await unit.run_for(1)
        assert len(unit.seals()) == 2

    run_virtual(scenario())


def test_the_seal_of_a_claim_is_no_seal_of_its_day(unit: Unit) -> None:
    """Catches: a day without its seal, because the power went after a claim early in it."""

    async def scenario() -> None:
        await unit.run_for(1)
        unit.wall_ms += DAY_MS
        unit.claim(1)
        unit.sealer._append(REASON_CLAIM)
        unit.sealer = unit.started()
        await unit.run_for(1)
        assert [reason for _, reason in unit.seals()] == [REASON_DAY, REASON_CLAIM, REASON_DAY]

    run_virtual(scenario())
