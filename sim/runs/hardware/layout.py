"""Two drawings for whoever lies under the table: the layout from below, and how a pad is fixed.

Places of pads and boards are chosen for the picture. Which pad is on which IC, and which wire may
not lie beside which, is the board file's and the wiring table's.
"""

from __future__ import annotations

from math import cos, pi, sin

from hal.board.config import BoardConfig
from hal.ics.kinds import SENSING_KINDS, TCA9548A
from sim.runs.hardware.drawings import GUARD_MM, PAD_MM
from sim.runs.hardware.svg import Drawing

FOAM = "#eee"
COPPER, FELT, WOOD, SCREEN, LAMP, BUS = (
    "#c77b30",
    "#3b7d4f",
    "#d8c3a0",
    "#888",
    "#d9822b",
    "#1457b8",
)
# The table's round edge: its middle, how far the pads lie from it, and what the arc spans.
MIDDLE, FAR, SPAN = (430.0, 90.0), 330.0, pi * 0.86
PAD_RADIUS, LAMP_STEP = 15, 46
IC_Y, IC_BOX, PI_BOX = 150, (104, 40), (330, 40, 200, 34)


def from_below(name: str, board: BoardConfig) -> str:
    """Every pad with its lead to its IC; lamp wires run on the outside, away from the leads."""
    drawing = Drawing(f"The layout of {name} from below: pads, leads, lamps and boards")
    drawing.text(
        20, 22, f"{name}, from below, the dealer's side on top: seat 1 is on the left", "b"
    )
    x, y, width, height = PI_BOX
    drawing.box(x, y, width, height, "#f4f4f4")
    beside = [ic.name for ic in board.ics if ic.kind == TCA9548A]
    drawing.text(x + 10, y + 21, f"{', '.join(['Raspberry Pi', *beside])}, at the dealer")
    ics = [ic for ic in board.ics if ic.kind in SENSING_KINDS]
    places = {ic.name: _ic_place(number, len(ics)) for number, ic in enumerate(ics)}
    for ic in ics:
        left, top = places[ic.name]
        drawing.path(
            [(430, y + height), (430, top - 12), (left + 52, top - 12), (left + 52, top)], BUS
        )
        drawing.box(left, top, *IC_BOX, "#f4f4f4")
        drawing.text(left + 8, top + 16, ic.name, "b")
        drawing.text(left + 8, top + 31, ic.kind.upper(), "s")
    outer = []
    for number, sensor in enumerate(board.sensors):
        pad, lamp = _spot(number, len(board.sensors))
        left, top = places[sensor.ic]
        drawing.path([(left + 52, top + IC_BOX[1]), pad], SCREEN)
        drawing.circle(*pad, PAD_RADIUS, COPPER)
        drawing.text(pad[0] - 8, pad[1] + 4, sensor.id)
        drawing.circle(*lamp, 5, LAMP)
        outer.append(lamp)
    drawing.path(outer, LAMP, "6 4")
    _key(drawing)
    return drawing.svg()


def _spot(number: int, count: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where a pad and its lamp are: seat 1 is at the dealer's left, and this is seen from below."""
    angle = pi / 2 + SPAN / 2 - SPAN * number / max(1, count - 1)
    x, y = MIDDLE
    pad, lamp = FAR, FAR + LAMP_STEP
    return (
        (round(x + pad * cos(angle)), round(y + pad * sin(angle))),
        (round(x + lamp * cos(angle)), round(y + lamp * sin(angle))),
    )


def _ic_place(number: int, count: int) -> tuple[float, float]:
    gap = 220.0
    return MIDDLE[0] + gap * (number - (count - 1) / 2) - IC_BOX[0] / 2, IC_Y


def _key(drawing: Drawing) -> None:
    rows = (
        (SCREEN, "", "pad's lead, screened: as short as it can be, along the board, taped down"),
        (LAMP, "6 4", "lamps and their wires: on the outside, never beside a pad's lead"),
        (BUS, "", "bus, supply, interrupt: one flat cable with a ground wire beside each line"),
    )
    for place, (colour, dash, words) in enumerate(rows):
        y = 490 + 18 * place
        drawing.path([(20, y), (60, y)], colour, dash)
        drawing.text(70, y + 4, words)


def pad_steps() -> str:
    """Four steps in section: mark, fix, lead, felt."""
    drawing = Drawing("How a pad is fixed under its spot, in four steps")
    steps = (
        ("1. Mark the middle", "of the printed spot on", "the board below it."),
        (
            "2. Stick down, flat:",
            f"plane, foam, pad {PAD_MM} mm,",
            f"ring {GUARD_MM} mm beside it.",
        ),
        ("3. Lead it down", "through a hole, tape it,", "press the plug home."),
        ("4. Lay the felt", "smooth, without a fold", "above the pad."),
    )
    for number, words in enumerate(steps):
        x = 20.0 + 215 * number
        drawing.text(x, 20, words[0], "b")
        drawing.text(x, 36, words[1])
        drawing.text(x, 52, words[2])
        drawing.box(x, 110, 190, 34, WOOD)
        if number == 0:
            drawing.path([(x + 95, 62), (x + 95, 108)], "#b00020")
            drawing.path([(x + 85, 98), (x + 95, 108), (x + 105, 98)], "#b00020")
        if number >= 1:
            drawing.box(x + 30, 106, 130, 4, SCREEN)
            drawing.box(x + 30, 94, 130, 12, FOAM)
            drawing.box(x + 62, 88, 66, 6, COPPER)
            drawing.box(x + 38, 88, 18, 6, SCREEN)
            drawing.box(x + 134, 88, 18, 6, SCREEN)
        if number >= 2:
            drawing.path([(x + 95, 94), (x + 95, 152), (x + 185, 152)], COPPER)
            drawing.box(x + 130, 147, 24, 10, "#ddd")
        if number == 3:
            drawing.box(x, 72, 190, 16, FELT)
    return drawing.svg()
