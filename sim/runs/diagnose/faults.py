"""The faults that a table may be given, by the names of the rules that must find them.

Each strikes the simulated hardware, disk, network or computer, with place and strength drawn. None
touches the unit's program or its evidence: what the unit makes of it is what is tried.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from hal.board.config import BoardConfig, IcConfig
from hal.ics.kinds import ADDRESSES
from sim.felt.physics.pad import Interference, Ramp
from sim.floor.journal_file import JOURNAL_FILE
from sim.floor.light_eye import AMBER, WHITE
from sim.runs.diagnose.certificates import DAY, Authority
from sim.runs.diagnose.table import IllTable
from sim.storage.disk import SimDisk
from sim.time.loop import VirtualLoop

FOR_EVER_S = 1e9
SECTOR_BYTES = 512

Strike = Callable[[IllTable, random.Random], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    strike: Strike
    # Rounds must be played after it, so that chips tell of it: it strikes first of several.
    needs_play: bool = False
    # What else can be seen once it struck. The higher, the less: it strikes later than others.
    hides: int = 0


# -- buses and ICs -------------------------------------------------------------------------------


async def silent_ic(table: IllTable, chance: random.Random) -> None:
    table.world.faults.nack(table.another_ic(chance, table.world.board.ics).name)


async def held_bus(table: IllTable, chance: random.Random) -> None:
    """An IC that hangs now and then, or a wire that lies on ground."""
    faults, bus = table.world.faults, table.world.board.buses[0].number
    if chance.random() < 0.4:
        faults.ground_bus(bus)
        return
    for _ in range(chance.randint(2, 5)):
        faults.stick_bus_at_random(bus, chance)
        await asyncio.sleep(chance.uniform(4, 9))


async def shorted_interrupt(table: IllTable, chance: random.Random) -> None:
    ics = [ic for ic in table.world.board.ics if ic.interrupt_gpio is not None]
    table.world.faults.ground_interrupt(table.another_ic(chance, ics).name)


async def wrong_board_file(table: IllTable, chance: random.Random) -> None:
    """A table file whose IC is at another address, as its neighbour's board has it."""
    config = table.table.unit.config
    board, used = config.board, {each.address for each in config.board.ics}
    free = [
        (ic, address) for ic in board.ics for address in ADDRESSES[ic.kind] if address not in used
    ]
    ic = table.another_ic(chance, [each for each, _ in free])
    wrong = _moved(board, ic, chance.choice([address for each, address in free if each is ic]))
    await table.stop()
    table.table.unit.config = replace(config, board=wrong)
    await asyncio.sleep(chance.uniform(2, 6))
    await table.table.restore_power()


def _moved(board: BoardConfig, ic: IcConfig, address: int) -> BoardConfig:
    ics = tuple(replace(each, address=address) if each is ic else each for each in board.ics)
    return replace(board, ics=ics)


# -- the felt ------------------------------------------------------------------------------------


async def loose_pad(table: IllTable, chance: random.Random) -> None:
    (sensor,) = table.other_sensors(chance, 1)
    kind = chance.choice(("open", "shorted", "half off"))
    if kind == "half off":
        table.world.on_felt(lambda physics, now_s: physics.loosen(sensor))
    else:
        table.world.faults.break_electrode(sensor, shorted=kind == "shorted")


async def wet_felt(table: IllTable, chance: random.Random) -> None:
    table.world.spill(table.other_sensors(chance, chance.randint(2, 4)))


async def noisy_charger(table: IllTable, chance: random.Random) -> None:
    """Something that switches lies near some of the pads, and is in use most of the time."""
    near = table.other_sensors(chance, chance.randint(2, 5))
    part = chance.uniform(0.15, 0.6)

    def begin(physics: object, now_s: float) -> None:
        for sensor in near:
            rms_ff = part * table.chip_ff(sensor) * chance.uniform(0.5, 1.0)
            noise = Interference(rms_ff, 0.0, now_s, FOR_EVER_S, chance.getrandbits(64))
            table.physics.pads[sensor].interferences.append(noise)

    table.world.on_felt(begin)


