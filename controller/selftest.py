"""Exercises every part of the hardware that a unit can reach, and gives a verdict for each.

It alone knows what "works" means for a part. It needs no person except for what only a person can
move (keys, key switch, card): those are read, and their state is told. It changes no round and no
money, and leaves the lights dark.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from hal import aio
from hal.board import Board
from hal.bus_recovery import BusRecovery
from hal.errors import ChipFault, HardwareFault
from hal.i2c import I2cBus

LIT_MS = 60
FULL = 4095
CARD_READER_OPEN_MS = 200
NOISE_SAMPLES = 5
NOISES_MAX = 8  # times what is usual for the sensing chip
KEY_TURN_MS = 300


@dataclass(frozen=True)
class Verdict:
    part: str
    passed: bool
    sentence: str


async def run_selftest(board: Board, references: Mapping[str, int]) -> list[Verdict]:
    """Tests the parts in the order a tech would: buses, lights, sensors, keys, cards, cabinet."""
    verdicts = [await _lamps(board, "lamps")]
    for sensor in board.sensors:
        verdicts.append(await _light(board, sensor.id))
    for name in board.chips:
        verdicts += await _sensors(board, name, references)
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


async def _judge(part: str, test: Callable[[], Awaitable[str]]) -> Verdict:
    """A test returns what it found, or raises what is wrong."""
    try:
        return Verdict(part, True, await test())
    except HardwareFault as fault:
        return Verdict(part, False, str(fault))


async def _lamps(board: Board, part: str) -> Verdict:
    async def test() -> str:
        await board.start_lamps()
        await board.lamps.check()
        return "the lamp chips are set up as told, and dark"

    return await _judge(part, test)


async def _light(board: Board, sensor: str) -> Verdict:
    async def test() -> str:
        for colour in ("white", "amber"):
            await board.lamps.set({(sensor, colour): FULL})
            await aio.sleep_ms(LIT_MS)
            held = await board.lamps.read_back((sensor, colour))
            await board.lamps.set({(sensor, colour): 0})
            if held != FULL:
                raise HardwareFault(f"The {colour} lamp's chip holds {held} instead of {FULL}.")
        return "white and amber lit, one after the other"

    return await _judge(f"light {sensor}", test)


async def _sensors(board: Board, name: str, references: Mapping[str, int]) -> list[Verdict]:
    places = sorted(
        (place for place in board.sensors if place.chip == name), key=lambda p: p.electrode
    )
    chip = board.chips[name]
    try:
        await chip.start([references[place.id] for place in places])
        samples = []
        for _ in range(NOISE_SAMPLES):
            await aio.sleep_ms(LIT_MS)
            samples.append(await chip.snapshot())
    except HardwareFault as fault:
        return [Verdict(f"sensor {place.id}", False, str(fault)) for place in places]
    verdicts = []
    for place in places:
        readings = [sample[place.electrode] for sample in samples]
        fault_reason = next((reading.fault for reading in readings if reading.fault), None)
        if fault_reason:
            verdicts.append(Verdict(f"sensor {place.id}", False, fault_reason))
            continue
        raw = [reading.raw for reading in readings]
        noise, delta = max(raw) - min(raw), readings[-1].delta
        there = "a chip or hand is there" if readings[-1].touched else "empty"
        found = f"raw {raw[-1]}, {delta} below its reference, noise {noise}: {there}"
        quiet = noise <= NOISES_MAX * chip.noise_counts_typical
        verdicts.append(Verdict(f"sensor {place.id}", quiet, found))
    return verdicts


async def _keypad(board: Board) -> Verdict | None:
    keypad = board.keypad
    if keypad is None:
        return None

    async def test() -> str:
        await keypad.start()
        held = await keypad.held()
        if held:
            raise HardwareFault(f"Held down although nobody presses: {', '.join(held)}.")
        return "answers, no key is stuck"

    return await _judge("keypad", test)


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

    return await _judge("key switch", test)


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

    return await _judge("card reader", test)


async def _tamper(board: Board) -> Verdict | None:
    line = board.tamper
    if line is None:
        return None

    async def test() -> str:
        return "the cabinet is open" if line.active else "the cabinet is closed"

    return await _judge("tamper switch", test)


def _bus(part: str, fault_count: int) -> Verdict:
    if fault_count:
        return Verdict(part, False, f"{fault_count} transfers failed and had to be repeated")
    return Verdict(part, True, "no transfer failed")


async def _recovery(board: Board, number: int, bus: I2cBus, recovery: BusRecovery) -> Verdict:
    """Frees the bus although nothing holds it: the night on which one does is too late to learn."""

    async def test() -> str:
        await board.start_lamps()
        await bus.rehearse_recovery()
        if not recovery.switches_supply:
            return "the unit can clock a held bus free; nothing is wired to cut its supply"
        if number in board.lamp_buses:
            await _require_supply_was_cut(board)
        return "the unit can clock a held bus free and cut its supply"

    return await _judge(f"recovery of bus {number}", test)


async def _require_supply_was_cut(board: Board) -> None:
    try:
        await board.lamps.check()
    except ChipFault:
        return
    raise HardwareFault("The supply was switched off, but the lamp chips still had it.")
