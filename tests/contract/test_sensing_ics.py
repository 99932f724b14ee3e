"""One suite over every sensing IC: whichever measures the felt, the table is told the same.

The unchanged drivers run on the boards that ship, over the register models, with both published
accounts of what each IC does where its data sheet is silent. Mutations these catch: a sign, a
stale measure, an IC of another channel that answers, a fault that reads as an empty spot, and a
reference that is learnt from the felt after a reset.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from hal.aio import sleep_ms
from hal.board.config import BoardConfig, parse_board
from hal.board.open import Board
from hal.devices.capacitive import ElectrodeReading
from hal.errors import BusFault, SensorFault
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.ics.fdc1004 import DoneRule
from sim.hardware.ics.mpr121 import IrqRule
from sim.time.loop import run_virtual
from tests.kit.places import TABLES

# Longer than any IC takes to see a change, and than a dead electrode may go unnoticed.
SEEN_MS = 25
# A cycle of four measurements and a part of the next, a look every 3 ms, and its reading.
NEXT_MEASURE_MS = 16
NOTICED_MS = 300

Test = Callable[["Felt"], Awaitable[None]]


@dataclass(frozen=True)
class Kind:
    """A board that ships, and how its sensing ICs read what their makers left open."""

    table: str
    irq_rule: IrqRule = IrqRule.STATUS_READ
    done_rule: DoneRule = DoneRule.LOW_HALF_READ

    def board(self) -> BoardConfig:
        text = (TABLES / f"{self.table}.toml").read_text(encoding="utf-8")
        return parse_board(tomllib.loads(text)["board"])


KINDS = {
    "mpr121, status read": Kind("four-card-touch"),
    "mpr121, any traffic": Kind("four-card-touch", irq_rule=IrqRule.ANY_TRAFFIC),
    "fdc1004, low half": Kind("four-card-touch-fdc"),
    "fdc1004, high half": Kind("four-card-touch-fdc", done_rule=DoneRule.HIGH_HALF_READ),
}
SEATS = [f"{seat}A" for seat in range(1, 8)]


class Felt:
    """All sensing ICs of a board, asked by seat."""

    def __init__(self, world: World, board: Board) -> None:
        self.world = world
        self.board = board
        self.references: dict[str, list[int]] = {}

    async def start(self) -> None:
        for name, ic in self.board.ics.items():
            self.references[name] = await ic.measure()
            await ic.start(self.references[name])

    async def restart(self) -> None:
        for name, ic in self.board.ics.items():
            await ic.start(self.references[name])

    async def touched(self) -> list[str]:
        bits = {name: await ic.read_touched() for name, ic in self.board.ics.items()}
        places = self.board.sensors
        return [place.id for place in places if bits[place.ic] >> place.electrode & 1]

    async def readings(self) -> dict[str, ElectrodeReading]:
        snapshots = {name: await ic.snapshot() for name, ic in self.board.ics.items()}
        return {place.id: snapshots[place.ic][place.electrode] for place in self.board.sensors}

    async def present(self) -> list[str]:
        """Where half a usual chip is exceeded."""
        found = []
        for place in self.board.sensors:
            typical = self.board.ics[place.ic].chip_counts_typical
            if (await self.readings())[place.id].delta > typical / 2:
                found.append(place.id)
        return found

    async def faults(self) -> dict[str, str]:
        return {
            sensor: each.fault for sensor, each in (await self.readings()).items() if each.fault
        }

    def ic_of(self, sensor: str) -> str:
        return next(place.ic for place in self.board.sensors if place.id == sensor)

    def neighbours_of(self, sensor: str) -> list[str]:
        ic = self.ic_of(sensor)
        return [place.id for place in self.board.sensors if place.ic == ic]


@asynccontextmanager
async def opened(kind: Kind) -> AsyncIterator[Felt]:
    world = World(kind.board(), irq_rule=kind.irq_rule, done_rule=kind.done_rule)
    world.start()
    board = Board.from_config(world.board, SimBackend(world))
    try:
        yield Felt(world, board)
    finally:
        board.close()
        await world.close()


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def on_felt(request: pytest.FixtureRequest) -> Callable[[Test], None]:
    def play(test: Test) -> None:
        async def main() -> None:
            async with opened(request.param) as felt:
                await felt.start()
                await test(felt)

        run_virtual(main())

    return play


# -- what a chip on the felt does ------------------------------------------------------------


def test_an_empty_felt_is_its_own_reference(on_felt: Callable[[Test], None]) -> None:
    async def test(felt: Felt) -> None:
        readings = await felt.readings()
        assert list(readings) == SEATS
        assert {reading.fault for reading in readings.values()} == {None}
        assert {reading.delta for reading in readings.values()} == {0}
        assert await felt.touched() == []

    on_felt(test)


@pytest.mark.parametrize("seat", SEATS)
def test_a_chip_shows_at_its_seat_and_nowhere_else(
    on_felt: Callable[[Test], None], seat: str
) -> None:
    async def test(felt: Felt) -> None:
        felt.world.place_chip(seat)
        await sleep_ms(SEEN_MS)
        assert await felt.touched() == [seat]
        assert await felt.present() == [seat]
        felt.world.remove_chip(seat)
        await sleep_ms(SEEN_MS)
        assert await felt.touched() == []
        assert await felt.present() == []

    on_felt(test)


@pytest.mark.parametrize("first_phase_us", [0, 50, 100])
def test_a_chip_put_down_at_any_instant_is_seen_by_the_next_measure(
    on_felt: Callable[[Test], None], first_phase_us: int
) -> None:
    """Looked for every 3 ms, as a watch would: no measure is lost between two looks."""

    async def test(felt: Felt) -> None:
        for phase_us in range(first_phase_us, 10_000, 150):
            await sleep_ms(20)
            await asyncio.sleep(phase_us / 1e6)
            felt.world.place_chip("3A")
            placed_ns = felt.world.now_ns()
            while await felt.touched() != ["3A"]:
                await sleep_ms(3)
                waited_ms = (felt.world.now_ns() - placed_ns) / 1e6
                assert waited_ms < NEXT_MEASURE_MS, f"put down {phase_us} us into a cycle"
            felt.world.remove_chip("3A")
            while await felt.touched():
                await sleep_ms(3)

    on_felt(test)


@pytest.mark.parametrize("phase_us", range(0, 10_000, 500))
def test_a_chip_put_down_at_any_instant_is_never_read_as_part_of_one(
    on_felt: Callable[[Test], None], phase_us: int
) -> None:
    async def test(felt: Felt) -> None:
        ic = felt.board.ics[felt.ic_of("3A")]
        electrode = next(place.electrode for place in felt.board.sensors if place.id == "3A")
        await sleep_ms(10)
        await asyncio.sleep(phase_us / 1e6)
        felt.world.place_chip("3A")
        for _ in range(8):
            await ic.read_touched()
            reading = (await ic.snapshot())[electrode]
            part = reading.delta / ic.chip_counts_typical
            assert part < 0.12 or part > 0.7
            await sleep_ms(4)
        assert part > 0.7

    on_felt(test)


def test_the_scale_is_what_the_driver_says(on_felt: Callable[[Test], None]) -> None:
    async def test(felt: Felt) -> None:
        for seat in SEATS:
            felt.world.place_chip(seat)
        await sleep_ms(SEEN_MS)
        for seat, reading in (await felt.readings()).items():
            ic = felt.board.ics[felt.ic_of(seat)]
            assert 0 < reading.raw < reading.reference < ic.counts_full_scale
            assert 0.7 < reading.delta / ic.chip_counts_typical < 1.3
            assert ic.noise_counts_typical * 10 < ic.chip_counts_typical

    on_felt(test)


def test_a_chip_that_lies_for_an_hour_is_not_forgotten(on_felt: Callable[[Test], None]) -> None:
    async def test(felt: Felt) -> None:
        felt.world.place_chip("5A")
        await sleep_ms(3_600_000)
        assert await felt.touched() == ["5A"]
        assert await felt.present() == ["5A"]

    on_felt(test)


def test_a_start_from_other_references_counts_from_there_also_after_a_recovery(
    on_felt: Callable[[Test], None],
) -> None:
    """So a felt that has drifted is told to the IC: here by as much as what lies on it."""

    async def test(felt: Felt) -> None:
        for seat in SEATS:
            felt.world.place_chip(seat)
        await sleep_ms(SEEN_MS)
        lain = {name: await ic.measure() for name, ic in felt.board.ics.items()}
        for name, ic in felt.board.ics.items():
            await ic.start(lain[name])
        await sleep_ms(SEEN_MS)
        assert {each.delta for each in (await felt.readings()).values()} == {0}
        assert await felt.touched() == []
        for ic in felt.board.ics.values():
            await ic.recover()
        assert {each.delta for each in (await felt.readings()).values()} == {0}
        assert await felt.touched() == []

    on_felt(test)


def test_a_chip_that_lay_there_at_power_up_is_seen(on_felt: Callable[[Test], None]) -> None:
    async def test(felt: Felt) -> None:
        felt.world.place_chip("1A")
        felt.world.place_chip("7A")
        felt.world.cut_power()
        await sleep_ms(500)
        felt.world.restore_power()
        await felt.restart()
        assert await felt.present() == ["1A", "7A"]
        await sleep_ms(SEEN_MS)
        assert await felt.touched() == ["1A", "7A"]

    on_felt(test)


def test_an_ic_without_an_interrupt_says_how_often_to_look(
    on_felt: Callable[[Test], None],
) -> None:
    async def test(felt: Felt) -> None:
        for ic in felt.board.ics.values():
            assert (ic.poll_ms is None) == (ic.interrupt is not None)

    on_felt(test)


# -- what can go wrong with a sensing IC ---------------------------------------------------


def test_a_reset_is_a_fault_until_recovered_with_the_old_references(
    on_felt: Callable[[Test], None],
) -> None:
    async def test(felt: Felt) -> None:
        felt.world.place_chip("2A")
        await sleep_ms(SEEN_MS)
        felt.world.faults.reset_ic(felt.ic_of("2A"))
        assert await felt.faults() == dict.fromkeys(felt.neighbours_of("2A"), "IC reset itself")
        await felt.board.ics[felt.ic_of("2A")].recover()
        assert await felt.faults() == {}
        assert await felt.present() == ["2A"]

    on_felt(test)


@pytest.mark.parametrize("shorted", [True, False])
def test_a_dead_electrode_faults_alone_and_mends(
    on_felt: Callable[[Test], None], shorted: bool
) -> None:
    async def test(felt: Felt) -> None:
        felt.world.faults.break_electrode("4A", shorted=shorted)
        await sleep_ms(NOTICED_MS)
        assert list(await felt.faults()) == ["4A"]
        felt.world.faults.mend_electrode("4A")
        await sleep_ms(SEEN_MS)
        assert await felt.faults() == {}

    on_felt(test)


@pytest.mark.parametrize("shorted", [True, False])
def test_a_dead_electrode_at_power_up_is_never_an_empty_spot(
    on_felt: Callable[[Test], None], shorted: bool
) -> None:
    async def test(felt: Felt) -> None:
        felt.world.faults.break_electrode("4A", shorted=shorted)
        felt.world.cut_power()
        felt.world.restore_power()
        await felt.restart()
        assert list(await felt.faults()) == ["4A"]

    on_felt(test)


def test_a_dead_electrode_cannot_be_calibrated(on_felt: Callable[[Test], None]) -> None:
    async def test(felt: Felt) -> None:
        felt.world.faults.break_electrode("4A", shorted=True)
        await sleep_ms(NOTICED_MS)
        with pytest.raises(SensorFault, match="electrode 3 is out of range"):
            await felt.board.ics["sense-1"].measure()

    on_felt(test)


@pytest.mark.parametrize("method", ["read_touched", "snapshot", "measure", "recover"])
@pytest.mark.parametrize("misfortune", ["nack", "short_read"])
def test_an_ic_that_does_not_answer_is_a_fault_and_the_others_do(
    on_felt: Callable[[Test], None], method: str, misfortune: str
) -> None:
    async def test(felt: Felt) -> None:
        getattr(felt.world.faults, misfortune)("sense-1", count=30)
        with pytest.raises(BusFault):
            await getattr(felt.board.ics["sense-1"], method)()
        for name, ic in felt.board.ics.items():
            if name != "sense-1":
                assert await ic.read_touched() == 0
        await felt.board.start_lamps()

    on_felt(test)


@pytest.mark.parametrize("failing_transfer", range(1, 16))
def test_a_start_that_breaks_off_anywhere_ends_running_or_in_a_fault(
    on_felt: Callable[[Test], None], failing_transfer: int
) -> None:
    async def test(felt: Felt) -> None:
        felt.world.place_chip("3A")
        left = failing_transfer

        def count_down(_addressed: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                felt.world.faults.nack("sense-1", count=1)

        bus = felt.world.buses[1]
        wake, bus.on_transfer = bus.on_transfer, count_down
        await felt.board.ics["sense-1"].start(felt.references["sense-1"])
        bus.on_transfer = wake
        assert await felt.present() == ["3A"]

    on_felt(test)
