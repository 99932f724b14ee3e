"""Chip on the felt to light on, in simulated physical time, beside what the ICs and the bus allow.

The floor is computed from the parts alone: the sensing IC's own measuring, one status read, one
lamp write and one PWM period. What is above the floor is ours. Virtual time waits for buses and
timers but not for a processor; what that costs is measured in `sim.runs.perf.real_threads`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from hal import aio
from hal.ics.fdc1004 import MEASUREMENTS_PER_SECOND, Fdc1004
from hal.ics.kinds import FDC1004, TOUCH_THRESHOLDS
from sim.floor.floor import Floor, FloorTable
from sim.hardware.ics.base import IrqListener
from sim.runs.perf.figures import Figure, at_most, distribution, percentile
from sim.time.loop import run_virtual

TRIALS = 300
SEED = 1
# Bit times at 400 kHz (nine bits a byte, start, repeated start and stop), in milliseconds.
STATUS_READ_MS = 0.12
LAMP_WRITE_MS = 0.14
PWM_PERIOD_MS = 0.66
MULTIPLEXER_WRITE_MS = 0.05
WAIT_MAX_MS = 100
OURS_MAX_MS = 2.0


@dataclass(frozen=True)
class Floor99:
    """What physics allows: the fastest, the median and the 99th of a hundred, in milliseconds."""

    fastest: float
    median: float
    share_99: float

    @classmethod
    def uniform(cls, first_ms: float, last_ms: float, after_ms: float) -> Floor99:
        """The chip is noticed at any moment between first and last; then the wires follow."""
        span_ms = last_ms - first_ms
        return cls(*(first_ms + share * span_ms + after_ms for share in (0, 0.5, 0.99)))


@dataclass(frozen=True)
class Trial:
    """One chip, by the clocks of the models: when it lay there, was called out, and was lit."""

    placed_ns: int
    called_ns: int | None
    lit_ns: int


def measure() -> list[Figure]:
    return [*_mpr121(), *_fdc1004()]


def _mpr121() -> list[Figure]:
    """Its samples are 4 ms apart, a step lands anywhere between two, and debounce needs one more.

    So the touch bit comes 8 to 12 ms after the chip.
    """
    floor = Floor99.uniform(8.0, 12.0, STATUS_READ_MS + LAMP_WRITE_MS + PWM_PERIOD_MS)
    trials = run_virtual(_place_many("four-card-touch"))
    ours_ms = [(each.lit_ns - each.called_ns) / 1e6 for each in trials if each.called_ns]
    assert len(ours_ms) == TRIALS, "some lights came without an interrupt"
    wires = f"of which {STATUS_READ_MS + LAMP_WRITE_MS:.2f} ms are bits on the bus"
    return [
        *_against_floor("MPR121", trials, floor, bounds_ms=(12, 16)),
        Figure("  ours: interrupt edge -> LED written, median", percentile(ours_ms, 0.5), "ms"),
        at_most("  ours, 99 %", percentile(ours_ms, 0.99), OURS_MAX_MS, "ms", wires),
    ]


def _fdc1004() -> list[Figure]:
    """It measures four electrodes in turn and averages each for 2.5 ms; it calls nobody.

    A measure counts as touched once the chip was there for `part` of it.
    """
    measure_ms = 1000 / MEASUREMENTS_PER_SECOND
    part = TOUCH_THRESHOLDS[FDC1004][0] / Fdc1004.chip_counts_typical
    # Most electrodes of the shipped board wait for three others; the rest for two.
    wires_ms = MULTIPLEXER_WRITE_MS + 2 * STATUS_READ_MS + LAMP_WRITE_MS + PWM_PERIOD_MS
    floor = Floor99.uniform(part * measure_ms, (part + 4) * measure_ms, wires_ms)
    trials = run_virtual(_place_many("four-card-touch-fdc"))
    return _against_floor("FDC1004", trials, floor, bounds_ms=(12, 16))


def _against_floor(
    ic: str, trials: list[Trial], floor: Floor99, bounds_ms: tuple[float, float]
) -> list[Figure]:
    latencies_ms = [(each.lit_ns - each.placed_ns) / 1e6 + PWM_PERIOD_MS for each in trials]
    median_ms, share_99_ms = (percentile(latencies_ms, share) for share in (0.5, 0.99))
    name = f"{ic}: chip placed -> light on"
    return [
        at_most(f"{name}, median", median_ms, bounds_ms[0], "ms", _floor(floor.median)),
        at_most(f"{name}, 99 %", share_99_ms, bounds_ms[1], "ms", _floor(floor.share_99)),
        Figure("  fastest", min(latencies_ms), "ms", _floor(floor.fastest)),
        Figure("  slowest", max(latencies_ms), "ms", distribution(latencies_ms, "ms")),
        Figure("  above the floor, median", median_ms - floor.median, "ms"),
    ]


def _floor(value_ms: float) -> str:
    return f"physical floor {value_ms:.2f} ms"


async def _place_many(table_name: str) -> list[Trial]:
    floor, chance = Floor(SEED), random.Random(SEED)
    table = await floor.open_table(table_name)
    calls = _Calls(table)
    try:
        await aio.sleep_ms(2000)
        return [await _place_once(table, calls, chance) for _ in range(TRIALS)]
    finally:
        await floor.close()


class _Calls:
    """Notes when a sensing IC last pulled its interrupt line, and passes the edge on."""

    def __init__(self, table: FloorTable) -> None:
        self._last_ns: int | None = None
        for config in table.config.board.ics:
            ic = table.world.ics[config.name]
            if config.interrupt_gpio is not None and ic.on_irq is not None:
                ic.on_irq = self._between(ic.on_irq)

    def since(self, moment_ns: int) -> int | None:
        return self._last_ns if self._last_ns and self._last_ns >= moment_ns else None

    def _between(self, pass_on: IrqListener) -> IrqListener:
        def note(at_ns: int, low: bool) -> None:
            if low:
                self._last_ns = at_ns
            pass_on(at_ns, low)

        return note


async def _place_once(table: FloorTable, calls: _Calls, chance: random.Random) -> Trial:
    """One chip at a random moment."""
    world, sensor = table.world, f"{chance.randint(1, table.config.seat_count)}A"
    await aio.sleep_ms(chance.randint(300, 700))
    await aio.sleep(chance.random() / 100)
    placed_ns = world.now_ns()
    world.place_chip(sensor)
    lit_ns = await _lit_at(table, sensor)
    world.remove_chip(sensor)
    return Trial(placed_ns, calls.since(placed_ns), lit_ns)


async def _lit_at(table: FloorTable, sensor: str) -> int:
    """When the lamp IC's output changed, by the IC model's own clock."""
    for _ in range(WAIT_MAX_MS):
        await aio.sleep_ms(1)
        lit_ns = table.world.lamps.last_change_ns(sensor, "white")
        if table.world.level_now(sensor, "white") > 0:
            return lit_ns
    raise AssertionError(f"the light of {sensor} did not come on within {WAIT_MAX_MS} ms")
