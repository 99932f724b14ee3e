"""The world end to end, spoken to with raw smbus2 calls and gpiozero devices: no driver of ours."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable

import gpiozero
import pytest
import serial
from smbus2 import i2c_msg

from hal.board_config import BoardConfig, parse_board
from hal.errors import HardwareFault
from hal.i2c import SMBusLike
from hal.worker import Worker
from sim.backend import SimBackend
from sim.card_machine import account_of, track2_of
from sim.chips.mpr121 import IrqRule
from sim.loop import run_virtual
from sim.world import World

MS = 1_000_000
SENSE, KEYS, LAMPS = 0x5A, 0x20, 0x40
SENSE_IRQ, KEYS_IRQ, RUN, JPH, LID = 17, 27, 22, 23, 24


def board() -> BoardConfig:
    return parse_board(
        {
            "backend": "simulated",
            "serial": "UF-TEST",
            "buses": [{"number": 1, "frequency_hz": 400_000}],
            "chips": [
                _chip("sense-1", "mpr121", SENSE, SENSE_IRQ),
                {"name": "lights-1", "kind": "pca9685", "bus": 1, "address": LAMPS},
                _chip("keys-1", "tca9555", KEYS, KEYS_IRQ),
            ],
            "sensors": [_sensor(seat) for seat in range(1, 8)],
            "keypad": {"chip": "keys-1", "keys": {"START": 0, "END": 1, "JPOT": 9}},
            "keyswitch": {"run_gpio": RUN, "jph_gpio": JPH},
            "tamper": {"gpio": LID},
            "card_reader": {"path": "/dev/ttyACM0"},
        }
    )


def _chip(name: str, kind: str, address: int, gpio: int) -> dict[str, object]:
    return {"name": name, "kind": kind, "bus": 1, "address": address, "interrupt_gpio": gpio}


def _sensor(seat: int) -> dict[str, object]:
    return {
        "id": f"{seat}A",
        "chip": "sense-1",
        "electrode": seat - 1,
        "lamp_chip": "lights-1",
        "white_channel": 2 * seat - 2,
        "amber_channel": 2 * seat - 1,
    }


class Bench:
    """Raw hands on the board: registers and wires, nothing of the product's drivers."""

    def __init__(self, world: World) -> None:
        self.world = world
        backend = SimBackend(world)
        self.smbus: SMBusLike
        self.worker: Worker
        self.smbus, self.worker = backend.open_i2c(1, 400_000)
        self.edges: list[tuple[int, int, bool]] = []
        self.lines = {
            gpio: gpiozero.DigitalInputDevice(gpio, pull_up=True, pin_factory=backend.pin_factory())
            for gpio in (SENSE_IRQ, KEYS_IRQ, RUN, JPH, LID)
        }
        for gpio, line in self.lines.items():
            line.when_activated = self._noter(gpio, low=True)
            line.when_deactivated = self._noter(gpio, low=False)

    def low(self, gpio: int) -> bool:
        return bool(self.lines[gpio].is_active)

    async def put(self, address: int, register: int, *values: int) -> None:
        message = i2c_msg.write(address, [register, *values])
        await self.worker.run(lambda: self.smbus.i2c_rdwr(message))

    async def get(self, address: int, register: int, count: int) -> bytes:
        read = i2c_msg.read(address, count)
        write = i2c_msg.write(address, [register])
        await self.worker.run(lambda: self.smbus.i2c_rdwr(write, read))
        return bytes(read)

    async def start_sensing(self) -> None:
        await self.put(SENSE, 0x80, 0x63)
        await self.put(SENSE, 0x41, *[12, 6] * 7)
        await self.put(SENSE, 0x5B, 0x11, 0x10, 0x20)
        empty = [self.world.felt.pad(f"{seat}A").empty_counts >> 2 for seat in range(1, 8)]
        await self.put(SENSE, 0x1E, *empty)
        await self.put(SENSE, 0x5E, 0x47)
        await asyncio.sleep(0.02)

    async def start_lamps(self) -> None:
        await self.put(LAMPS, 0x00, 0x30)
        await self.put(LAMPS, 0xFE, 3)
        await self.put(LAMPS, 0x00, 0x20)
        await asyncio.sleep(0.001)

    def close(self) -> None:
        for line in self.lines.values():
            line.close()

    def _noter(self, gpio: int, low: bool) -> Callable[[], None]:
        return lambda: self.edges.append((self.world.now_ns(), gpio, low))


