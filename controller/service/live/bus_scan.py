"""Asks every address of every bus whether an IC answers, and holds it against the table's file.

It alone knows how an address is asked without harm: by reading one byte, which writes nothing to
anybody. The board must be lent for it: an IC may take a read for an acknowledged interrupt.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from smbus2 import i2c_msg

from hal.board.config import BoardConfig
from hal.board.open import Board
from hal.bus.i2c import NOT_ACKNOWLEDGED, Bus, SMBusLike
from hal.errors import HardwareFault
from hal.ics.kinds import TCA9548A

FIRST_ADDRESS, LAST_ADDRESS = 0x08, 0x77
# Every PCA9685 also answers here until it is told not to; it is nobody of its own.
ALL_LAMPS_ADDRESS = 0x70

ANSWERS, SILENT, STRANGER = "answers", "silent", "stranger"


@dataclass(frozen=True)
class Found:
    """One address on one bus or multiplexer channel: who should be there, and whether it is."""

    place: str
    address: int
    name: str
    kind: str
    state: str


async def scan(board: Board, config: BoardConfig) -> list[Found]:
    found: list[Found] = []
    behind: set[int] = set()
    for number, bus in board.buses.items():
        # Through the channel that is open now, an IC behind a multiplexer answers here as well.
        behind = {ic.address for ic in config.ics if ic.bus == number and ic.mux is not None}
        expected = {ic.address: ic for ic in config.ics if ic.bus == number and ic.mux is None}
        ignored = behind - set(expected) | ({ALL_LAMPS_ADDRESS} - set(expected))
        found += await _scan_place(f"bus {number}", bus, expected, ignored)
    for ic in config.ics:
        if ic.kind == TCA9548A:
            found += await _scan_channels(board, config, ic.name)
    return found


async def _scan_channels(board: Board, config: BoardConfig, mux: str) -> list[Found]:
    found = []
    channels = sorted(
        {ic.mux_channel for ic in config.ics if ic.mux == mux and ic.mux_channel is not None}
    )
    bus_number = config.ic(mux).bus
    # What hangs before the multiplexer answers on every channel.
    before = {ic.address for ic in config.ics if ic.bus == bus_number and ic.mux is None}
    for channel in channels:
        ics = [ic for ic in config.ics if ic.mux == mux and ic.mux_channel == channel]
        expected = {ic.address: ic for ic in ics}
        place = f"bus {bus_number}, {mux} channel {channel}"
        ignored = (before | {ALL_LAMPS_ADDRESS}) - set(expected)
        found += await _scan_place(place, board.muxes[mux].channel(channel), expected, ignored)
    return found


async def _scan_place(
    place: str, bus: Bus, expected: Mapping[int, Any], ignored: set[int]
) -> list[Found]:
    try:
        answering = await bus.run(_ask_all)
    except HardwareFault as fault:
        return [
            Found(place, address, ic.name, ic.kind, f"not asked: {fault}")
            for address, ic in sorted(expected.items())
        ]
    rows = [
        Found(place, address, ic.name, ic.kind, ANSWERS if address in answering else SILENT)
        for address, ic in sorted(expected.items())
    ]
    strangers = set(answering) - set(expected) - ignored
    return rows + [Found(place, address, "", "", STRANGER) for address in sorted(strangers)]


def _ask_all(smbus: SMBusLike) -> list[int]:
    """The addresses that acknowledged. A bus that is held raises: it would answer everywhere."""
    answering = []
    for address in range(FIRST_ADDRESS, LAST_ADDRESS + 1):
        try:
            smbus.i2c_rdwr(i2c_msg.read(address, 1))
        except OSError as error:
            if error.errno not in NOT_ACKNOWLEDGED:
                raise
        else:
            answering.append(address)
    if len(answering) > (LAST_ADDRESS - FIRST_ADDRESS) // 2:
        raise OSError(errno.EIO, "every address answers: the data line is held low")
    return answering


def counters(board: Board) -> list[dict[str, Any]]:
    """What went wrong on each bus since the unit started, and what was done about it."""
    rows = []
    for number, bus in board.buses.items():
        recovery = bus.recovery
        rows.append(
            {
                "bus": number,
                "faults": bus.fault_count,
                "last_fault": bus.last_fault,
                "recoveries": recovery.count if recovery else None,
                "freed": recovery.freed_count if recovery else None,
                "last_recovery": recovery.last_outcome if recovery else "",
            }
        )
    for name, mux in board.muxes.items():
        rows.append({"bus": name, "faults": mux.reset_count, "last_fault": mux.last_fault})
    return rows


def as_rows(found: Sequence[Found]) -> list[dict[str, Any]]:
    return [asdict(each) for each in found]
