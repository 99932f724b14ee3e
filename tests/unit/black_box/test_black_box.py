"""The black box keeps what the sensors read around START, and the simulator can judge it again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.black_box import ROUNDS_KEPT, Trace, TraceStore
from controller.config import load_unit_config
from controller.service_commands import show_traces
from hal import aio
from sim.floor import Floor, FloorTable, simulated, table_path
from sim.loop import run_virtual
from sim.replay import replay, replay_file

TABLE = "four-card-touch"
Play = Callable[[FloorTable], None]


def recorded(play: Play, wait_ms: int = 600, name: str = TABLE) -> Trace:
    """Plays up to START on a table with a black box, and returns the round's trace."""

    async def run() -> Trace:
        floor, store = Floor(1), TraceStore(":memory:")
        table = await floor.open_table(name)
        await table.unit.close()
        table.unit._open_traces = lambda: store
        await table.unit.power_on()
        await aio.sleep_ms(3000)
        table.world.place_chip("2A")
        await aio.sleep_ms(2000)
        play(table)
        await aio.sleep_ms(wait_ms)
        await table.press("START")
        table.world.remove_chip("2A")
        await aio.sleep_ms(6000)
        trace = store.read(1)
        await floor.close()
        assert trace is not None
        return trace

    return run_virtual(run())


def test_a_trace_covers_the_seconds_before_and_after_the_lock() -> None:
    trace = recorded(lambda table: table.world.place_chip("5A"))
    offsets = [offset for offset, _, _ in trace.samples]
    assert min(offsets) < -4000
    assert max(offsets) > 4900
    assert offsets == sorted(offsets)
    after = [offset for offset in offsets if offset > 0]
    assert len(after) > 200, "fifty readings a second after the lock"
    assert trace.accepted == ["2A", "5A"]


def test_what_moved_is_seen_in_the_readings() -> None:
    trace = recorded(lambda table: table.world.place_chip("5A"))
    fifth = [(offset, raw[4]) for offset, _, raw in trace.samples]
    before = [raw for offset, raw in fifth if offset < -700]
    lying = [raw for offset, raw in fifth if -300 < offset < 0]
    assert min(before) - max(lying) > 20
    at_lock = max(raw[1] for offset, _, raw in trace.samples if -300 < offset < 0)
    assert trace.samples[-1][2][1] - at_lock > 20, "the chip taken after the lock"


@pytest.mark.parametrize("name", [TABLE, f"{TABLE}-fdc"])
def test_the_simulator_judges_a_recorded_round_as_the_table_did(name: str) -> None:
    config = simulated(load_unit_config(table_path(name)))
    trace = recorded(lambda table: table.world.place_chip("5A"), name=name)
    assert [spot.now for spot in replay(trace, config)].count("accepted") == 2
    assert all(spot.then == spot.now for spot in replay(trace, config))
    late = recorded(lambda table: table.world.place_chip("5A"), wait_ms=50, name=name)
    assert late.refused == ["5A"]
    assert [spot.now for spot in replay(late, config) if spot.sensor == "5A"] == ["refused"]


def test_a_round_is_judged_again_on_the_scale_its_spots_had() -> None:
    """Catches: a replay with the usual figures, to which this table's chips are something else."""
    config = simulated(load_unit_config(table_path(TABLE)))
    trace = recorded(lambda table: table.world.place_chip("5A"))
    assert Trace.decode(trace.encode()) == trace
    delta, noise, raw_max, zero = trace.scales["5A"]
    elsewhere = dataclasses.replace(
        trace, scales={**trace.scales, "5A": (3 * delta, noise, raw_max, zero)}
    )
    assert [spot.now for spot in replay(elsewhere, config) if spot.sensor == "5A"] == ["refused"]
    drifted = dataclasses.replace(
        trace, scales={**trace.scales, "5A": (delta, noise, raw_max, 1.0)}
    )
    assert [spot.now for spot in replay(drifted, config) if spot.sensor == "5A"] != ["accepted"]


def test_a_trace_that_says_otherwise_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = recorded(lambda table: table.world.place_chip("5A"))
    path = tmp_path / "trace"
    path.write_bytes(trace.encode())
    assert replay_file(path, TABLE) == 0
    path.write_bytes(dataclasses.replace(trace, accepted=["2A"]).encode())
    assert replay_file(path, TABLE) == 1
    assert "5A  then empty     now accepted    DIFFERS" in capsys.readouterr().out
    path.write_bytes(b"nothing")
    assert replay_file(path, TABLE) == 2


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


def test_a_tech_lists_and_copies_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = TraceStore(str(tmp_path / "black-box.sqlite"))
    store.keep(Trace(7, 0, ["2A"], [], {}, [(0, "sense-1", [700])]))
    store.close()
    assert show_traces(tmp_path, None, None) == 0
    assert "rounds: 7" in capsys.readouterr().out
    assert show_traces(tmp_path, 7, tmp_path / "copy") == 0
    assert Trace.decode((tmp_path / "copy").read_bytes()).accepted == ["2A"]
    assert show_traces(tmp_path, 8, None) == 1
