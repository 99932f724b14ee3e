"""`board check FILE`: what is wrong with a table's hardware before anything is soldered.

Clashing addresses, pins used twice and everything else that the unit would refuse is found by the
unit's own reader. Then the wires are reckoned with: pull-ups, rise times, busy buses. Cable and
pull-ups are not in the file; give your own, or the usual ones are assumed and said.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.tech.terminal import BAD, GOOD, WARN, Terminal
from hal.board.config import BoardConfig, parse_board
from hal.board.wiring import Wires, buses, findings, pins
from kit.command_line import CommandRefused, above_zero, whole
from kit.config import ConfigError, load

BAD_FINDING = 1
OHMS_MAX = 1_000_000


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    terminal = Terminal()
    try:
        board = _read(options.file)
    except ConfigError as error:
        for problem in error.problems:
            terminal.line(f"WRONG  {problem}", BAD)
        return BAD_FINDING
    wires = Wires(
        options.cable_m, options.cable_pf_per_m, options.breakout_ohms, options.pull_up_ohms
    )
    _print_board(terminal, board, wires)
    found = list(findings(board, wires))
    for sentence in found:
        terminal.line(f"LOOK   {sentence}", WARN)
    if not found:
        terminal.line("ok     nothing clashes, and the wires keep their limits", GOOD)
    return BAD_FINDING if found else 0


def _parser() -> argparse.ArgumentParser:
    usual = Wires()
    parser = argparse.ArgumentParser(prog="underfelt-tech board", description=__doc__)
    parser.add_argument("what", choices=["check"])
    parser.add_argument("file", type=Path, metavar="FILE", help="a table's file")
    parser.add_argument(
        "--cable-m",
        type=above_zero(100),
        default=usual.cable_m,
        help="length of each bus and channel",
    )
    parser.add_argument(
        "--cable-pf-per-m", type=above_zero(1000), default=usual.cable_pf_per_m, metavar="PF"
    )
    parser.add_argument(
        "--breakout-ohms",
        type=whole(0, OHMS_MAX),
        default=usual.breakout_pull_up_ohms,
        metavar="OHMS",
        help="pull-ups that each IC's own board brings; 0 for none",
    )
    parser.add_argument(
        "--pull-up-ohms",
        type=whole(0, OHMS_MAX),
        default=usual.own_pull_up_ohms,
        metavar="OHMS",
        help="one's own pull-ups on each bus and channel; 0 for none",
    )
    return parser


def _read(path: Path) -> BoardConfig:
    document = load(path)
    values = document.values.get("board")
    if not isinstance(values, dict):
        raise CommandRefused(f"{path} has no [board]: it is no table's file.")
    with document.placing():
        return parse_board(values)


def _print_board(terminal: Terminal, board: BoardConfig, wires: Wires) -> None:
    terminal.line(
        f"board {board.serial}: {len(board.sensors)} sensors on {len(board.ics)} ICs; with "
        f"{wires.cable_m:g} m of cable at {wires.cable_pf_per_m:g} pF/m"
    )
    for bus in buses(board, wires):
        terminal.line(
            f"  bus {bus.bus}: {bus.frequency_hz} Hz, {bus.load_pf:.0f} pF, pull-ups together "
            f"{bus.pull_up_ohms:.0f} Ω, rises in {bus.rise_ns:.0f} ns (at most {bus.rise_ns_max}), "
            f"cable at most {bus.cable_m_max:.1f} m, busy {bus.busy_percent:.0f} %"
        )
    for gpio, user in pins(board):
        terminal.line(f"  GPIO {gpio:>2}: {user}")
