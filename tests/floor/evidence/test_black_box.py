"""The black box keeps what the sensors read around START, and the simulator can judge it again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from controller.evidence.black_box import ROUNDS_KEPT, TRACES_AT_ONCE_MAX, BlackBox, TraceStore
from controller.evidence.round_trace import Reading, Trace
from controller.evidence.trace_replay import replay
from controller.service.commands import show_traces
from hal import aio
from hal.worker import InlineWorker
from sim.floor.floor import Floor, FloorTable
from sim.runs.replay import replay_file
from sim.storage.disk import Operation, SimDisk
from sim.time.loop import run_virtual

TABLE = "four-card-touch"
Play = Callable[[FloorTable], object]
# Not the one the simulator takes by itself: a replay has the felt of the trace, and no other.
FLOOR_SEED = 2


@pytest.fixture(params=[TABLE, f"{TABLE}-fdc"])
def name(request: pytest.FixtureRequest) -> str:
    """A table with each of the sensing boards."""
    return str(request.param)


@cache
def recorded(name: str, wait_ms: int = 600) -> Trace:
    """A chip lies on 2A, one comes to 5A, and START: the trace of that round."""

    async def run() -> Trace:
        floor, store = Floor(FLOOR_SEED), TraceStore(":memory:")
        table = await floor.open_table(name)
        await table.unit.close()
        table.unit.stores.traces = lambda: store
        await table.unit.power_on()
        await aio.sleep_ms(3000)
        table.world.place_chip("2A")
        await aio.sleep_ms(2000)
        table.world.place_chip("5A")
        await aio.sleep_ms(wait_ms)
        await table.press("START")
        table.world.remove_chip("2A")
        await aio.sleep_ms(6000)
        trace = store.read(1)
        await floor.close()
        assert trace is not None
        return trace

    return run_virtual(run())


def levels(name: str, sensor: str) -> list[tuple[int, float]]:
    """(offset_ms, level in chips) of each reading of one spot in the recorded round."""
    trace = recorded(name)
    ic, electrode = trace.places[sensor]
    reference, chip_delta = trace.references[sensor], trace.scales[sensor][0]
    return [
        (reading.offset_ms, (reference - reading.raw[electrode]) / chip_delta)
        for reading in trace.samples
        if reading.ic == ic
    ]


def test_a_trace_covers_the_seconds_before_and_after_the_lock(name: str) -> None:
    trace = recorded(name)
    offsets = [reading.offset_ms for reading in trace.samples]
    assert offsets == sorted(offsets)
    assert trace.accepted == ["2A", "5A"]
    for sensor in trace.references:
        offsets = [offset for offset, _ in levels(name, sensor)]
        assert min(offsets) < -4000
        assert max(offsets) > 4900
        after = [offset for offset in offsets if offset > 0]
        assert len(after) > 200, "fifty readings a second after the lock"


def test_what_moved_is_seen_in_the_readings(name: str) -> None:
    fifth = levels(name, "5A")
    assert max(level for offset, level in fifth if offset < -700) < 0.1
    assert min(level for offset, level in fifth if -300 < offset < 0) > 0.7
    second = levels(name, "2A")
    assert min(level for offset, level in second if -300 < offset < 0) > 0.7
    assert second[-1][1] < 0.1, "the chip taken after the lock"


def test_the_simulator_judges_a_recorded_round_as_the_table_did(name: str) -> None:
    """Catches: laying the first reading of one sensing IC only, where a board has several."""
    trace = recorded(name)
    judged = replay(trace)
    assert [spot.now for spot in judged].count("accepted") == 2
    assert all(spot.then == spot.now for spot in judged)
    late = recorded(name, wait_ms=50)
    assert late.refused == ["5A"]
    assert [spot.now for spot in replay(late) if spot.sensor == "5A"] == ["refused"]


def test_a_round_is_judged_again_on_the_scale_its_spots_had(name: str) -> None:
    """Catches: a replay with the usual figures, to which this table's chips are something else."""
    trace = recorded(name)
    assert Trace.decode(trace.encode()) == trace
    delta, noise, raw_max, zero = trace.scales["5A"]
    elsewhere = dataclasses.replace(
        trace, scales={**trace.scales, "5A": (3 * delta, noise, raw_max, zero)}
    )
    assert [spot.now for spot in replay(elsewhere) if spot.sensor == "5A"] == ["refused"]
    drifted = dataclasses.replace(
        trace, scales={**trace.scales, "5A": (delta, noise, raw_max, 1.0)}
    )
    assert [spot.now for spot in replay(drifted) if spot.sensor == "5A"] != ["accepted"]


