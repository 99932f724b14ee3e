"""A short evening at a table that falls ill: people play, the fault strikes, a technician comes.

The people do what people do: they bet, rest their hands, swipe a card badly once, and somebody may
trip over the cable. None of that is a fault. The technician scans, tests, looks at the lamps and
takes a bundle, as far as the table lets a technician do so.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from controller.service.admission import ServiceRefused
from controller.unit import Unit
from sim.floor.floor import Floor, Impossible
from sim.floor.light_eye import AMBER, WHITE
from sim.runs.diagnose.faults import FAULTS, Fault
from sim.runs.diagnose.table import IllTable, new_table
from sim.time.loop import run_virtual

EVENING_S = 55
# A pad that chips must tell of is played on for longer: three rounds in which somebody may have
# bet elsewhere tell nothing.
TELLING_S = 25
FIRST_S, BETWEEN_S = (8, 20), (3, 8)
# The diary is kept once a minute: a plug that is pulled sooner takes what it told with it.
LAST_S = (65, 80)
# Rounds that tell of a pad, before what hides it; and how long a unit has to notice what struck.
PLAYED_S, NOTICED_S = 25, (12, 18)
TECH = "Tech 3"
READY_S = 3
TECH_WAITS_S = 4
ENDS_MAX, END_WAITS_S = 2, 1
LIT_MIN = 0.4


def bundle_of(faults: Sequence[str], seed: int) -> bytes:
    """Plays one evening with these faults and returns its bundle."""
    with TemporaryDirectory(prefix="diagnose-") as folder:
        return run_virtual(_evening(faults, seed, Path(folder)))


async def _evening(faults: Sequence[str], seed: int, folder: Path) -> bytes:
    chance = random.Random(f"{seed} {' '.join(faults)}")
    floor = Floor(chance.getrandbits(31))
    ill = new_table(floor, faults, chance, folder)
    log = logging.getLogger("controller")
    level_before = log.level
    log.setLevel(logging.INFO)  # as a unit runs: the bundle holds what it logged
    try:
        with ill.table.unit.service.log.listening():
            await ill.table.open()
            await asyncio.sleep(READY_S)
            await _play(ill, [FAULTS[name] for name in faults], chance)
            assert ill.unit is not None
            await _visit(ill, ill.unit)
            return await ill.unit.service.bundles.make(TECH)
    finally:
        ill.table.disk.read_only = False
        ill.table.disk.failing.clear()
        await floor.close()
        log.setLevel(level_before)


async def _play(ill: IllTable, faults: Sequence[Fault], chance: random.Random) -> None:
    """Until the evening is over and every fault has struck."""
    evening_s = EVENING_S + TELLING_S * any(fault.needs_play for fault in faults)
    begun_s = asyncio.get_running_loop().time()
    strikes = asyncio.create_task(_strike(ill, faults, random.Random(chance.getrandbits(64))))
    life = asyncio.create_task(_life(ill, random.Random(chance.getrandbits(64))))
    play = random.Random(chance.getrandbits(64))
    while asyncio.get_running_loop().time() - begun_s < evening_s or not strikes.done():
        await _round(ill, play)
    await asyncio.gather(life, strikes)


async def _strike(ill: IllTable, faults: Sequence[Fault], chance: random.Random) -> None:
    """What chips must tell of comes first. What hides others comes last, one after the other."""
    plain = sorted(
        (each for each in faults if not each.hides), key=lambda each: not each.needs_play
    )
    hiding = sorted((each for each in faults if each.hides), key=lambda each: each.hides)
    at_s, tasks = chance.uniform(*FIRST_S), []
    for fault in plain:
        strike = fault.strike(ill, random.Random(chance.getrandbits(64)))
        tasks.append(asyncio.create_task(_later(at_s, strike)))
        at_s += chance.uniform(*BETWEEN_S)
    if plain and hiding:
        at_s = max(at_s, chance.uniform(*LAST_S))
        at_s += PLAYED_S * any(each.needs_play for each in plain)
    await asyncio.sleep(at_s)
    for number, fault in enumerate(hiding):
        if number:
            await asyncio.sleep(chance.uniform(*NOTICED_S))
        await fault.strike(ill, chance)
    await asyncio.gather(*tasks)


async def _later(after_s: float, strike: Awaitable[None]) -> None:
    await asyncio.sleep(after_s)
    await strike


async def _round(ill: IllTable, chance: random.Random) -> None:
    """Chips, START, END. Whatever the table refuses is refused; the next round is another try."""
    table = ill.table
    betting = chance.sample(ill.sensors, chance.randint(3, len(ill.sensors)))
    for sensor in betting:
        table.place(sensor)
        await asyncio.sleep(chance.uniform(0.1, 0.4))
    await asyncio.sleep(chance.uniform(1.2, 2.0))
    await table.press("START")
    await asyncio.sleep(chance.uniform(3.0, 4.0))
    for sensor in betting:
        table.remove(sensor)
        await asyncio.sleep(chance.uniform(0.1, 0.3))
    await asyncio.sleep(chance.uniform(0.8, 1.5))
    await table.press("END")
    await asyncio.sleep(chance.uniform(2.0, 4.0))


async def _life(ill: IllTable, chance: random.Random) -> None:
    """What is nobody's fault, at any evening."""
    await asyncio.sleep(chance.uniform(2, 15))
    sensor = chance.choice(ill.sensors)
    ill.world.on_felt(lambda physics, now_s: physics.rest_hand(sensor, now_s, whole=True))
    await asyncio.sleep(chance.uniform(2, 10))
    with suppress(ValueError):  # a table without a card reader
        ill.world.controls.swipe(chance.choice(("HALF", "UNKNOWN")))
    if chance.random() < 0.4:
        ill.table.cable.pull()
        await asyncio.sleep(chance.uniform(1, 8))
        ill.table.cable.plug()
    await asyncio.sleep(chance.uniform(1, 10))
    keypad = ill.world.board.keypad
    if keypad is not None:
        ill.world.controls.press("CANCEL", hold_ms=chance.randint(80, 2500))


