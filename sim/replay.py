"""`python -m sim replay FILE`: a round's recorded traces through the shipped sensing, once more.

The recorded readings are laid on the chip models' electrodes at their recorded times; the shipped
drivers and spots read them in virtual time, and the verdicts at START are compared with the
recorded ones. A field incident becomes a test this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from controller.config import UnitConfig, load_unit_config
from controller.core import sensing
from controller.round_trace import Trace, TraceFault
from controller.sensors import ChipWatch
from hal import aio
from hal.board import Board
from sim.backend import SimBackend
from sim.floor import simulated, table_path
from sim.loop import run_virtual
from sim.world import World

LEAD_MS = 1000
Sample = tuple[int, str, list[int]]
VERDICTS = {sensing.ACCEPT: "accepted", sensing.EMPTY: "empty"}


@dataclass(frozen=True)
class Replayed:
    """What a spot was judged then, and now."""

    sensor: str
    then: str
    now: str


def replay(trace: Trace, config: UnitConfig) -> list[Replayed]:
    return run_virtual(_replay(trace, config))


async def _replay(trace: Trace, config: UnitConfig) -> list[Replayed]:
    world = World(config.board)
    world.start()
    board = Board.from_config(config.board, SimBackend(world))
    spots = {place.id: _spot(place.id, trace) for place in board.sensors}
    watches = [_watch(name, board, spots, trace) for name in board.chips]
    tasks = [aio.create_task(watch.run(), name=watch.name) for watch in watches]
    try:
        _lay(world, _first_of_each_chip(trace.samples))
        await aio.sleep_ms(LEAD_MS)
        await _lay_in_time(world, trace)
        await aio.gather(*(watch.look_now() for watch in watches))
        now_ms = aio.ticks_ms()
        return [_compare(trace, sensor, spot, now_ms) for sensor, spot in spots.items()]
    finally:
        for task in tasks:
            task.cancel()
        await aio.gather(*tasks, return_exceptions=True)
        board.close()
        await world.close()


def _spot(sensor: str, trace: Trace) -> sensing.Spot:
    """As it was calibrated then, and with the empty felt where it was."""
    if sensor not in trace.scales:
        return sensing.Spot(sensor)
    chip_delta, noise, raw_max, zero = trace.scales[sensor]
    spot = sensing.Spot(sensor, sensing.Calibration(chip_delta, noise, raw_max))
    spot.zero = zero
    return spot


def _watch(name: str, board: Board, spots: dict[str, sensing.Spot], trace: Trace) -> ChipWatch:
    places = sorted(
        (place for place in board.sensors if place.chip == name), key=lambda p: p.electrode
    )
    return ChipWatch(
        name,
        board.chips[name],
        {place.electrode: spots[place.id] for place in places},
        [trace.references[place.id] for place in places],
        lambda: None,
        lambda: None,
    )


async def _lay_in_time(world: World, trace: Trace) -> None:
    """Up to START: each reading takes the electrodes to where it found them."""
    before = [sample for sample in trace.samples if sample[0] <= 0]
    at_ms = before[0][0] if before else 0
    for sample in before:
        await aio.sleep_ms(sample[0] - at_ms)
        at_ms = sample[0]
        _lay(world, [sample])
    await aio.sleep_ms(-at_ms)


def _first_of_each_chip(samples: Sequence[Sample]) -> list[Sample]:
    """Where the trace begins: a chip that is read later than another must not begin elsewhere."""
    first: dict[str, Sample] = {}
    for sample in samples:
        first.setdefault(sample[1], sample)
    return list(first.values())


def _lay(world: World, samples: Sequence[Sample]) -> None:
    for _, chip, raw in samples:
        for sensor in world.board.sensors_on(chip):
            world.lay_reading(sensor.id, raw[sensor.electrode])


def _compare(trace: Trace, sensor: str, spot: sensing.Spot, now_ms: int) -> Replayed:
    then = (
        "accepted"
        if sensor in trace.accepted
        else "refused"
        if sensor in trace.refused
        else "empty"
    )
    return Replayed(sensor, then, VERDICTS.get(spot.verdict_at_lock(now_ms), "refused"))


def replay_file(path: Path, table: str) -> int:
    try:
        trace = Trace.decode(path.read_bytes())
    except (OSError, TraceFault) as error:
        print(f"{path}: cannot be replayed: {error}")
        return 2
    found = replay(trace, simulated(load_unit_config(table_path(table))))
    for spot in found:
        same = "" if spot.then == spot.now else "   DIFFERS"
        print(f"{spot.sensor:>4}  then {spot.then:<9} now {spot.now:<9}{same}")
    return 0 if all(spot.then == spot.now for spot in found) else 1
