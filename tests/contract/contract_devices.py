"""What every backend's lines, serial port, board and disk worker must do."""

from __future__ import annotations

import asyncio

from hal.aio import ThreadSafeFlag, sleep_ms, wait_for_ms
from hal.devices.card_reader import BadSwipe, CardReader, Swipe
from hal.devices.keypad import KeyChord, KeyPress
from hal.errors import HardwareFault
from sim.hardware.card_reader import account_of
from tests.contract.contract_rig import (
    EDGE_MAX_MS,
    KEYPAD_TABLE,
    TOUCH_TABLE,
    Rig,
    on,
    refused,
    until,
)

# -- lines -----------------------------------------------------------------------------------


@on(TOUCH_TABLE)
async def a_line_shows_the_level_of_its_wire(rig: Rig) -> None:
    with rig.line(rig.tamper_gpio) as line:
        assert line.active
        rig.world.controls.tamper(open=True)
        await until(lambda: not line.active, "the open switch reads high")
        rig.world.controls.tamper(open=False)
        await until(lambda: line.active, "the closed switch reads low")


@on(TOUCH_TABLE)
async def both_edges_wake_whoever_waits(rig: Rig) -> None:
    with rig.line(rig.tamper_gpio) as line:
        for lid_open in (True, False, True, False):
            edges_before = line.edge_count
            rig.world.controls.tamper(open=lid_open)
            await wait_for_ms(line.changed(), EDGE_MAX_MS)
            assert line.edge_count == edges_before + 1
            assert line.active != lid_open


@on(TOUCH_TABLE)
async def an_edge_that_nobody_awaited_is_not_lost(rig: Rig) -> None:
    with rig.line(rig.tamper_gpio) as line:
        rig.world.controls.tamper(open=True)
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
        rig.world.controls.tamper(open=True)
        await wait_for_ms(line.changed(), EDGE_MAX_MS)
        rig.world.pins.drive(rig.interrupt_gpio, 1)
        await until(lambda: broken.edge_count == 2, "even the broken line goes on")


@on(TOUCH_TABLE)
async def closed_lines_can_be_opened_again_and_are_alive(rig: Rig) -> None:
    """All together: lgpio falls silent when only the line opened last is closed."""
    for _ in range(3):
        with rig.line(rig.interrupt_gpio) as interrupt, rig.line(rig.tamper_gpio) as tamper:
            rig.world.controls.tamper(open=True)
            await wait_for_ms(tamper.changed(), EDGE_MAX_MS)
            rig.world.pins.drive(rig.interrupt_gpio, 0)
            await wait_for_ms(interrupt.changed(), EDGE_MAX_MS)
            assert interrupt.active
            assert not tamper.active
        rig.world.controls.tamper(open=False)
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
        rig.world.controls.swipe("EXECUTIVE")
        assert await wait_for_ms(waiting, 1000) == Swipe(account_of("EXECUTIVE"))
        rig.world.controls.half_swipe("SUPERVISOR")
        assert isinstance(await wait_for_ms(reader.read(), 1000), BadSwipe)
        rig.world.controls.swipe("SUPERVISOR")
        assert await wait_for_ms(reader.read(), 1000) == Swipe(account_of("SUPERVISOR"))
    finally:
        reader.close()


# -- the whole board -------------------------------------------------------------------------


@on(TOUCH_TABLE)
async def a_chip_on_the_felt_pulls_the_interrupt_until_it_is_read(rig: Rig) -> None:
    with rig.opened_board() as board:
        ic = board.ics["sense-1"]
        await ic.start(await ic.measure())
        assert ic.interrupt is not None
        assert await ic.read_touched() == 0
        rig.world.place_chip("3A")
        await wait_for_ms(ic.interrupt.changed(), EDGE_MAX_MS)
        assert ic.interrupt.active
        assert await ic.read_touched() == 1 << 2
        interrupt = ic.interrupt
        await until(lambda: not interrupt.active, "reading lets go of the interrupt")
        readings = await ic.snapshot()
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
        await board.start_lamps()
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
            rig.world.controls.press(name, hold_ms=150)
            assert await wait_for_ms(waiting, 1000) == KeyPress(name)
            waiting = asyncio.create_task(board.keypad.next_press())
            await sleep_ms(400)
        rig.world.controls.press_together(list(rig.board.keypad.keys), hold_ms=150)
        chord = await wait_for_ms(waiting, 1000)
        assert isinstance(chord, KeyChord)
        assert set(chord.names) == set(rig.board.keypad.keys)


@on(KEYPAD_TABLE)
async def the_key_turns_there_and_back_without_a_fault(rig: Rig) -> None:
    with rig.opened_board() as board:
        assert board.keyswitch is not None
        assert board.keyswitch.position == "RUN"
        for position in ("JPH", "RUN"):
            rig.world.controls.turn_key(position)
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