def play(
    scene: Callable[[World, Bench], Awaitable[None]],
    seed: int = 1,
    irq_rule: IrqRule = IrqRule.STATUS_READ,
) -> None:
    async def whole() -> None:
        world = World(board(), seed, irq_rule)
        world.start()
        bench = Bench(world)
        try:
            await scene(world, bench)
        finally:
            bench.close()
            await world.close()

    run_virtual(whole())


# -- chips -----------------------------------------------------------------------------------


@pytest.mark.parametrize("offset_us", range(0, 4000, 370))
def test_a_placed_chip_pulls_the_irq_within_8_to_12_ms(offset_us: int) -> None:
    async def scene(world: World, bench: Bench) -> None:
        await bench.start_sensing()
        await asyncio.sleep(1 + offset_us / 1e6)
        for act, status in ((world.place_chip, b"\x04\x00"), (world.remove_chip, b"\x00\x00")):
            bench.edges.clear()
            begin_ns = world.now_ns()
            act("3A")
            await asyncio.sleep(0.05)
            [(at_ns, gpio, low)] = bench.edges
            assert (gpio, low) == (SENSE_IRQ, True)
            assert 8 * MS <= at_ns - begin_ns <= 12 * MS
            assert bench.low(SENSE_IRQ)
            assert await bench.get(SENSE, 0x00, 2) == status
            assert not bench.low(SENSE_IRQ)

    play(scene)


def test_the_irq_line_rises_while_the_status_is_on_the_wire() -> None:
    async def scene(world: World, bench: Bench) -> None:
        await bench.start_sensing()
        world.place_chip("1A")
        await asyncio.sleep(0.02)
        bench.edges.clear()
        begin_ns = world.now_ns()
        await bench.get(SENSE, 0x00, 2)
        [(at_ns, gpio, low)] = bench.edges
        assert (gpio, low) == (SENSE_IRQ, False)
        assert begin_ns < at_ns < world.now_ns()

    play(scene)


def test_a_chip_that_lies_there_before_power_on_is_found() -> None:
    async def scene(world: World, bench: Bench) -> None:
        world.place_chip("7A")
        world.cut_power()
        await asyncio.sleep(1)
        world.restore_power()
        await bench.start_sensing()
        assert await bench.get(SENSE, 0x00, 2) == b"\x40\x00"

    play(scene)


def test_a_quiet_world_costs_nothing() -> None:
    async def scene(world: World, bench: Bench) -> None:
        await bench.start_sensing()
        await asyncio.sleep(0.1)
        steps = 0
        original = world.chips["sense-1"].advance

        def counting(now_ns: int) -> None:
            nonlocal steps
            steps += 1
            original(now_ns)

        world.chips["sense-1"].advance = counting  # type: ignore[method-assign]
        await asyncio.sleep(3600)
        assert steps == 0

    play(scene)


# -- keys, key, lid, cards -------------------------------------------------------------------


def test_a_pressed_key_closes_to_ground_and_raises_int() -> None:
    async def scene(world: World, bench: Bench) -> None:
        world.press("JPOT")
        await asyncio.sleep(0.001)
        assert bench.low(KEYS_IRQ)
        assert await bench.get(KEYS, 0x00, 2) == b"\xff\xfd"
        assert not bench.low(KEYS_IRQ)
        await asyncio.sleep(0.1)
        assert bench.low(KEYS_IRQ)
        assert await bench.get(KEYS, 0x00, 2) == b"\xff\xff"
        begin_ns, pressed_ns = bench.edges[0][0], bench.edges[-2][0]
        assert pressed_ns - begin_ns == 80 * MS

    play(scene)


def test_keys_can_be_held_and_pressed_together() -> None:
    async def scene(world: World, bench: Bench) -> None:
        world.press_together(["START", "END"], hold_ms=None)
        await asyncio.sleep(5)
        assert await bench.get(KEYS, 0x00, 1) == b"\xfc"
        world.release("START")
        assert await bench.get(KEYS, 0x00, 1) == b"\xfd"

    play(scene)


def test_the_key_breaks_one_contact_before_it_makes_the_other() -> None:
    async def scene(world: World, bench: Bench) -> None:
        assert (bench.low(RUN), bench.low(JPH)) == (True, False)
        world.turn_key("JPH")
        assert (bench.low(RUN), bench.low(JPH)) == (False, False)
        await asyncio.sleep(0.1)
        assert (bench.low(RUN), bench.low(JPH)) == (False, True)
        world.turn_key("RUN")
        await asyncio.sleep(0.02)
        world.turn_key("JPH")
        await asyncio.sleep(0.02)
        assert (bench.low(RUN), bench.low(JPH)) == (False, False)
        await asyncio.sleep(0.02)
        assert (bench.low(RUN), bench.low(JPH)) == (False, True)
        world.turn_key("BETWEEN")
        await asyncio.sleep(1)
        assert (bench.low(RUN), bench.low(JPH)) == (False, False)
        world.turn_key("SHORTED")
        await asyncio.sleep(1)
        assert (bench.low(RUN), bench.low(JPH)) == (True, True)

    play(scene)


