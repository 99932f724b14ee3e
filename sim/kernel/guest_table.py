"""A shipped table on the guest's board: the same parts on the eight lines that a bridge has.

It alone knows which line stands for which pin of a Raspberry Pi's header. Buses, chips, addresses,
lamps and the card reader's path stay as the table's file says, and so does the backend's name.
"""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

from controller.config import UnitConfig, parse_unit_config
from hal.board_config import BoardConfig

TABLES = Path(__file__).resolve().parents[2] / "deploy" / "tables"
# From the last line down: a Pi has no free choice of pull on its pins 2 and 3.
LINES = (7, 6, 5, 4, 3, 2)


def guest_config(name: str) -> UnitConfig:
    text = (TABLES / f"{name}.toml").read_text(encoding="utf-8")
    config = parse_unit_config(tomllib.loads(text))
    return dataclasses.replace(config, board=on_bridge(config.board))


def on_bridge(board: BoardConfig) -> BoardConfig:
    used = _header_pins(board)
    if len(used) > len(LINES):
        raise ValueError(f"The board uses {len(used)} pins; a bridge has {len(LINES)} for them.")
    line = dict(zip(used, LINES, strict=False))
    chips = tuple(
        dataclasses.replace(chip, interrupt_gpio=line[chip.interrupt_gpio])
        if chip.interrupt_gpio is not None
        else chip
        for chip in board.chips
    )
    key, tamper = board.keyswitch, board.tamper
    return dataclasses.replace(
        board,
        chips=chips,
        keyswitch=key
        and dataclasses.replace(key, run_gpio=line[key.run_gpio], jph_gpio=line[key.jph_gpio]),
        tamper=tamper and dataclasses.replace(tamper, gpio=line[tamper.gpio]),
    )


def _header_pins(board: BoardConfig) -> list[int]:
    pins = [chip.interrupt_gpio for chip in board.chips if chip.interrupt_gpio is not None]
    if board.keyswitch is not None:
        pins += [board.keyswitch.run_gpio, board.keyswitch.jph_gpio]
    if board.tamper is not None:
        pins.append(board.tamper.gpio)
    return sorted(set(pins))
