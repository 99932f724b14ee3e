"""A power cut at any instant takes no trace that was kept, and shows none that is torn."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from controller.evidence import black_box
from controller.evidence.black_box import TraceStore
from controller.evidence.round_trace import Reading, Trace
from hal import aio
from sim.floor.floor import Floor, FloorTable
from sim.storage.disk import SimDisk
from sim.time.loop import run_virtual
from tests.kit.cuts_beside import CutsBeside, Readers
from tests.power_cut.traces_under_cuts import PATH, TracesUnderCuts, broken_seeds

SEEDS = range(120)


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that old rounds go while new ones come."""
    monkeypatch.setattr(black_box, "ROUNDS_KEPT", 5)


def test_no_kept_trace_is_ever_lost() -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        run = TracesUnderCuts(seed)
        try:
            run.run()
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        seen += run.seen
    # A harness that never reaches these would prove nothing.
    assert seen["cut while keeping"] > len(SEEDS) / 2
    assert seen["cut while opening"] > 0
    assert seen["kept although never told of"] > 0
    assert seen["half a round, and said so"] > 0


def test_teeth_a_trace_that_is_not_synced_is_caught() -> None:
    assert len(broken_seeds(SEEDS[:40], synchronous="normal")) > 20


def test_teeth_a_disk_that_lies_about_syncing_is_caught() -> None:
    assert len(broken_seeds(SEEDS[:40], lying=True)) > 20


def _trace(number: int) -> Trace:
    chance = random.Random(number)
    samples = [
        Reading(offset_ms, "sense-1", [chance.randrange(1024) for _ in range(12)])
        for offset_ms in range(100)
    ]
    return Trace(number, 0, ["1A"], [], {}, samples)


def _keep_all(disk: SimDisk, kept: list[int]) -> None:
    store = TraceStore(PATH, disk.vfs_name)
    try:
        for number in range(1, 9):
            store.keep(_trace(number))
            kept.append(number)
    finally:
        store.close()


def _rounds_on(disk: SimDisk) -> list[int]:
    store = TraceStore(PATH, disk.vfs_name)
    there = store.rounds()
    assert [store.read(number) for number in there] == [_trace(number) for number in there]
    store.close()
    return there


def _compare(there: list[int], kept: list[int]) -> None:
    assert there[: len(kept[-5:])] == kept[-5:] or there[:-1] == kept[-4:]


@pytest.mark.parametrize("seed", range(4))
def test_a_cut_at_every_single_operation(seed: int) -> None:
    disk, kept = SimDisk(seed), list[int]()
    cuts = CutsBeside(disk, seed, kept.copy, Readers(PATH, _rounds_on, _compare), draws=2)
    _keep_all(disk, kept)
    cuts.check()
    assert disk.operation_count > 50
    assert cuts.count > 80
    cuts.close()
    disk.close()


# -- the whole unit ------------------------------------------------------------------------------


async def _table_with_black_box(floor: Floor) -> FloorTable:
    """Its black box lies on the same disk as its journal."""
    table = await floor.open_table("four-card-touch")
    await table.unit.close()
    table.unit.stores.traces = lambda: TraceStore(PATH, table.disk.vfs_name)
    await table.unit.power_on()
    await aio.sleep_ms(3000)
    return table


async def _play_round(table: FloorTable) -> None:
    table.place("2A")
    await aio.sleep_ms(2000)
    await table.press("START")
    table.remove("2A")
    await aio.sleep_ms(6000)
    await table.press("END")
    await aio.sleep_ms(1000)


async def _cut_and_look(table: FloorTable) -> list[Trace]:
    await table.cut_power()
    await aio.sleep_ms(2000)
    await table.restore_power()
    await aio.sleep_ms(3000)
    assert table.unit.controller is not None
    store = table.unit.controller.hardware.stores.traces
    assert store is not None
    return [trace for number in store.rounds() if (trace := store.read(number)) is not None]


def test_rounds_played_before_a_cut_are_in_the_black_box_after_it() -> None:
    async def run() -> list[Trace]:
        floor = Floor(1)
        table = await _table_with_black_box(floor)
        for _ in range(4):
            await _play_round(table)
        found = await _cut_and_look(table)
        await floor.close()
        return found

    traces = run_virtual(run())
    assert [trace.round_number for trace in traces] == [1, 2, 3, 4]
    assert all(trace.is_complete for trace in traces)
    assert all(trace.samples[-1].offset_ms > 4900 for trace in traces)


@pytest.mark.parametrize("after_ms", [50, 3000, 4900])
def test_a_cut_soon_after_the_lock_takes_only_what_came_after_it(after_ms: int) -> None:
    async def run() -> list[Trace]:
        floor = Floor(1)
        table = await _table_with_black_box(floor)
        table.place("2A")
        await aio.sleep_ms(2000)
        await table.press("START")
        await aio.sleep_ms(after_ms)
        found = await _cut_and_look(table)
        await floor.close()
        return found

    (trace,) = run_virtual(run())
    assert trace.accepted == ["2A"]
    assert not trace.is_complete
    offsets = [reading.offset_ms for reading in trace.samples]
    assert min(offsets) < -4000
    assert max(offsets) <= 50