def test_the_lid_switch_opens_with_the_lid() -> None:
    async def scene(world: World, bench: Bench) -> None:
        assert bench.low(LID)
        world.tamper(open=True)
        assert not bench.low(LID)
        assert world.lid_open

    play(scene)


def test_a_swipe_reaches_the_serial_port_and_a_dead_reader_swallows_it() -> None:
    async def scene(world: World, bench: Bench) -> None:
        path = SimBackend(world).serial_path("/dev/ttyACM0")
        with serial.Serial(path, timeout=0) as port:
            arrived = asyncio.Event()
            asyncio.get_running_loop().add_reader(port.fileno(), arrived.set)
            world.swipe("EXECUTIVE")
            await arrived.wait()
            assert port.read(200) == track2_of(account_of("EXECUTIVE"))
            asyncio.get_running_loop().remove_reader(port.fileno())
            world.swipe("EXECUTIVE")
            world.cut_power()
            world.half_swipe("SUPERVISOR")
            world.garbage_swipe()
            assert port.read(200) == b""

    play(scene)


def test_what_is_not_on_the_table_is_refused() -> None:
    async def scene(world: World, bench: Bench) -> None:
        with pytest.raises(ValueError, match="no key FIRE; there are START, END, JPOT"):
            world.press("FIRE")
        with pytest.raises(ValueError, match="not UPSIDE-DOWN"):
            world.turn_key("UPSIDE-DOWN")
        with pytest.raises(ValueError, match="no sensor 9A"):
            world.place_chip("9A")
        with pytest.raises(HardwareFault, match="I2C bus 3 could not be opened"):
            SimBackend(world).open_i2c(3, 400_000)
        with pytest.raises(OSError, match="/dev/ttyS0"):
            SimBackend(world).serial_path("/dev/ttyS0")

    play(scene)


# -- lamps and power -------------------------------------------------------------------------


def test_lights_are_read_from_the_lamp_chip() -> None:
    async def scene(world: World, bench: Bench) -> None:
        assert world.light("2A") == "off"
        await bench.start_lamps()
        await bench.put(LAMPS, 0x06 + 4 * 2, 0, 0, 0x66, 0x02)
        assert world.level_now("2A", "white") == pytest.approx(0.15, abs=0.001)
        assert world.light("2A") == "settling"
        assert await world.settled_light("2A") == "detected"
        assert world.light("1A") == "off"

    play(scene)


def test_a_power_cut_is_dark_at_once_and_people_keep_what_they_hold() -> None:
    async def scene(world: World, bench: Bench) -> None:
        await bench.start_lamps()
        await bench.start_sensing()
        await bench.put(LAMPS, 0x06, 0, 0x10, 0, 0)
        world.place_chip("1A")
        world.turn_key("JPH")
        world.press("START", hold_ms=None)
        await asyncio.sleep(0.1)
        assert bench.low(SENSE_IRQ)
        assert bench.low(KEYS_IRQ)
        world.cut_power()
        await asyncio.sleep(0.002)
        assert world.level_now("1A", "white") == 0
        assert not bench.low(SENSE_IRQ)
        assert not bench.low(KEYS_IRQ)
        with pytest.raises(OSError, match="no answer"):
            await bench.get(LAMPS, 0x00, 1)
        world.restore_power()
        assert await bench.get(LAMPS, 0x00, 1) == b"\x11"
        assert await bench.get(SENSE, 0x5E, 1) == b"\x00"
        assert await bench.get(KEYS, 0x00, 1) == b"\xfe"
        assert world.has_chip("1A")
        assert bench.low(JPH)
        await bench.start_sensing()
        assert await bench.get(SENSE, 0x00, 2) == b"\x01\x00"

    play(scene)


# -- faults ----------------------------------------------------------------------------------


def test_a_lost_interrupt_leaves_the_level_but_no_edge() -> None:
    async def scene(world: World, bench: Bench) -> None:
        await bench.start_sensing()
        world.faults.lose_interrupt("sense-1")
        world.place_chip("1A")
        await asyncio.sleep(0.05)
        assert bench.edges == []
        assert bench.low(SENSE_IRQ)
        assert world.faults.struck["lost interrupt"] == 1

    play(scene)


