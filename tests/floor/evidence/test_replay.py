"""A recorded round is judged again as the table judged it, from its file alone."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import cbor2
import pytest

from controller.__main__ import main as unit_main
from controller.data_folder import black_box_path
from controller.evidence.black_box import TraceStore
from controller.evidence.round_trace import Reading, Trace, TraceFault
from controller.evidence.trace_replay import replay
from hal import aio
from kit.command_line import REFUSED
from sim.__main__ import main
from sim.floor.floor import Floor, FloorTable
from sim.floor.named_faults import strike
from sim.time.loop import run_virtual
from tests.kit.places import table_path

TOUCH, FDC, DUAL = "four-card-touch", "four-card-touch-fdc", "face-up-pai-gow-dual"
KEYPAD = "four-card-keypad"
Scene = Callable[[FloorTable], Awaitable[None]]


def recorded(scene: Scene, name: str = TOUCH) -> Trace:
    """A chip lies on 2A all the time; after the scene START is pressed: that round's trace."""

    async def run() -> Trace:
        floor, store = Floor(2), TraceStore(":memory:")
        table = await floor.open_table(name)
        await table.unit.close()
        table.unit.stores.traces = lambda: store
        await table.unit.power_on()
        await aio.sleep_ms(3000)
        table.place("2A")
        await aio.sleep_ms(1000)
        await scene(table)
        await table.press("START")
        await aio.sleep_ms(6000)
        trace = store.read(1)
        await floor.close()
        assert trace is not None
        return Trace.decode(trace.encode())

    return run_virtual(run())


def differing(trace: Trace) -> list[str]:
    return [f"{s.sensor} {s.then} {s.now}" for s in replay(trace) if s.then != s.now]


def now_of(trace: Trace, sensor: str) -> str:
    return next(spot.now for spot in replay(trace) if spot.sensor == sensor)


@pytest.mark.parametrize("name", [TOUCH, FDC, DUAL])
def test_chips_that_lay_there_before_the_trace_are_bets_on_every_sensing_ic(name: str) -> None:
    """Catches: letting the spots of all ICs but one begin with the felt of nobody."""

    async def scene(table: FloorTable) -> None:
        for sensor in table.config.board.sensors:
            if sensor.id != "1A":
                table.place(sensor.id)
        await aio.sleep_ms(7000)

    trace = recorded(scene, name)
    assert len(trace.accepted) == len(trace.places) - 1
    assert not differing(trace)


def test_a_verdict_that_hung_on_milliseconds_is_the_same_again() -> None:
    """Catches: readings that reach the spots a little later than they did then."""

    def waiting(wait_ms: int) -> Scene:
        async def scene(table: FloorTable) -> None:
            table.place("5A")
            await aio.sleep_ms(2000)
            table.remove("5A")
            table.place("4A")
            await aio.sleep_ms(wait_ms)

        return scene

    traces = [recorded(waiting(wait_ms)) for wait_ms in range(20, 180, 8)]
    assert [differing(trace) for trace in traces] == [[] for _ in traces]
    # Both sides of both edges were there, or this would prove nothing.
    assert 0 < sum("4A" in trace.accepted for trace in traces) < len(traces)
    assert 0 < sum("5A" in trace.refused for trace in traces) < len(traces)


def test_an_ic_that_was_silent_at_the_lock_is_silent_again() -> None:
    """Catches: a trace that keeps readings only, after which the last one seems to last."""

    async def scene(table: FloorTable) -> None:
        table.place("6B")
        table.place("6A")
        await aio.sleep_ms(2000)
        strike(table.world.faults, table.config.board, "nack", "sense-1")
        await aio.sleep_ms(1500)

    trace = recorded(scene, DUAL)
    silent = [sensor for sensor, place in trace.places.items() if place[0] == "sense-1"]
    assert silent
    assert set(silent) <= set(trace.refused)
    assert trace.accepted
    assert not differing(trace)


def test_wet_felt_is_still_wet_when_the_trace_begins() -> None:
    """Catches: liquid that came before the trace, rests, and weighs like a chip."""

    async def scene(table: FloorTable) -> None:
        table.world.spill(["5A", "6A"])
        await aio.sleep_ms(9000)
        table.place("7A")
        await aio.sleep_ms(2000)

    trace = recorded(scene)
    assert {"5A", "6A", "7A"} <= set(trace.refused)
    assert not differing(trace)


def test_what_rested_in_doubt_when_the_trace_begins_is_in_doubt_again() -> None:
    """Catches: something that came like liquid, and by now lies as still as a chip does."""

    async def scene(table: FloorTable) -> None:
        await aio.sleep_ms(6000)

    trace = recorded(scene)
    bit = 1 << trace.places["2A"][1]
    doubted = [
        reading._replace(standing=reading.standing._replace(settled=0, tainted=bit))
        for reading in trace.samples
    ]
    assert now_of(trace, "2A") == "accepted"
    assert now_of(dataclasses.replace(trace, samples=doubted), "2A") == "refused"


def test_felt_that_was_empty_when_the_trace_begins_is_empty_at_once() -> None:
    """Catches: a chip that falls in the first moments of a trace, on felt nobody knows yet."""

    async def scene(table: FloorTable) -> None:
        await aio.sleep_ms(3000)
        table.place("5A")
        await aio.sleep_ms(200)

    trace = recorded(scene)
    assert "5A" in trace.accepted
    _, electrode = trace.places["5A"]
    came_ms = min(look.offset_ms for look in trace.looks if look.touched >> electrode & 1)
    last_empty_ms = max(r.offset_ms for r in trace.samples if r.offset_ms < came_ms)
    short = dataclasses.replace(
        trace,
        samples=[reading for reading in trace.samples if reading.offset_ms >= last_empty_ms],
        looks=[look for look in trace.looks if look.offset_ms >= last_empty_ms],
    )
    assert not differing(short)


