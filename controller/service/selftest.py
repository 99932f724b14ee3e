"""Exercises every part of the hardware that a unit can reach, and gives a verdict for each.

It alone knows what "works" means for a part; for a sensor `selftest_sensors` does. It needs no
person except for what only a person can move (keys, key switch, card): those are read, and their
state is told. It changes no round and no money, and leaves the lights dark.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial

from controller.core.felt.spot import Spot
from controller.felt.ic_watch import make_spots
from controller.service.part_result import PartResult, judge
from controller.service.selftest_sensors import sensor_verdicts
from hal import aio
from hal.board.open import Board
from hal.bus.i2c import I2cBus
from hal.bus.recovery import BusRecovery
from hal.devices.lamps import COLOURS
from hal.errors import HardwareFault, IcFault
from hal.ics.pca9685 import Pca9685
from hal.ics.tca9548a import Tca9548a

LIT_MS = 60
FULL = 4095
CARD_READER_OPEN_MS = 200
KEY_TURN_MS = 300
# Every place of the glass is written, and a dead row or column is seen at once.
TEST_ROWS = (" TEXT DISPLAY TEST  ", "#" * 20, "0123456789" * 2, "#" * 20)


async def run_selftest(
    board: Board,
    references: Mapping[str, int],
    spots: Mapping[str, Spot] | None = None,
    tell: Callable[[PartResult], None] = lambda verdict: None,
) -> list[PartResult]:
    """Tests the parts in the order a tech would: lights, sensors, keys, text, cards, lid, buses.

    `spots` are as calibrated and as they were left; without them the ICs' usual figures hold.
    `tell` hears each verdict as soon as it is known.
    """
    verdicts: list[PartResult] = []
    async for verdict in _each_verdict(board, references, spots or make_spots(board, {})):
        verdicts.append(verdict)
        tell(verdict)
    return verdicts


async def _each_verdict(
    board: Board, references: Mapping[str, int], spots: Mapping[str, Spot]
) -> AsyncIterator[PartResult]:
    # What failed before, in days of play, is told by the counters and is no verdict of today.
    failed_before = {number: bus.fault_count for number, bus in board.buses.items()}
    yield await _lamps(board, "lamps")
    for sensor in board.sensors:
        yield await _light(board, sensor.id)
    for name, mux in board.muxes.items():
        yield await _mux(name, mux)
    for ic in board.ics:
        for verdict in await sensor_verdicts(board, ic, references, spots):
            yield verdict
    for test in (_keypad, _text_display, _keyswitch, _card_reader, _shuffler, _tamper):
        tested = await test(board)
        if tested:
            yield tested
    for number, bus in board.buses.items():
        yield _bus(f"bus {number}", bus.fault_count - failed_before[number])
        if bus.recovery is not None:
            yield await _recovery(board, number, bus, bus.recovery)
    yield await _lamps(board, "lamps after the test")
    text = await _text_display(board, "text display after the test")
    if text:
        yield text


async def _lamps(board: Board, part: str) -> PartResult:
    async def test() -> str:
        await _start_lamps(board)
        return "the lamp ICs are set up as told, and dark"

    return await judge(part, test)


async def _start_lamps(board: Board) -> None:
    """Raises a HardwareFault that names each lamp IC that is not as it should be."""
    try:
        await board.start_lamps()
        await board.lamps.check()
    except HardwareFault as fault:
        raise HardwareFault(await _lamp_faults(board) or str(fault)) from fault


async def _lamp_faults(board: Board) -> str:
    found = [
        await judge(name, partial(_check, ic), f"{name} ({ic.label})")
        for name, ic in board.lamps.ics.items()
    ]
    return " ".join(verdict.sentence for verdict in found if not verdict.passed)


async def _check(ic: Pca9685) -> str:
    await ic.check()
    return ""


async def _light(board: Board, sensor: str) -> PartResult:
    name = board.lamps.place((sensor, "white")).ic
    ic = board.lamps.ics[name]

    async def test() -> str:
        # To its IC alone: the bank would also tell of every other IC that fails.
        await _wake(ic)
        for colour in COLOURS:
            channel = board.lamps.place((sensor, colour)).channel
            await ic.write({channel: FULL})
            await aio.sleep_ms(LIT_MS)
            held = await ic.read_back(channel)
            await ic.write({channel: 0})
            if held != FULL:
                raise HardwareFault(f"The {colour} lamp's IC holds {held} instead of {FULL}.")
        return "white and amber lit, one after the other"

    return await judge(f"light {sensor}", test, f"{name} ({ic.label})")


async def _wake(ic: Pca9685) -> None:
    """An IC that lost its supply since, as when the bus had to be freed, is set up again."""
    try:
        await ic.check()
    except IcFault:
        await ic.start()


async def _mux(name: str, mux: Tca9548a) -> PartResult:
    async def test() -> str:
        await mux.check()
        return "answers"

    return await judge(f"multiplexer {name}", test, mux.label)


async def _keypad(board: Board) -> PartResult | None:
    keypad = board.keypad
    if keypad is None:
        return None

    async def test() -> str:
        await keypad.start()
        held = await keypad.held()
        if held:
            raise HardwareFault(f"Held down although nobody presses: {', '.join(held)}.")
        if await keypad.is_line_held():
            raise HardwareFault("Its interrupt line stays low although it was read: shorted.")
        return "answers, no key is stuck"

    return await judge("keypad", test, keypad.label)


async def _text_display(board: Board, part: str = "text display") -> PartResult | None:
    display = board.text_display
    if display is None:
        return None

    async def test() -> str:
        # It may have lost its supply, as in the test of the bus's recovery: that is noticed by a
        # look, and `show` then sets it up anew. What still fails after that is a fault.
        with contextlib.suppress(IcFault):
            await display.check()
        await display.show(TEST_ROWS)
        await display.check()
        return 'answers; look whether it says "TEXT DISPLAY TEST" and every other place is filled'

    return await judge(part, test, display.label)


async def _keyswitch(board: Board) -> PartResult | None:
    keyswitch = board.keyswitch
    if keyswitch is None:
        return None

    async def test() -> str:
        # A key that is just being turned is no fault; one that stays between is.
        looks = [keyswitch.position]
        await aio.sleep_ms(KEY_TURN_MS)
        looks.append(keyswitch.position)
        if looks[-1] == "FAULT":
            raise HardwareFault("The key's two contacts disagree.")
        return f"stands at {looks[-1]}"

    return await judge("key switch", test)


async def _card_reader(board: Board) -> PartResult | None:
    reader = board.card_reader
    if reader is None:
        return None

    async def test() -> str:
        try:
            await aio.wait_for_ms(reader.read(), CARD_READER_OPEN_MS)
        except aio.TimeoutError:
            if reader.plugged:
                return "is plugged in"
        raise HardwareFault("The card reader's port cannot be opened, or it sends by itself.")

    return await judge("card reader", test)


async def _shuffler(board: Board) -> PartResult | None:
    feed = board.shuffler
    if feed is None:
        return None

    async def test() -> str:
        await aio.wait_for_ms(feed.read(), CARD_READER_OPEN_MS)
        if not feed.plugged:
            raise HardwareFault("The shuffler's port cannot be opened.")
        return "its port is open; whether it speaks is seen at its next deal"

    return await judge("shuffler", test)


async def _tamper(board: Board) -> PartResult | None:
    line = board.tamper
    if line is None:
        return None

    async def test() -> str:
        return "the cabinet is open" if line.active else "the cabinet is closed"

    return await judge("tamper switch", test)


def _bus(part: str, fault_count: int) -> PartResult:
    if fault_count:
        return PartResult(part, False, f"{fault_count} transfers failed and had to be repeated")
    return PartResult(part, True, "no transfer failed")


async def _recovery(board: Board, number: int, bus: I2cBus, recovery: BusRecovery) -> PartResult:
    """Frees the bus although nothing holds it: the night on which one does is too late to learn."""

    async def test() -> str:
        await _start_lamps(board)
        await bus.rehearse_recovery()
        if not recovery.switches_supply:
            return "the unit can clock a held bus free; nothing is wired to cut its supply"
        if number in board.lamp_buses:
            await _require_supply_was_cut(board)
        return "the unit can clock a held bus free and cut its supply"

    return await judge(f"recovery of bus {number}", test)


async def _require_supply_was_cut(board: Board) -> None:
    try:
        await board.lamps.check()
    except IcFault:
        return
    raise HardwareFault("The supply was switched off, but the lamp ICs still had it.")
