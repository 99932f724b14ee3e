"""What every backend must do, whoever made it: checks that take a rig and know no backend.

`test_backend_contract` runs them over the simulator's backend in virtual time; inside the guest the
same functions run over the shipped Raspberry Pi backend on a real kernel (`tests/kernel`). They act
on the world (chips, wires, cards, faults) and look through the backend. No test library is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from smbus2 import i2c_msg

from hal.aio import ThreadSafeFlag, sleep_ms, ticks_diff, ticks_ms, wait_for_ms
from hal.backend import Backend
from hal.board import Board
from hal.board_config import BoardConfig
from hal.card_reader import BadSwipe, CardReader, Swipe
from hal.errors import BusFault, HardwareFault
from hal.i2c import I2cBus, SMBusLike, read_registers, write_registers
from hal.keypad import KeyChord, KeyPress
from hal.lines import InputLine
from sim.card_machine import account_of
from sim.i2c import Adapter

BUS = 1
SENSE, LIGHTS = 0x5A, 0x40
NOBODY = 0x33
AFE2, DEBOUNCE, THRESHOLDS = 0x5D, 0x5B, 0x41
MODE1, LED0 = 0x00, 0x06
AUTO_INCREMENT_ASLEEP = 0x30
EDGE_MAX_MS = 500
TOUCH_TABLE, KEYPAD_TABLE = "four-card-touch", "four-card-keypad"


@dataclass
class Rig:
    """One table's devices through a backend, the world behind them, and its errno numbers."""

    backend: Backend
    board: BoardConfig
    world: Any
    adapter: Adapter

    @asynccontextmanager
    async def bus(self) -> AsyncIterator[I2cBus]:
        bus = I2cBus(str(BUS), *self.backend.open_i2c(BUS, 400_000))
        try:
            yield bus
        finally:
            bus.close()

    @contextmanager
    def line(self, gpio: int, active_low: bool = True) -> Iterator[InputLine]:
        line = InputLine(f"line {gpio}", self.backend.pin_factory(), gpio, active_low, pull_up=True)
        try:
            yield line
        finally:
            line.close()

    @contextmanager
    def opened_board(self) -> Iterator[Board]:
        board = Board.from_config(self.board, self.backend)
        try:
            yield board
        finally:
            board.close()

    @property
    def tamper_gpio(self) -> int:
        assert self.board.tamper is not None
        return self.board.tamper.gpio

    @property
    def interrupt_gpio(self) -> int:
        gpio = self.board.chip("sense-1").interrupt_gpio
        assert gpio is not None
        return gpio


Check = Callable[[Rig], Awaitable[None]]
CHECKS: dict[str, tuple[str, Check]] = {}
"""Each check by its name, with the table it wants."""


def on(table: str) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        name = getattr(check, "__name__", "").replace("_", " ")
        CHECKS[name] = (table, check)
        return check

    return register


async def until(condition: Callable[[], bool], what: str, timeout_ms: int = EDGE_MAX_MS) -> None:
    began = ticks_ms()
    while not condition():
        assert ticks_diff(ticks_ms(), began) < timeout_ms, f"within {timeout_ms} ms: {what}"
        await sleep_ms(2)


@contextmanager
def refused(kind: type[Exception]) -> Iterator[list[Exception]]:
    """The block must raise `kind`; it is in the list afterwards."""
    caught: list[Exception] = []
    try:
        yield caught
    except kind as error:
        caught.append(error)
    assert caught, f"nothing was refused; a {kind.__name__} was due"


async def fault_of(bus: I2cBus, job: Callable[[SMBusLike], object]) -> BusFault:
    with refused(BusFault) as caught:
        await bus.run(job)
    fault = caught[0]
    assert isinstance(fault, BusFault)
    return fault


def read_afe2(smbus: SMBusLike) -> int:
    return smbus.read_byte_data(SENSE, AFE2)


# -- the bus ---------------------------------------------------------------------------------


@on(TOUCH_TABLE)
async def a_register_reads_what_the_chip_holds(rig: Rig) -> None:
    async with rig.bus() as bus:
        assert await bus.run(read_afe2) == 0x24
        assert await bus.run(lambda smbus: smbus.read_byte_data(LIGHTS, MODE1)) == 0x11


@on(TOUCH_TABLE)
async def a_register_keeps_what_was_written(rig: Rig) -> None:
    async with rig.bus() as bus:
        await bus.run(lambda smbus: smbus.write_byte_data(SENSE, DEBOUNCE, 0x11))
        assert await bus.run(lambda smbus: smbus.read_byte_data(SENSE, DEBOUNCE)) == 0x11