async def worn_pad(table: IllTable, chance: random.Random) -> None:
    """It feels a chip less and less, or its empty reading has moved away from all others."""
    (sensor,) = table.other_sensors(chance, 1)
    if chance.random() < 0.6:
        part = chance.uniform(0.45, 0.72)
        table.physics.pads[sensor].sensitivity *= part
        table.world.electrodes.feel(sensor)
        return
    ff = table.chip_ff(sensor) * chance.uniform(0.4, 0.6)

    def creep(physics: object, now_s: float) -> None:
        over_s = chance.uniform(25, 40)
        table.physics.pads[sensor].ramps.append(Ramp(ff, now_s, now_s + over_s))

    table.world.on_felt(creep)


async def felt_changed(table: IllTable, chance: random.Random) -> None:
    """A new layout was laid while the table was off, and nobody calibrated."""
    sign, part = chance.choice((-1, 1)), chance.uniform(0.3, 0.8)
    await table.stop()
    factor = chance.uniform(0.85, 1.15)
    for sensor in table.sensors:
        pad = table.physics.pads[sensor]
        pad.stray_ff += sign * part * table.chip_ff(sensor) * chance.uniform(0.9, 1.1)
        pad.sensitivity *= factor
    await asyncio.sleep(chance.uniform(20, 40))
    table.world.electrodes.feel_all()
    await table.table.restore_power()


# -- the computer --------------------------------------------------------------------------------


async def supply_dips(table: IllTable, chance: random.Random) -> None:
    """A weak supply: the Pi notices and slows down, and at times its ICs lose their registers."""
    for _ in range(chance.randint(3, 6)):
        table.machine.set_supply(chance.choice((0x1, 0x5, 0x7)))
        for ic in table.world.board.ics if chance.random() < 0.5 else ():
            if table.world.powered:
                table.world.faults.reset_ic(ic.name)
        await asyncio.sleep(chance.uniform(2, 12))
        table.machine.set_supply(0)
        await asyncio.sleep(chance.uniform(2, 8))


async def failing_disk(table: IllTable, chance: random.Random) -> None:
    disk, kind = table.table.disk, chance.choice(("write", "sync", "read-only", "worn"))
    if kind == "worn":
        table.machine.set_wear(10)
        sector = chance.randrange(10**7)
        table.machine.log(
            f"3,501,9120011,-;I/O error, dev mmcblk0, sector {sector} op 0x1:(WRITE)\n"
            f"3,502,9120019,-;mmc0: error -110 whilst initialising SD card\n"
        )
        return
    if kind == "read-only":
        disk.read_only = True
    else:
        disk.failing.add("sync" if kind == "sync" else "write")


async def clock_jump(table: IllTable, chance: random.Random) -> None:
    far_ms = chance.choice((20_000, 3_600_000, 400 * 86_400_000))
    table.clock.jump(chance.choice((-1, 1)) * chance.randint(8_000, far_ms))


async def slow_loop(table: IllTable, chance: random.Random) -> None:
    """Something on the unit computes in the loop's own time, again and again."""
    for _ in range(chance.randint(4, 9)):
        asyncio.get_running_loop().call_soon(_compute, table, chance.uniform(0.4, 2.5))
        await asyncio.sleep(chance.uniform(2, 8))


