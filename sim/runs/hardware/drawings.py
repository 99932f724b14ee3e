"""The two kinds of drawing: one board's schematic, and the electrode with its shield in section."""

from __future__ import annotations

from typing import Final

from hal.board.config import BoardConfig, IcConfig
from hal.board.wiring import pins
from hal.ics.kinds import PCA9685, SENSING_KINDS, TCA9548A, TEXT_KINDS
from sim.felt.physics.ranges import RANGES
from sim.runs.hardware.parts import (
    GROUND_PIN,
    HEADER_PIN,
    POWER_3V3_PIN,
    POWER_5V_PIN,
    electrode_pin,
)
from sim.runs.hardware.svg import Drawing

ROW: Final = 18
SDA, SCL = "#1457b8", "#b38600"
SUPPLIES: Final = (
    (POWER_3V3_PIN, "3.3 V, every IC, by the supply switch"),
    (POWER_5V_PIN, "5 V, the other side of every lamp"),
    (GROUND_PIN, "ground"),
)
PI_X, PI_WIDTH, BUS_X, IC_X, IC_WIDTH = 10, 275, 320, 380, 210


def schematic(name: str, board: BoardConfig) -> str:
    drawing = Drawing(f"Schematic of the board of {name}")
    rows = pins(board)
    ports = [
        (port.path, what)
        for what, port in (("card reader", board.card_reader), ("shuffler", board.shuffler))
        if port is not None
    ]
    drawing.box(PI_X, 10, PI_WIDTH, ROW * (len(rows) + len(ports) + len(SUPPLIES) + 2))
    drawing.text(PI_X + 8, 26, "Raspberry Pi, 40-pin header", "b")
    for place, (gpio, user) in enumerate(rows, start=1):
        drawing.text(PI_X + 8, 26 + ROW * place, f"pin {HEADER_PIN[gpio]:>2}  GPIO {gpio}: {user}")
    for place, (pin, supply) in enumerate(SUPPLIES, start=len(rows) + 1):
        drawing.text(PI_X + 8, 26 + ROW * place, f"pin {pin:>2}: {supply}")
    for place, (path, what) in enumerate(ports, start=len(rows) + len(SUPPLIES) + 1):
        drawing.text(PI_X + 8, 26 + ROW * place, f"USB  {path}: {what}")
    y = 10.0
    top = y
    for ic in board.ics:
        y = _ic(drawing, board, ic, y)
    _bus(drawing, board, top, y)
    return drawing.svg()


def _bus(drawing: Drawing, board: BoardConfig, top: float, bottom: float) -> None:
    for offset, colour, name in ((0, SDA, "SDA"), (10, SCL, "SCL")):
        drawing.line(BUS_X + offset, top + 10, BUS_X + offset, bottom - 10, colour)
        drawing.line(PI_X + PI_WIDTH, top + 20 + offset, BUS_X + offset, top + 20 + offset, colour)
        drawing.text(BUS_X - 28 + 34 * (offset > 0), bottom + 6, name, "s")
    speeds = ", ".join(f"bus {bus.number} at {bus.frequency_hz // 1000} kHz" for bus in board.buses)
    drawing.text(PI_X + 8, bottom + 6, speeds, "s")


def _ic(drawing: Drawing, board: BoardConfig, ic: IcConfig, y: float) -> float:
    rows = loads(board, ic)
    height = ROW * max(3, len(rows) + 1) + 6
    drawing.box(IC_X, y, IC_WIDTH, height, "#f4f4f4")
    drawing.text(IC_X + 8, y + 16, f"{ic.name}: {ic.kind.upper()}", "b")
    # Behind a multiplexer an IC has a bus of its own, which does not touch the other one.
    is_behind = ic.mux is not None
    where = "" if is_behind else f", {ic.place}"
    drawing.text(IC_X + 8, y + 16 + ROW, f"address 0x{ic.address:02X}{where}", "s")
    for offset, colour in ((0, SDA), (10, SCL)):
        start = IC_X - 16 if is_behind else BUS_X + offset
        drawing.line(start, y + 14 + offset, IC_X, y + 14 + offset, colour)
    third = ""
    if is_behind:
        third = f"SDA, SCL from {ic.mux} SD{ic.mux_channel}, SC{ic.mux_channel}"
    elif ic.interrupt_gpio is not None:
        third = f"INT to GPIO {ic.interrupt_gpio}"
    elif ic.kind in TEXT_KINDS:
        third = "at 5 V, behind the level shifter"
    drawing.text(IC_X + 8, y + 16 + 2 * ROW, third, "s")
    for place, row in enumerate(rows):
        drawing.line(
            IC_X + IC_WIDTH, y + 12 + ROW * place, IC_X + IC_WIDTH + 24, y + 12 + ROW * place
        )
        drawing.text(IC_X + IC_WIDTH + 30, y + 16 + ROW * place, row)
    return y + height + 14


def loads(board: BoardConfig, ic: IcConfig) -> list[str]:
    """What hangs on an IC's own pins, a line each."""
    if ic.kind in SENSING_KINDS:
        return [
            f"{electrode_pin(ic.kind, s.electrode)}: pad {s.id}" for s in board.sensors_on(ic.name)
        ]
    if ic.kind == PCA9685:
        return [
            f"LED{s.white_channel} white, LED{s.amber_channel} amber: lamp switch, lamp {s.id}"
            for s in board.sensors
            if s.lamp_ic == ic.name
        ]
    if ic.kind == TCA9548A:
        behind = [other for other in board.ics if other.mux == ic.name]
        return [f"SD{c}, SC{c}: {other.name}" for other in behind for c in [other.mux_channel]]
    if board.keypad is not None and board.keypad.ic == ic.name:
        return [f"P{pin}: key {name}" for name, pin in board.keypad.keys.items()]
    return ["text display, 20×4"]


PAD_MM, GUARD_MM, FOAM_MM = 38, 3, 3


def electrode() -> str:
    """The layout cut through the middle of one spot, not to scale in height."""
    low, high = RANGES["overlay thickness, mm"]
    drawing = Drawing("Electrode and shield under one spot, in section")
    drawing.box(170, 20, 160, 22, "#f6e3b4")
    drawing.text(345, 36, "gaming chip, 39 mm")
    drawing.box(20, 42, 460, 16, "#3b7d4f")
    drawing.text(490, 54, f"felt and layout, {low:g} to {high:g} mm together (assumed)")
    drawing.box(172, 58, 156, 8, "#c77b30")
    drawing.text(490, 70, f"pad: copper foil, {PAD_MM} mm across, no metal above it")
    drawing.box(120, 58, 44, 8, "#888")
    drawing.box(336, 58, 44, 8, "#888")
    drawing.text(490, 86, f"guard ring, {GUARD_MM} mm beside the pad: shield output, or ground")
    drawing.box(20, 66, 460, 34, "#eee")
    drawing.text(30, 88, f"foam or acrylic, {FOAM_MM} mm or more", "s")
    drawing.box(20, 100, 460, 8, "#888")
    drawing.text(490, 108, "shield plane: shield output (FDC1004), or ground (MPR121)")
    drawing.box(20, 108, 460, 40, "#d8c3a0")
    drawing.text(30, 132, "table board", "s")
    drawing.line(250, 66, 250, 172, "#c77b30")
    drawing.text(
        258, 170, "lead to ELEn or CINn, its screen to the shield, never to the lamp's ground", "s"
    )
    return drawing.svg()