@on(TOUCH_TABLE)
async def blocks_of_every_smbus_length_come_back_whole(rig: Rig) -> None:
    async with rig.bus() as bus:
        for length in (1, 2, 7, 13, 24):
            data = [(17 * place + length) & 0xFF for place in range(length)]
            await bus.run(lambda smbus, d=data: write_registers(smbus, SENSE, THRESHOLDS, d))
            found = await bus.run(
                lambda smbus, n=length: read_registers(smbus, SENSE, THRESHOLDS, n)
            )
            assert list(found) == data


@on(TOUCH_TABLE)
async def transfers_beyond_32_bytes_come_back_whole(rig: Rig) -> None:
    """The register and 15 channels: the longest write that every adapter takes."""
    frame = [value for channel in range(15) for value in (0, 0, channel + 1, channel % 16)]
    async with rig.bus() as bus:
        await bus.run(lambda smbus: smbus.write_byte_data(LIGHTS, MODE1, AUTO_INCREMENT_ASLEEP))
        await bus.run(lambda smbus: write_registers(smbus, LIGHTS, LED0, frame))
        assert list(await bus.run(lambda smbus: read_registers(smbus, LIGHTS, LED0, 60))) == frame
        assert len(await bus.run(lambda smbus: read_registers(smbus, SENSE, 0, 0x2B))) == 0x2B


@on(TOUCH_TABLE)
async def a_repeated_start_joins_write_and_read(rig: Rig) -> None:
    async with rig.bus() as bus:
        joined = i2c_msg.read(SENSE, 1)
        await bus.run(lambda smbus: smbus.i2c_rdwr(i2c_msg.write(SENSE, [AFE2]), joined))
        assert list(joined) == [0x24]


@on(TOUCH_TABLE)
async def a_read_alone_goes_on_where_the_chip_stands(rig: Rig) -> None:
    async with rig.bus() as bus:
        await bus.run(lambda smbus: smbus.i2c_rdwr(i2c_msg.write(SENSE, [AFE2])))
        alone = i2c_msg.read(SENSE, 2)
        await bus.run(lambda smbus: smbus.i2c_rdwr(alone))
        assert list(alone) == [0x24, 0x00]


@on(TOUCH_TABLE)
async def an_empty_address_is_a_fault_with_its_number(rig: Rig) -> None:
    async with rig.bus() as bus:
        fault = await fault_of(bus, lambda smbus: smbus.read_byte_data(NOBODY, 0))
        assert fault.errno == rig.adapter.nack, fault
        fault = await fault_of(bus, lambda smbus: smbus.write_byte_data(NOBODY, 0, 0))
        assert fault.errno == rig.adapter.nack, fault
        assert await bus.run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def two_lost_acknowledges_are_survived_and_a_third_is_a_fault(rig: Rig) -> None:
    async with rig.bus() as bus:
        rig.world.faults.nack("sense-1", count=2)
        assert await bus.run(read_afe2) == 0x24
        assert bus.fault_count == 2
        rig.world.faults.nack("sense-1", count=3)
        fault = await fault_of(bus, read_afe2)
        assert fault.errno == rig.adapter.nack, fault
        assert rig.world.faults.struck["nack"] == 5


@on(TOUCH_TABLE)
async def a_silent_chip_leaves_its_neighbour_alone(rig: Rig) -> None:
    async with rig.bus() as bus:
        rig.world.faults.nack("sense-1")
        await fault_of(bus, read_afe2)
        assert await bus.run(lambda smbus: smbus.read_byte_data(LIGHTS, MODE1)) == 0x11
        rig.world.faults.clear_bus(BUS)
        assert await bus.run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def lost_arbitration_is_survived_twice_and_has_its_number(rig: Rig) -> None:
    async with rig.bus() as bus:
        rig.world.faults.lose_arbitration(BUS, count=2)
        assert await bus.run(read_afe2) == 0x24
        rig.world.faults.lose_arbitration(BUS, count=3)
        fault = await fault_of(bus, read_afe2)
        assert fault.errno == rig.adapter.arbitration, fault
        assert await bus.run(read_afe2) == 0x24
        assert rig.world.faults.struck["arbitration"] == 5


@on(TOUCH_TABLE)
async def a_held_bus_is_a_fault_in_bounded_time_and_heals(rig: Rig) -> None:
    async with rig.bus() as bus:
        rig.world.faults.stick_bus(BUS)
        began = ticks_ms()
        fault = await fault_of(bus, read_afe2)
        assert fault.errno == rig.adapter.stuck, fault
        assert 60 <= ticks_diff(ticks_ms(), began) <= 400
        assert rig.world.faults.struck["stuck"] >= 3
        rig.world.faults.release_bus(BUS)
        assert await bus.run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def a_held_bus_does_not_hold_the_loop(rig: Rig) -> None:
    longest_ms = 0

    async def tick() -> None:
        nonlocal longest_ms
        while True:
            before = ticks_ms()
            await sleep_ms(5)
            longest_ms = max(longest_ms, ticks_diff(ticks_ms(), before))

    async with rig.bus() as bus:
        rig.world.faults.stick_bus(BUS)
        ticking = asyncio.create_task(tick())
        await fault_of(bus, read_afe2)
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        rig.world.faults.release_bus(BUS)
    assert 5 <= longest_ms <= 25, f"the loop stood still for {longest_ms} ms"