def _compute(table: IllTable, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.hold(seconds)
    if table.watch is not None:
        table.watch.sample()  # as the watch's own thread does while the loop is held


# -- the link ------------------------------------------------------------------------------------


async def link_flapping(table: IllTable, chance: random.Random) -> None:
    cable = table.table.cable
    for _ in range(chance.randint(4, 7)):
        cable.pull()
        await asyncio.sleep(chance.uniform(5.5, 9))
        cable.plug()
        await asyncio.sleep(chance.uniform(3, 6))


async def refused_certificate(table: IllTable, chance: random.Random) -> None:
    """The unit's certificate has ended, or the floor got a new authority that it does not know."""
    unit_id, path = table.table.config.board.serial, table.identity / "unit.pem"
    if chance.random() < 0.5:
        table.authority.issue(unit_id, path, datetime.now(UTC) - chance.randint(1, 90) * DAY)
    else:
        other = Authority("Another floor's CA")
        other.write(table.identity / "ca.pem")
        other.issue(unit_id, path, datetime.now(UTC) + 200 * DAY)
    table.use_tls()
    await table.restart()


async def fork(table: IllTable, chance: random.Random) -> None:
    """Somebody put an older copy of the journal back."""
    disk = table.table.disk
    copy = {name: disk.read_file(name) for name in disk.names() if name.startswith(JOURNAL_FILE)}
    await asyncio.sleep(chance.uniform(12, 20))
    await table.stop()
    disk.restore()
    for name in disk.names():
        if name.startswith(JOURNAL_FILE):
            disk.write_file(name, copy.get(name, b""))
    await asyncio.sleep(chance.uniform(2, 6))
    await table.table.restore_power()


async def damaged_journal(table: IllTable, chance: random.Random) -> None:
    """Sectors of the journal's file are not what was written."""
    await table.stop(orderly=chance.random() < 0.5)
    disk = table.table.disk
    disk.restore()
    for name in disk.names():
        if name.startswith(JOURNAL_FILE):
            _spoil(disk, name, chance)
    await asyncio.sleep(chance.uniform(2, 6))
    await table.table.restore_power()


def _spoil(disk: SimDisk, name: str, chance: random.Random) -> None:
    """The first sector, by which the file is known, and some others."""
    content = bytearray(disk.read_file(name))
    for _ in range(chance.randint(4, 12)):
        at = chance.randrange(max(1, len(content) // SECTOR_BYTES)) * SECTOR_BYTES
        content[at : at + SECTOR_BYTES] = chance.randbytes(min(SECTOR_BYTES, len(content) - at))
    content[:SECTOR_BYTES] = chance.randbytes(min(SECTOR_BYTES, len(content)))
    disk.write_file(name, bytes(content))


# -- what people touch ---------------------------------------------------------------------------


async def dying_lamp(table: IllTable, chance: random.Random) -> None:
    sensor, colour = chance.choice(table.sensors), chance.choice((WHITE, AMBER))
    table.world.lamps.wear(sensor, colour, chance.uniform(0.0, 0.25))


async def stuck_key(table: IllTable, chance: random.Random) -> None:
    keypad = table.world.board.keypad
    assert keypad is not None
    table.world.controls.press(chance.choice(list(keypad.keys)), hold_ms=None)


async def half_read_cards(table: IllTable, chance: random.Random) -> None:
    """A dirty head: of several swipes most are read in part."""
    for _ in range(chance.randint(5, 9)):
        if table.world.powered:
            table.world.controls.swipe("HALF" if chance.random() < 0.85 else "UNKNOWN")
        await asyncio.sleep(chance.uniform(2, 5))


# The unit starts anew; a part of the table is gone; all of it is; nothing is recorded any more.
STARTS_ANEW, PART_GONE, BUS_GONE, NO_RECORD = 1, 2, 3, 4

FAULTS: dict[str, Fault] = {
    "silent-ic": Fault(silent_ic, hides=PART_GONE),
    "held-bus": Fault(held_bus, hides=BUS_GONE),
    "shorted-interrupt": Fault(shorted_interrupt),
    "loose-pad": Fault(loose_pad),
    "wet-felt": Fault(wet_felt),
    "noisy-charger": Fault(noisy_charger),
    "worn-pad": Fault(worn_pad, needs_play=True),
    "felt-changed": Fault(felt_changed, hides=STARTS_ANEW),
    "wrong-board-file": Fault(wrong_board_file, hides=PART_GONE),
    "supply-dips": Fault(supply_dips),
    "failing-disk": Fault(failing_disk, hides=NO_RECORD),
    "clock-jump": Fault(clock_jump),
    "link-flapping": Fault(link_flapping),
    "refused-certificate": Fault(refused_certificate, hides=STARTS_ANEW),
    "fork": Fault(fork, hides=NO_RECORD),
    "damaged-journal": Fault(damaged_journal, hides=NO_RECORD),
    "dying-lamp": Fault(dying_lamp),
    "stuck-key": Fault(stuck_key),
    "half-read-cards": Fault(half_read_cards),
    "slow-loop": Fault(slow_loop),
}