def test_a_trace_that_says_otherwise_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = recorded(TABLE)
    path = tmp_path / "trace"
    path.write_bytes(trace.encode())
    assert replay_file(path) == 0
    path.write_bytes(dataclasses.replace(trace, accepted=["2A"]).encode())
    assert replay_file(path) == 1
    assert "5A  then empty     now accepted    DIFFERS" in capsys.readouterr().out
    path.write_bytes(b"nothing")
    assert replay_file(path) == 2


def test_only_the_last_rounds_are_kept_and_survive(tmp_path: Path) -> None:
    path = str(tmp_path / "black-box.sqlite")
    store = TraceStore(path)
    for number in range(1, ROUNDS_KEPT + 6):
        store.keep(Trace(number, 0, [], [], {}, []))
    store.close()
    again = TraceStore(path)
    assert again.rounds() == list(range(6, ROUNDS_KEPT + 6))
    assert again.read(1) is None
    again.close()


def test_a_unit_at_another_table_keeps_its_new_rounds_and_lets_the_old_ones_go() -> None:
    """Catches: the highest numbers kept. Each new trace was deleted as it was written."""
    store = TraceStore(":memory:")
    for number in range(501, 501 + ROUNDS_KEPT):
        store.keep(Trace(number, 0, [], [], {}, []))
    for number in (1, 2, 3):
        store.keep(Trace(number, 0, [], [], {}, []))
        assert store.read(number) is not None
    assert store.rounds() == [1, 2, 3, *range(504, 501 + ROUNDS_KEPT)]
    for number in range(4, ROUNDS_KEPT + 2):
        store.keep(Trace(number, 0, [], [], {}, []))
    assert store.rounds() == list(range(2, ROUNDS_KEPT + 2))
    store.close()


def test_rounds_that_began_before_a_trace_was_complete_are_of_the_same_history() -> None:
    store = TraceStore(":memory:")
    for number in range(1, ROUNDS_KEPT + TRACES_AT_ONCE_MAX + 1):
        store.keep(Trace(number, 0, [], [], {}, []))
    kept = store.rounds()
    store.keep(Trace(ROUNDS_KEPT, 0, ["2A"], [], {}, []))
    assert store.rounds() == kept
    store.close()


def test_a_tech_lists_and_copies_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = TraceStore(str(tmp_path / "black-box.sqlite"))
    store.keep(Trace(7, 0, ["2A"], [], {}, [Reading(0, "sense-1", [700])]))
    store.close()
    assert show_traces(tmp_path, None, None) == 0
    assert "rounds: 7" in capsys.readouterr().out
    assert show_traces(tmp_path, 7, tmp_path / "copy") == 0
    assert Trace.decode((tmp_path / "copy").read_bytes()).accepted == ["2A"]
    assert show_traces(tmp_path, 8, None) == 1
    assert "are missing" not in capsys.readouterr().out