@on(TOUCH_TABLE)
async def a_short_read_is_a_fault_and_never_a_value(rig: Rig) -> None:
    async with rig.bus() as bus:
        for count in (2, 0x2B):
            rig.world.faults.short_read("sense-1", count=3)
            await fault_of(bus, lambda smbus, n=count: read_registers(smbus, SENSE, 0, n))
        assert rig.world.faults.struck["short read"] == 6
        assert await bus.run(read_afe2) == 0x24


@on(TOUCH_TABLE)
async def many_conversations_at_once_do_not_mix(rig: Rig) -> None:
    async with rig.bus() as bus:
        await bus.run(lambda smbus: smbus.write_byte_data(LIGHTS, MODE1, AUTO_INCREMENT_ASLEEP))

        async def converse(number: int) -> None:
            address, register = (SENSE, THRESHOLDS) if number % 2 else (LIGHTS, LED0)
            data = [number, number % 16]

            def job(smbus: SMBusLike) -> bytes:
                write_registers(smbus, address, register, data)
                return read_registers(smbus, address, register, 2)

            assert list(await bus.run(job)) == data

        await asyncio.gather(*(converse(number) for number in range(30)))


@on(TOUCH_TABLE)
async def a_bus_that_is_not_there_is_refused_in_words(rig: Rig) -> None:
    with refused(HardwareFault) as caught:
        rig.backend.open_i2c(31, 400_000)
    assert "I2C bus 31 could not be opened" in str(caught[0])


@on(TOUCH_TABLE)
async def a_closed_bus_takes_no_more_jobs(rig: Rig) -> None:
    async with rig.bus() as bus:
        await bus.run(read_afe2)
    with refused(HardwareFault):
        await bus.run(read_afe2)


# -- lines -----------------------------------------------------------------------------------


@on(TOUCH_TABLE)
async def a_line_shows_the_level_of_its_wire(rig: Rig) -> None:
    with rig.line(rig.tamper_gpio) as line:
        assert line.active
        rig.world.tamper(open=True)
        await until(lambda: not line.active, "the open switch reads high")
        rig.world.tamper(open=False)
        await until(lambda: line.active, "the closed switch reads low")


@on(TOUCH_TABLE)
async def both_edges_wake_whoever_waits(rig: Rig) -> None:
    with rig.line(rig.tamper_gpio) as line:
        for lid_open in (True, False, True, False):
            edges_before = line.edge_count
            rig.world.tamper(open=lid_open)
            await wait_for_ms(line.changed(), EDGE_MAX_MS)
            assert line.edge_count == edges_before + 1
            assert line.active != lid_open


@on(TOUCH_TABLE)
async def an_edge_that_nobody_awaited_is_not_lost(rig: Rig) -> None:
    with rig.line(rig.tamper_gpio) as line:
        rig.world.tamper(open=True)
        await until(lambda: line.edge_count == 1, "the edge is counted")
        await sleep_ms(1)
        await wait_for_ms(line.changed(), 5)


@on(TOUCH_TABLE)
async def an_error_at_one_line_leaves_the_others_alive(rig: Rig) -> None:
    class Broken(ThreadSafeFlag):
        def set(self) -> None:
            raise ValueError("a mistake in somebody's callback")

    with rig.line(rig.interrupt_gpio) as broken, rig.line(rig.tamper_gpio) as line:
        broken.also_set(Broken())
        rig.world.pins.drive(rig.interrupt_gpio, 0)
        await until(lambda: broken.edge_count == 1, "the broken line's edge is counted")
        rig.world.tamper(open=True)
        await wait_for_ms(line.changed(), EDGE_MAX_MS)
        rig.world.pins.drive(rig.interrupt_gpio, 1)
        await until(lambda: broken.edge_count == 2, "even the broken line goes on")


@on(TOUCH_TABLE)
async def closed_lines_can_be_opened_again_and_are_alive(rig: Rig) -> None:
    """All together: lgpio falls silent when only the line opened last is closed (`hal.lines`)."""
    for _ in range(3):
        with rig.line(rig.interrupt_gpio) as interrupt, rig.line(rig.tamper_gpio) as tamper:
            rig.world.tamper(open=True)
            await wait_for_ms(tamper.changed(), EDGE_MAX_MS)
            rig.world.pins.drive(rig.interrupt_gpio, 0)
            await wait_for_ms(interrupt.changed(), EDGE_MAX_MS)
            assert interrupt.active
            assert not tamper.active
        rig.world.tamper(open=False)
        rig.world.pins.drive(rig.interrupt_gpio, 1)


