"""Exercises every part of the hardware that a unit can reach, and gives a verdict for each.

It alone knows what "works" means for a part; for a sensor `selftest_sensors` does. It needs no
person except for what only a person can move (keys, key switch, card): those are read, and their
state is told. It changes no round and no money, and leaves the lights dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from controller.core.sensing import Spot
from controller.selftest_sensors import sensor_verdicts
from controller.sensors import make_spots
from controller.verdict import Verdict, judge
from hal import aio
from hal.board import Board
from hal.bus_recovery import BusRecovery
from hal.chips.pca9685 import Pca9685
from hal.chips.tca9548a import Tca9548a
from hal.errors import ChipFault, HardwareFault
from hal.i2c import I2cBus
from hal.lamps import COLOURS

LIT_MS = 60
FULL = 4095
CARD_READER_OPEN_MS = 200
KEY_TURN_MS = 300


async def run_selftest(
    board: Board,
    references: Mapping[str, int],
    spots: Mapping[str, Spot] | None = None,
) -> list[Verdict]:
    """Tests the parts in the order a tech would: buses, lights, sensors, keys, cards, cabinet.

    `spots` are as calibrated and as they were left; without them the chips' usual figures hold.
    """
    verdicts = [await _lamps(board, "lamps")]
    for sensor in board.sensors:
        verdicts.append(await _light(board, sensor.id))
    for name, mux in board.muxes.items():
        verdicts.append(await _mux(name, mux))
    verdicts += await sensor_verdicts(board, references, spots or make_spots(board, {}))
    for test in (_keypad, _keyswitch, _card_reader, _tamper):
        verdict = await test(board)
        if verdict:
            verdicts.append(verdict)
    for number, bus in board.buses.items():
        verdicts.append(_bus(f"bus {number}", bus.fault_count))
        if bus.recovery is not None:
            verdicts.append(await _recovery(board, number, bus, bus.recovery))
    verdicts.append(await _lamps(board, "lamps after the test"))
    return verdicts


async def _lamps(board: Board, part: str) -> Verdict:
    async def test() -> str:
        await _start_lamps(board)
        return "the lamp chips are set up as told, and dark"

    return await judge(part, test)


async def _start_lamps(board: Board) -> None:
    """Raises a HardwareFault that names each lamp chip that is not as it should be."""
    try:
        await board.start_lamps()
        await board.lamps.check()
    except HardwareFault as fault:
        raise HardwareFault(await _lamp_faults(board) or str(fault)) from fault


async def _lamp_faults(board: Board) -> str:
    found = [
        await judge(name, partial(_check, chip), f"{name} ({chip.label})")
        for name, chip in board.lamps.chips.items()
    ]
    return " ".join(verdict.sentence for verdict in found if not verdict.passed)


async def _check(chip: Pca9685) -> str:
    await chip.check()
    return ""


async def _light(board: Board, sensor: str) -> Verdict:
    name = board.lamps.place((sensor, "white")).chip
    chip = board.lamps.chips[name]

    async def test() -> str:
        # To its chip alone: the bank would also tell of every other chip that fails.
        await _wake(chip)
        for colour in COLOURS:
            channel = board.lamps.place((sensor, colour)).channel
            await chip.write({channel: FULL})
            await aio.sleep_ms(LIT_MS)
            held = await chip.read_back(channel)
            await chip.write({channel: 0})
            if held != FULL:
                raise HardwareFault(f"The {colour} lamp's chip holds {held} instead of {FULL}.")
        return "white and amber lit, one after the other"

    return await judge(f"light {sensor}", test, f"{name} ({chip.label})")


async def _wake(chip: Pca9685) -> None:
    """A chip that lost its supply since, as when the bus had to be freed, is set up again."""
    try:
        await chip.check()
    except ChipFault:
        await chip.start()


async def _mux(name: str, mux: Tca9548a) -> Verdict:
    async def test() -> str:
        await mux.check()
        return "answers"

    return await judge(f"multiplexer {name}", test, mux.label)


async def _keypad(board: Board) -> Verdict | None:
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


async def _keyswitch(board: Board) -> Verdict | None:
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


async def _card_reader(board: Board) -> Verdict | None:
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


async def _tamper(board: Board) -> Verdict | None:
    line = board.tamper
    if line is None:
        return None

    async def test() -> str:
        return "the cabinet is open" if line.active else "the cabinet is closed"

    return await judge("tamper switch", test)


def _bus(part: str, fault_count: int) -> Verdict:
    if fault_count:
        return Verdict(part, False, f"{fault_count} transfers failed and had to be repeated")
    return Verdict(part, True, "no transfer failed")


async def _recovery(board: Board, number: int, bus: I2cBus, recovery: BusRecovery) -> Verdict:
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
    except ChipFault:
        return
    raise HardwareFault("The supply was switched off, but the lamp chips still had it.")