# -- the technician ------------------------------------------------------------------------------


async def _visit(ill: IllTable, unit: Unit) -> None:
    """Scan, self-test and a look at the lamps, where the table goes into service at all."""
    for sensor in ill.sensors:
        with suppress(Impossible):
            ill.table.remove(sensor)
    await asyncio.sleep(TECH_WAITS_S)
    await _end_game(ill, unit)
    acts = unit.service.acts
    try:
        await acts.enter(TECH)
        for begin in (acts.begin_scan, acts.begin_selftest):
            begin()
            await _until_done(unit)
        await _look_at_lamps(ill, unit)
        await unit.service.mode.leave()
    except ServiceRefused:
        return  # the bundle says why: what stops the table stops the technician's tests, too


async def _end_game(ill: IllTable, unit: Unit) -> None:
    """A game that the power went in is asked about once: END, and END again."""
    for _ in range(ENDS_MAX):
        await ill.table.press("END")
        await asyncio.sleep(END_WAITS_S)
        if not unit.keeper.live_state.round_open:
            return


async def _until_done(unit: Unit) -> None:
    while unit.service.mode.is_working:
        unit.service.mode.seen()
        await asyncio.sleep(0.5)


async def _look_at_lamps(ill: IllTable, unit: Unit) -> None:
    acts = unit.service.acts
    for colour in (WHITE, AMBER):
        unit.service.mode.seen()
        acts.exercise(colour, 0)
        await asyncio.sleep(1.0)
        lit = {sensor: ill.world.level_now(sensor, colour) >= LIT_MIN for sensor in ill.sensors}
        # Where all of them are dark it is no lamp, and nobody reports fourteen of them.
        for sensor in (each for each in ill.sensors if not lit[each] and any(lit.values())):
            await acts.lamp_seen(sensor, colour, is_lit=False)
    acts.exercise("stop", 0)