@on(TOUCH_TABLE)
async def a_line_in_use_is_refused(rig: Rig) -> None:
    with (
        rig.line(rig.tamper_gpio),
        refused(HardwareFault) as caught,
        rig.line(rig.tamper_gpio),
    ):
        pass
    assert f"GPIO {rig.tamper_gpio}" in str(caught[0])


# -- the card reader -------------------------------------------------------------------------


@on(TOUCH_TABLE)
async def cards_good_and_bad_come_through_the_serial_port(rig: Rig) -> None:
    assert rig.board.card_reader is not None
    reader = CardReader(rig.backend.serial_path(rig.board.card_reader.path))
    try:
        waiting = asyncio.create_task(reader.read())
        await sleep_ms(50)
        rig.world.swipe("EXECUTIVE")
        assert await wait_for_ms(waiting, 1000) == Swipe(account_of("EXECUTIVE"))
        rig.world.half_swipe("SUPERVISOR")
        assert isinstance(await wait_for_ms(reader.read(), 1000), BadSwipe)
        rig.world.swipe("SUPERVISOR")
        assert await wait_for_ms(reader.read(), 1000) == Swipe(account_of("SUPERVISOR"))
    finally:
        reader.close()


# -- the whole board -------------------------------------------------------------------------


@on(TOUCH_TABLE)
async def a_chip_on_the_felt_pulls_the_interrupt_until_it_is_read(rig: Rig) -> None:
    with rig.opened_board() as board:
        chip = board.chips["sense-1"]
        await chip.start(await chip.measure())
        assert chip.interrupt is not None
        assert await chip.read_touched() == 0
        rig.world.place_chip("3A")
        await wait_for_ms(chip.interrupt.changed(), EDGE_MAX_MS)
        assert chip.interrupt.active
        assert await chip.read_touched() == 1 << 2
        interrupt = chip.interrupt
        await until(lambda: not interrupt.active, "reading lets go of the interrupt")
        readings = await chip.snapshot()
        assert [reading.fault for reading in readings] == [None] * 7
        assert [reading.delta > 40 for reading in readings] == [n == 2 for n in range(7)]


@on(TOUCH_TABLE)
async def a_lamp_shines_as_it_was_told(rig: Rig) -> None:
    with rig.opened_board() as board:
        await board.start_lamps()
        await board.lamps.set({("3A", "white"): 4095, ("3A", "amber"): 2048})
        await sleep_ms(10)
        assert rig.world.level_now("3A", "white") == 1.0
        assert abs(rig.world.level_now("3A", "amber") - 0.5) < 0.01
        assert rig.world.level_now("2A", "white") == 0.0
        assert await board.lamps.read_back(("3A", "amber")) == 2048
        await board.lamps.all_off()
        await sleep_ms(10)
        assert rig.world.level_now("3A", "white") == 0.0


@on(KEYPAD_TABLE)
async def keys_are_told_by_name_and_all_at_once_as_a_chord(rig: Rig) -> None:
    assert rig.board.keypad is not None
    with rig.opened_board() as board:
        assert board.keypad is not None
        await board.keypad.start()
        waiting = asyncio.create_task(board.keypad.next_press())
        for name in ("START", "SEAT 7", "CANCEL"):
            rig.world.press(name, hold_ms=150)
            assert await wait_for_ms(waiting, 1000) == KeyPress(name)
            waiting = asyncio.create_task(board.keypad.next_press())
            await sleep_ms(400)
        rig.world.press_together(list(rig.board.keypad.keys), hold_ms=150)
        chord = await wait_for_ms(waiting, 1000)
        assert isinstance(chord, KeyChord)
        assert set(chord.names) == set(rig.board.keypad.keys)


@on(KEYPAD_TABLE)
async def the_key_turns_there_and_back_without_a_fault(rig: Rig) -> None:
    with rig.opened_board() as board:
        assert board.keyswitch is not None
        assert board.keyswitch.position == "RUN"
        for position in ("JPH", "RUN"):
            rig.world.turn_key(position)
            assert await wait_for_ms(board.keyswitch.changed(), 1000) == position


# -- the disk --------------------------------------------------------------------------------


@on(TOUCH_TABLE)
async def the_disk_worker_works_in_order_and_passes_errors_on(rig: Rig) -> None:
    worker = rig.backend.disk_worker()
    done: list[int] = []
    try:
        await asyncio.gather(*(worker.run(lambda n=n: done.append(n)) for n in range(20)))
        assert done == list(range(20))
        with refused(ZeroDivisionError):
            await worker.run(lambda: 1 // 0)
        assert await worker.run(lambda: 7) == 7
    finally:
        worker.close()
    with refused(HardwareFault):
        await worker.run(lambda: 7)