def test_what_was_not_read_then_is_told_again_to_spots_that_ask_for_it() -> None:
    """Catches: spots of another mind than then, left without readings until START."""

    async def scene(table: FloorTable) -> None:
        table.place("5A")
        await aio.sleep_ms(4000)

    trace = recorded(scene)
    sparse = [
        reading._replace(standing=reading.standing._replace(settled=0))
        for reading in trace.samples
        if reading.offset_ms > -3000
    ]
    assert len([reading for reading in sparse if reading.offset_ms < 0]) < 40
    assert not differing(dataclasses.replace(trace, samples=sparse, looks=[]))


def test_a_reading_from_before_a_chip_came_is_not_told_again_after_it() -> None:
    """Catches: taking the chip away again by a reading that is older than its touch bit."""

    async def scene(table: FloorTable) -> None:
        table.remove("2A")
        await aio.sleep_ms(1500)
        await table.press("START")  # without a bet: the felt is read out of turn
        await aio.sleep_ms(400)
        table.place("4A")
        await aio.sleep_ms(400)

    trace = recorded(scene, KEYPAD)
    assert trace.accepted == ["4A"]
    assert not differing(trace)


def test_today_differs_when_the_readings_do() -> None:
    """A replay that could not differ would prove nothing."""

    async def scene(table: FloorTable) -> None:
        await aio.sleep_ms(4000)

    trace = recorded(scene)
    ic, electrode = trace.places["2A"]

    def lifted(reading: Reading) -> Reading:
        raw = list(reading.raw)
        if reading.ic == ic and reading.offset_ms > -1000:
            raw[electrode] = trace.references["2A"]
        return reading._replace(raw=raw)

    assert now_of(trace, "2A") == "accepted"
    moved = dataclasses.replace(trace, samples=[lifted(reading) for reading in trace.samples])
    assert now_of(moved, "2A") == "empty"


# -- what a tech types -----------------------------------------------------------------------


async def _nothing(_table: FloorTable) -> None:
    await aio.sleep_ms(3000)


@pytest.mark.parametrize("name", [TOUCH, FDC, DUAL])
def test_the_file_alone_is_enough(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "4711.trace"
    path.write_bytes(recorded(_nothing, name).encode())
    assert main(["replay", str(path)]) == 0
    said = capsys.readouterr().out
    assert f"of table {name}" in said
    assert "2A  then accepted  now accepted" in said


def _older(trace: Trace) -> bytes:
    plain = cbor2.loads(zlib.decompress(trace.encode()))
    for key in ("looks", "failures", "places", "table", "judged_ms", "complete"):
        del plain[key]
    plain["samples"] = [row[:3] for row in plain["samples"]]
    return zlib.compress(cbor2.dumps(plain))


def _without_scales(trace: Trace) -> bytes:
    return dataclasses.replace(trace, scales={}).encode()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (_older, "it was recorded by older software"),
        (_without_scales, "its parts do not fit each other"),
        (lambda trace: trace.encode()[:-40], "it is damaged"),
        (lambda _trace: b"nothing", "it is damaged"),
        (lambda _trace: zlib.compress(cbor2.dumps([1, 2])), "it is no trace"),
        (lambda _trace: zlib.compress(cbor2.dumps({"round": 1})), "it is no trace"),
    ],
)
def test_what_cannot_be_replayed_is_refused_with_a_sentence(
    spoil: Callable[[Trace], bytes],
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "4711.trace"
    path.write_bytes(spoil(recorded(_nothing)))
    assert main(["replay", str(path)]) == REFUSED
    said = capsys.readouterr()
    assert f"{path} cannot be replayed: {sentence}" in said.err
    assert not said.out
    assert main(["replay", str(tmp_path / "nowhere")]) == REFUSED
    assert "No such file" in capsys.readouterr().err


def _traces(data: Path, *options: str) -> int:
    return unit_main(["traces", "--config", str(table_path(TOUCH)), "--data", str(data), *options])


def test_a_damaged_trace_is_named_and_leaves_the_others_readable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = TraceStore(str(black_box_path(tmp_path)))
    for number in (7, 8):
        store.keep(Trace(number, 0, ["2A"], [], {}, [Reading(0, "sense-1", [700])]))
    store._connection.execute("UPDATE trace SET body = substr(body, 1, 30) WHERE round_number = 7")
    with pytest.raises(TraceFault):
        store.read(7)
    store.close()
    assert _traces(tmp_path, "--round", "7", "--out", str(tmp_path / "copy")) == REFUSED
    assert "The trace of round 7 cannot be read: it is damaged" in capsys.readouterr().err
    assert not (tmp_path / "copy").exists()
    assert _traces(tmp_path, "--round", "8") == 0


def test_a_copy_of_no_round_in_particular_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches: printing the list and writing nothing, which looks like success."""
    TraceStore(str(black_box_path(tmp_path))).close()
    assert _traces(tmp_path, "--out", str(tmp_path / "copy")) == REFUSED
    assert "--round N --out FILE" in capsys.readouterr().err
