"""The world end to end, spoken to with raw smbus2 calls and gpiozero devices: no driver of ours."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from sim.floor.light_eye import EYE_MS
from sim.floor.world import World
from sim.hardware.ics.mpr121 import IrqRule
from tests.kit.bench_world import (
    JPH,
    KEYS,
    KEYS_IRQ,
    LAMPS,
    MS,
    SENSE,
    SENSE_IRQ,
    Bench,
    board,
    play,
)

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
        original = world.ics["sense-1"].advance

        def counting(now_ns: int) -> None:
            nonlocal steps
            steps += 1
            original(now_ns)

        world.ics["sense-1"].advance = counting  # type: ignore[method-assign]
        await asyncio.sleep(3600)
        assert steps == 0

    play(scene)


# -- lamps and power -------------------------------------------------------------------------


def test_lights_are_read_from_the_lamp_ic() -> None:
    async def scene(world: World, bench: Bench) -> None:
        assert world.light("2A") == "off"
        await bench.start_lamps()
        await bench.put(LAMPS, 0x06 + 4 * 2, 0, 0, 0x66, 0x02)
        assert world.level_now("2A", "white") == pytest.approx(0.15, abs=0.001)
        await bench.put(LAMPS, 0x06 + 4 * 2, 0, 0x10, 0, 0)
        await asyncio.sleep(EYE_MS / 1000)
        assert world.light("2A") == "settling"
        assert await world.settled_light("2A") == "accepted"
        assert world.light("1A") == "off"

    play(scene)


def test_a_power_cut_is_dark_at_once_and_people_keep_what_they_hold() -> None:
    async def scene(world: World, bench: Bench) -> None:
        await bench.start_lamps()
        await bench.start_sensing()
        await bench.put(LAMPS, 0x06, 0, 0x10, 0, 0)
        world.place_chip("1A")
        world.controls.turn_key("JPH")
        world.controls.press("START", hold_ms=None)
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
                world.controls.press("START", hold_ms=number % 40 + 1)
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