def test_a_tech_is_told_that_half_a_trace_is_half(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = TraceStore(str(tmp_path / "black-box.sqlite"))
    store.keep(Trace(7, 0, ["2A"], [], {}, [Reading(0, "sense-1", [700])], is_complete=False))
    store.close()
    assert show_traces(tmp_path, 7, None) == 0
    assert "the 5 s after START are missing" in capsys.readouterr().out


class StuckWorker:
    """A disk that takes a job and never answers."""

    name = "stuck"

    async def run(self, job: Callable[[], object]) -> object:
        await aio.Event().wait()
        return job()

    def close(self) -> None:
        pass


def rounds_with(store: TraceStore, prepare: Play, mend: Play, round_count: int = 3) -> list[int]:
    """Plays rounds on a table whose black box is in trouble; returns the rounds it has."""

    async def run() -> list[int]:
        floor = Floor(1)
        table = await floor.open_table(TABLE)
        await table.unit.close()
        table.unit.stores.traces = lambda: store
        await table.unit.power_on()
        await aio.sleep_ms(3000)
        prepare(table)
        for number in range(1, round_count + 1):
            table.world.place_chip("2A")
            await aio.sleep_ms(2000)
            begin_ms = aio.ticks_ms()
            await table.press("START")
            assert table.unit.controller is not None
            assert table.unit.controller.keeper.state.round_number == number
            assert aio.ticks_ms() - begin_ms < 50, "START waits for no trace"
            table.world.remove_chip("2A")
            await aio.sleep_ms(6000)
            await table.press("END")
            if number == round_count - 1:
                mend(table)
        await aio.sleep_ms(1000)
        assert not table.unit.controller.tasks.deaths
        found = store.rounds()
        await floor.close()
        return found

    return run_virtual(run())


def box_of(table: FloorTable) -> BlackBox:
    assert table.unit.controller is not None
    assert table.unit.controller.evidence.black_box is not None
    return table.unit.controller.evidence.black_box


@pytest.mark.parametrize("operation", ["write", "sync"])
def test_a_disk_that_cannot_keep_a_trace_costs_only_the_trace(operation: Operation) -> None:
    disk = SimDisk(1)
    store = TraceStore("black-box.sqlite", disk.vfs_name)
    found = rounds_with(
        store,
        lambda _: disk.failing.add(operation),
        lambda _: disk.failing.discard(operation),
    )
    assert found == [3]
    disk.close()


def test_a_disk_that_never_answers_holds_no_round() -> None:
    def stick(table: FloorTable) -> None:
        box_of(table)._worker = StuckWorker()  # type: ignore[assignment]

    assert rounds_with(TraceStore(":memory:"), stick, lambda _: None) == []


def test_a_worker_that_takes_no_more_jobs_holds_no_round() -> None:
    """Catches: a task that dies of what only the worker may raise."""

    def close(table: FloorTable) -> None:
        closed = InlineWorker("closed")
        closed.close()
        box_of(table)._worker = closed

    def mend(table: FloorTable) -> None:
        box_of(table)._worker = InlineWorker("disk")

    assert rounds_with(TraceStore(":memory:"), close, mend) == [3]


def test_rounds_that_follow_each_other_quickly_have_a_trace_each() -> None:
    """Catches: a second START that waits for its trace until the first one is complete."""

    async def run() -> tuple[list[int], list[Trace | None]]:
        floor, store = Floor(1), TraceStore(":memory:")
        table = await floor.open_table(TABLE)
        await table.unit.close()
        table.unit.stores.traces = lambda: store
        await table.unit.power_on()
        await aio.sleep_ms(3000)
        table.world.place_chip("2A")
        await aio.sleep_ms(2000)
        for _ in range(2):
            await table.press("START")
            await aio.sleep_ms(1000)
            await table.press("END")
            await aio.sleep_ms(500)
        early = store.rounds()
        await aio.sleep_ms(8000)
        assert box_of(table).read_again_ms() > 1000, "nobody asks for readings any more"
        traces = [store.read(1), store.read(2)]
        await floor.close()
        return early, traces

    early, traces = run_virtual(run())
    assert early == [1, 2]
    for trace in traces:
        assert trace is not None
        assert trace.is_complete
        assert min(trace.samples)[0] < -3000
        assert max(trace.samples)[0] > 4900