def test_chip_faults_strike_and_are_counted() -> None:
    async def scene(world: World, bench: Bench) -> None:
        await bench.start_sensing()
        world.faults.over_current("sense-1")
        await asyncio.sleep(0)
        assert await bench.get(SENSE, 0x00, 2) == b"\x00\x80"
        world.faults.reset_chip("sense-1")
        assert await bench.get(SENSE, 0x5D, 2) == b"\x24\x00"
        await bench.start_sensing()
        world.faults.break_electrode("2A")
        world.faults.break_electrode("3A", shorted=True)
        await asyncio.sleep(0.02)
        assert (await bench.get(SENSE, 0x06, 4)) == b"\xff\x03\x00\x00"
        world.faults.mend_electrode("2A")
        await asyncio.sleep(0.02)
        empty = world.felt.pad("2A").empty_counts
        assert int.from_bytes(await bench.get(SENSE, 0x06, 2), "little") == empty
        struck = world.faults.struck
        assert struck["over current"] == struck["chip reset"] == 1
        assert struck["dead electrode"] == 2

    play(scene)


def test_bus_faults_are_armed_by_name() -> None:
    async def scene(world: World, bench: Bench) -> None:
        world.faults.nack("keys-1", 1)
        with pytest.raises(OSError, match="no answer from 0x20"):
            await bench.get(KEYS, 0, 1)
        world.faults.short_read("keys-1")
        with pytest.raises(OSError, match="0 of 1 bytes"):
            await bench.get(KEYS, 0, 1)
        world.faults.lose_arbitration(1)
        with pytest.raises(OSError, match="arbitration"):
            await bench.get(KEYS, 0, 1)
        begin_ns = world.now_ns()
        world.faults.stick_bus(1, timeout_ms=25)
        with pytest.raises(OSError, match="SDA"):
            await bench.get(KEYS, 0, 1)
        assert 25 * MS <= world.now_ns() - begin_ns < 26 * MS
        world.faults.release_bus(1)
        assert await bench.get(KEYS, 0, 1) == b"\xff"
        world.faults.nack("keys-1")
        world.faults.clear_bus(1)
        assert await bench.get(KEYS, 0, 1) == b"\xff"
        assert {k: v for k, v in world.faults.struck.items() if v} == {
            "nack": 1,
            "short read": 1,
            "arbitration": 1,
            "stuck": 1,
        }
        with pytest.raises(ValueError, match="no chip nowhere"):
            world.faults.nack("nowhere")
        with pytest.raises(ValueError, match="no interrupt line"):
            world.faults.lose_interrupt("lights-1")

    play(scene)


# -- repeatability ---------------------------------------------------------------------------


def trace(seed: int) -> str:
    digest = hashlib.sha256()

    async def scene(world: World, bench: Bench) -> None:
        await bench.start_lamps()
        await bench.start_sensing()
        for number in range(200):
            sensor = f"{number * 5 % 7 + 1}A"
            (world.remove_chip if world.has_chip(sensor) else world.place_chip)(sensor)
            if number % 3 == 0:
                world.press("START", hold_ms=number % 40 + 1)
            await asyncio.sleep((number * 37 % 23 + 1) / 1000)
            status = await bench.get(SENSE, 0x00, 43)
            digest.update(status + world.now_ns().to_bytes(8, "big"))
        digest.update(repr(bench.edges).encode())

    play(scene, seed)
    return digest.hexdigest()


def test_the_same_seed_gives_the_same_trace_and_another_seed_another() -> None:
    assert trace(3) == trace(3)
    assert trace(3) != trace(4)


def test_the_other_irq_rule_clears_on_any_traffic() -> None:
    async def scene(world: World, bench: Bench) -> None:
        await bench.start_sensing()
        world.place_chip("1A")
        await asyncio.sleep(0.02)
        await bench.get(SENSE, 0x04, 2)
        assert not bench.low(SENSE_IRQ)

    play(scene, irq_rule=IrqRule.ANY_TRAFFIC)


def test_the_world_also_runs_on_an_ordinary_loop() -> None:
    async def scene() -> None:
        world = World(board())
        world.start()
        bench = Bench(world)
        seen = asyncio.Event()
        bench.lines[SENSE_IRQ].when_activated = seen.set
        await bench.start_sensing()
        world.place_chip("1A")
        await asyncio.wait_for(seen.wait(), 10)
        assert await bench.get(SENSE, 0x00, 2) == b"\x01\x00"
        bench.close()
        await world.close()

    asyncio.run(scene())
