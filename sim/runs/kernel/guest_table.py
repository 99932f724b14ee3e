"""A shipped table on the guest's board: the same parts on the eight lines that a bridge has.

It alone knows which line stands for which pin of a Raspberry Pi's header. Buses, ICs, addresses,
lamps and the card reader's path stay as the table's file says, and so does the backend's name.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from controller.config import UnitConfig, parse_unit_config
from hal.board.config import BoardConfig, RecoveryConfig

TABLES = Path(__file__).resolve().parents[3] / "deploy" / "tables"
# A Pi has no free choice of pull on its pins 2 and 3: they carry the bus, here as there.
WIRES = RecoveryConfig(scl_gpio=3, sda_gpio=2)
# gpiozero keeps what it once claimed, so a line that a recovery claims is never an input.
SUPPLY_LINE = 0
LINES = (7, 6, 5, 4, 1)


def guest_config(name: str) -> UnitConfig:
    text = (TABLES / f"{name}.toml").read_text(encoding="utf-8")
    config = parse_unit_config(text)
    return dataclasses.replace(config, board=on_bridge(config.board))


def on_bridge(board: BoardConfig) -> BoardConfig:
    used = _inputs(board)
    if len(used) > len(LINES):
        raise ValueError(f"The board has {len(used)} inputs; a bridge has {len(LINES)} for them.")
    line = dict(zip(used, LINES, strict=False))
    buses = tuple(
        dataclasses.replace(
            bus,
            recovery=bus.recovery and WIRES,
            supply_gpio=None if bus.supply_gpio is None else SUPPLY_LINE,
        )
        for bus in board.buses
    )
    ics = tuple(
        dataclasses.replace(ic, interrupt_gpio=line[ic.interrupt_gpio])
        if ic.interrupt_gpio is not None
        else ic
        for ic in board.ics
    )
    key, tamper = board.keyswitch, board.tamper
    return dataclasses.replace(
        board,
        buses=buses,
        ics=ics,
        keyswitch=key
        and dataclasses.replace(key, run_gpio=line[key.run_gpio], jph_gpio=line[key.jph_gpio]),
        tamper=tamper and dataclasses.replace(tamper, gpio=line[tamper.gpio]),
    )


def _inputs(board: BoardConfig) -> list[int]:
    """The header's inputs."""
    pins = [ic.interrupt_gpio for ic in board.ics if ic.interrupt_gpio is not None]
    if board.keyswitch is not None:
        pins += [board.keyswitch.run_gpio, board.keyswitch.jph_gpio]
    if board.tamper is not None:
        pins.append(board.tamper.gpio)
    return sorted(set(pins))
