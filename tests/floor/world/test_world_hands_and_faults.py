"""Keys, key, lid, cards and faults reach the world as people and accidents bring them."""

from __future__ import annotations

import asyncio

import pytest
import serial

from hal.errors import HardwareFault
from sim.floor.world import World
from sim.hardware.backend import SimBackend
from sim.hardware.card_reader import account_of, track2_of
from tests.kit.bench_world import JPH, KEYS, KEYS_IRQ, LID, MS, RUN, SENSE, SENSE_IRQ, Bench, play

# -- keys, key, lid, cards -------------------------------------------------------------------


def test_a_pressed_key_closes_to_ground_and_raises_int() -> None:
    async def scene(world: World, bench: Bench) -> None:
        world.controls.press("JPOT")
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
        world.controls.press_together(["START", "END"], hold_ms=None)
        await asyncio.sleep(5)
        assert await bench.get(KEYS, 0x00, 1) == b"\xfc"
        world.controls.release("START")
        assert await bench.get(KEYS, 0x00, 1) == b"\xfd"

    play(scene)


def test_the_key_breaks_one_contact_before_it_makes_the_other() -> None:
    async def scene(world: World, bench: Bench) -> None:
        assert (bench.low(RUN), bench.low(JPH)) == (True, False)
        world.controls.turn_key("JPH")
        assert (bench.low(RUN), bench.low(JPH)) == (False, False)
        await asyncio.sleep(0.1)
        assert (bench.low(RUN), bench.low(JPH)) == (False, True)
        world.controls.turn_key("RUN")
        await asyncio.sleep(0.02)
        world.controls.turn_key("JPH")
        await asyncio.sleep(0.02)
        assert (bench.low(RUN), bench.low(JPH)) == (False, False)
        await asyncio.sleep(0.02)
        assert (bench.low(RUN), bench.low(JPH)) == (False, True)
        world.controls.turn_key("BETWEEN")
        await asyncio.sleep(1)
        assert (bench.low(RUN), bench.low(JPH)) == (False, False)
        world.controls.turn_key("SHORTED")
        await asyncio.sleep(1)
        assert (bench.low(RUN), bench.low(JPH)) == (True, True)

    play(scene)


def test_the_lid_switch_opens_with_the_lid() -> None:
    async def scene(world: World, bench: Bench) -> None:
        assert bench.low(LID)
        world.controls.tamper(open=True)
        assert not bench.low(LID)
        assert world.controls.lid_open

    play(scene)


def test_a_swipe_reaches_the_serial_port_and_a_dead_reader_swallows_it() -> None:
    async def scene(world: World, bench: Bench) -> None:
        path = SimBackend(world).serial_path("/dev/ttyACM0")
        with serial.Serial(path, timeout=0) as port:
            arrived = asyncio.Event()
            asyncio.get_running_loop().add_reader(port.fileno(), arrived.set)
            world.controls.swipe("EXECUTIVE")
            await arrived.wait()
            assert port.read(200) == track2_of(account_of("EXECUTIVE"))
            asyncio.get_running_loop().remove_reader(port.fileno())
            world.controls.swipe("EXECUTIVE")
            world.cut_power()
            world.controls.half_swipe("SUPERVISOR")
            world.controls.swipe("GARBAGE")
            assert port.read(200) == b""

    play(scene)


def test_what_is_not_on_the_table_is_refused() -> None:
    async def scene(world: World, bench: Bench) -> None:
        with pytest.raises(ValueError, match="no key FIRE; there are START, END, JPOT"):
            world.controls.press("FIRE")
        with pytest.raises(ValueError, match="not UPSIDE-DOWN"):
            world.controls.turn_key("UPSIDE-DOWN")
        with pytest.raises(ValueError, match="no sensor 9A"):
            world.place_chip("9A")
        with pytest.raises(HardwareFault, match="I2C bus 3 could not be opened"):
            SimBackend(world).open_i2c(3, 400_000)
        with pytest.raises(OSError, match="/dev/ttyS0"):
            SimBackend(world).serial_path("/dev/ttyS0")

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


def test_ic_faults_strike_and_are_counted() -> None:
    async def scene(world: World, bench: Bench) -> None:
        await bench.start_sensing()
        world.faults.over_current("sense-1")
        await asyncio.sleep(0)
        assert await bench.get(SENSE, 0x00, 2) == b"\x00\x80"
        world.faults.reset_ic("sense-1")
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
        assert struck["over current"] == struck["IC reset"] == 1
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
        with pytest.raises(ValueError, match="no IC nowhere"):
            world.faults.nack("nowhere")
        with pytest.raises(ValueError, match="no interrupt line"):
            world.faults.lose_interrupt("lights-1")

    play(scene)
