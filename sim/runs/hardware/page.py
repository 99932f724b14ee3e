"""The words and tables of docs/hardware.md, from the board files and the lists beside this."""

from __future__ import annotations

import dataclasses
import textwrap
from collections import Counter
from collections.abc import Iterator
from math import ceil
from pathlib import Path

from hal.board.config import BoardConfig, parse_board
from hal.board.wiring import Wires, buses, findings, pins
from hal.ics.kinds import TCA9555
from kit.config import load
from sim.felt.capacitance import FEMTOFARAD_COUNTS
from sim.felt.physics.ranges import RANGES
from sim.runs.hardware import parts, sensing_leads
from sim.runs.hardware.drawings import FOAM_MM, PAD_MM
from sim.runs.hardware.wires import wires_of

HEAD = """# Hardware to build from

Written by `python -m sim hardware` from the table files in `deploy/tables/`; a test compares it.
Change a table's file, run the command, and drawings and tables follow.

**Nothing on this page was tried on real parts.** The software runs on simulated ICs whose registers
follow the data sheets, and its hardware layer on a real kernel ([figures](figures.md)). Part
numbers and currents are from data sheets as remembered: check each before you order. The felt's
figures are assumptions ([sensing](sensing.md)). Where arithmetic says that something will not work,
it is said below. `underfelt-tech board check FILE` does the arithmetic for a file of your own.
"""
COLUMNS = 100
RANGE_UNITS = (", fF", ", mm", "fF per", "fF rms", "fF at")


def boards(folder: Path) -> dict[str, tuple[list[str], BoardConfig]]:
    """The different boards, each by the first table that has it, with all tables that do."""
    found: dict[str, tuple[list[str], BoardConfig]] = {}
    for path in sorted(folder.glob("*.toml")):
        board = parse_board(load(path).values["board"])
        twin = dataclasses.replace(board, serial="-")
        for tables, known in found.values():
            if dataclasses.replace(known, serial="-") == twin:
                tables.append(path.stem)
                break
        else:
            found[path.stem] = [path.stem], board
    return found


def page(folder: Path) -> str:
    known = boards(folder)
    lines = [HEAD, *_overview(known), *_electrode()]
    for name, (tables, board) in known.items():
        lines += _board(name, tables, board)
    lines += _enclosure()
    return "\n".join(lines) + "\n"


def paragraph(text: str) -> str:
    """The words of one paragraph, whatever they are long, in lines of a page."""
    return textwrap.fill(" ".join(text.split()), COLUMNS, break_on_hyphens=False)


def table(heads: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield ""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _overview(known: dict[str, tuple[list[str], BoardConfig]]) -> Iterator[str]:
    yield "## The boards that ship"
    rows = [
        [f"[{name}](#board-{name})", ", ".join(tables), str(len(board.sensors)), _kinds(board)]
        for name, (tables, board) in known.items()
    ]
    yield from table(["board", "tables", "sensors", "ICs"], rows)


def _kinds(board: BoardConfig) -> str:
    kinds = [ic.kind for ic in board.ics]
    return ", ".join(f"{kinds.count(kind)} × {kind.upper()}" for kind in dict.fromkeys(kinds))


# -- the electrode -------------------------------------------------------------------------------


def _electrode() -> Iterator[str]:
    yield "## Electrode and shield"
    yield ""
    yield "![Electrode and shield under one spot](pictures/hardware-electrode.svg)"
    yield ""
    yield paragraph("""How a pad is fixed, and how its lead runs under the layout, is drawn in the
[guide for installing](table-care.md#install-under-a-layout).""")
    yield ""
    distance = sensing_leads.plane_distance_mm(PAD_MM)
    yield paragraph(f"""A pad of {PAD_MM} mm over a plane that is {distance:.1f} mm below it has
the assumed stray of {sensing_leads.middle("pad stray, fF") / 1000:.2f} pF, without what leaves
at its edges and without its lead. Nearer planes and longer leads take sensitivity away. By the
model's own conversion, on an MPR121 that charges for {sensing_leads.CHARGE_US} µs:""")
    rows = [
        [
            f"{each.lead_pf:g} pF",
            f"{each.current_ua} µA",
            f"{each.reading:.0f}",
            f"{each.chip_counts:.1f}",
        ]
        for each in sensing_leads.leads()
    ]
    yield from table(["lead", "`charge_current_microamps`", "empty pad reads", "a clay chip"], rows)
    yield paragraph("""The software's usual figure for a chip is 60 counts, with noise of about
one count. So an MPR121 wants its pads within a few centimetres, and not at the end of a metre of
screened cable (about 100 pF). **The shipped boards with an MPR121 have one IC for six or seven
seats, whose leads cannot be that short. They are what the simulator plays, and by this
arithmetic they would not see a chip on a layout of full size.** Put an MPR121 beside each pair
of seats, or build the FDC1004 board. An FDC1004 takes the lead's capacitance off before it
measures (`capdac`, up to 97 pF), and drives the lead's screen with the pad's own voltage. This
is arithmetic and not experience.""")
    yield ""
    yield "### What the felt's model assumes, and how to measure your own"
    yield ""
    yield f"""1. Read the empty pad and the pad with one chip on the service page (*Sensors*, raw).
2. An MPR121 at 16 µA: a pad has `{FEMTOFARAD_COUNTS:.0f} / raw` femtofarads. The chip is the
   difference of the two. At another charge current, multiply by it and divide by 16.
3. An FDC1004 measures femtofarads: the chip is the difference of raw, divided by 2.048.
4. Put what you measured into `sim/felt/physics/ranges.py`, run `python -m sim sense`, and see
   whether the sensing still tells chips from hands."""
    rows = [
        [name, f"{low:g}", f"{high:g}"]
        for name, (low, high) in RANGES.items()
        if any(unit in name for unit in RANGE_UNITS)
    ]
    yield from table(["assumed", "from", "to"], rows)


# -- one board -----------------------------------------------------------------------------------


def _board(name: str, tables: list[str], board: BoardConfig) -> Iterator[str]:
    yield f"## Board {name}"
    yield ""
    yield f"For the table files {', '.join(f'`{each}`' for each in tables)}."
    yield ""
    yield f"![Schematic of the board of {name}](pictures/hardware-{name}.svg)"
    yield ""
    yield "### Pinout"
    pin_rows = [
        ["1", "3.3 V", "supply of every IC, through the supply switch"],
        ["2", "5 V", "lamps, text display" if board.text_display else "lamps"],
        ["6, 9, 14 …", "ground", "one wire to each board"],
    ]
    pin_rows += [[str(parts.HEADER_PIN[gpio]), f"GPIO {gpio}", use] for gpio, use in pins(board)]
    yield from table(["header pin", "is", "for"], pin_rows)
    yield "### Addresses"
    rows = [
        [ic.name, ic.kind.upper(), f"0x{ic.address:02X}", parts.tied_pins(ic.kind, ic.address)]
        for ic in board.ics
    ]
    yield from table(["IC", "kind", "address", "pins to tie"], rows)
    yield "### Wires"
    rows = [list(wire) for wire in wires_of(board)]
    yield from table(["wire", "from", "to", "colour", "length", "notes"], rows)
    yield "### Parts"
    yield from table(["number", "part", "typical"], [*_parts(board)])
    yield "### Power"
    yield from _power(board)
    yield "### What `board check` says"
    yield ""
    yield from _check(board)
    yield ""


def _parts(board: BoardConfig) -> Iterator[list[str]]:
    for count, what, typical in parts.COMPUTER:
        yield [str(count), what, typical]
    yield ["1", "supply", parts.SUPPLY]
    kinds = [ic.kind for ic in board.ics]
    for kind in dict.fromkeys(kinds):
        part = parts.IC_PARTS[kind]
        yield [str(kinds.count(kind)), part.name, part.typical]
    sensors = len(board.sensors)
    yield [str(sensors), f"pad, copper foil, {PAD_MM} mm", "35 µm copper on polyester, adhesive"]
    yield [str(sensors), "guard ring and shield plane", "copper foil, as drawn above"]
    yield [str(sensors), f"foam or acrylic, {FOAM_MM} mm", "closed cells, with adhesive"]
    yield [str(2 * sensors), "lamp, white and amber for each spot", "LED with its own resistor"]
    yield [str(_lamp_switches(board)), *parts.LAMP_SWITCH]
    switched = sum(bus.supply_gpio is not None for bus in board.buses)
    if switched:
        yield [str(switched + bool(board.text_display)), *parts.SUPPLY_SWITCH]
    if board.keypad:
        yield [str(len(board.keypad.keys)), "key, normally open", "any 12 mm panel switch"]
    if board.text_display:
        yield ["1", "text display 20×4", "HD44780 type, 5 V, with backpack"]
        yield ["1", *parts.LEVEL_SHIFTER]
    pulled = switched + sum(ic.interrupt_gpio is not None for ic in board.ics)
    pulled += len(board.keypad.keys) if board.keypad else 0
    yield [str(pulled), "resistor 10 kΩ", "a pull-up for each wire that names one"]
    if board.keyswitch:
        yield ["1", "key switch, two positions, a contact for each", "any with two contacts"]
    if board.tamper:
        yield ["1", "tamper switch, closed with the lid", "Omron SS-5GL or alike"]
    if board.card_reader:
        yield ["1", "magnetic card reader, serial over USB", f"shows as `{board.card_reader.path}`"]
    if board.shuffler:
        yield ["1", "shuffler with a serial line", f"shows as `{board.shuffler.path}`"]


def _lamp_switches(board: BoardConfig) -> int:
    """So many arrays beside each lamp driver as its lamps need."""
    lamps = Counter(sensor.lamp_ic for sensor in board.sensors)
    return sum(ceil(2 * count / parts.LAMP_SWITCH_CHANNELS) for count in lamps.values())


def _power(board: BoardConfig) -> Iterator[str]:
    ics_ma = sum(parts.IC_PARTS[ic.kind].supply_ma for ic in board.ics)
    lamps_ma = parts.LAMP_MA * 2 * len(board.sensors)
    light_ma = parts.DISPLAY_BACKLIGHT_MA if board.text_display else 0.0
    inputs_ma = parts.LAMP_SWITCH_INPUT_MA * 2 * len(board.sensors)
    other_w = ((ics_ma + inputs_ma) * 3.3 + (lamps_ma + light_ma) * 5) / 1000
    rows = [
        ["ICs, 3.3 V", f"{ics_ma:.0f} mA", "at most, by data sheet"],
        ["lamp switches' inputs, 3.3 V", f"{inputs_ma:.0f} mA", "by data sheet, all on"],
        ["lamps, 5 V", f"{lamps_ma:.0f} mA", f"both colours everywhere, {parts.LAMP_MA:g} mA each"],
    ]
    if light_ma:
        rows.append(["display's light, 5 V", f"{light_ma:.0f} mA", "by data sheet"])
    rows.append(["all of it", f"{other_w:.1f} W", "beside the computer"])
    rows.append(["supply", f"{parts.COMPUTER_SUPPLY_W:.0f} W", "computer and screen included"])
    yield from table(["what", "takes", "how it is known"], rows)
    yield paragraph(f"""A lamp switch takes 500 mA a channel, and this board asks
{parts.LAMP_MA:g}. The lamp driver alone would not do: its outputs are high while a lamp is to be
lit. The header's own 3.3 V is enough for the ICs and these inputs, and for nothing else. Nobody
measured this budget.""")
    if light_ma:
        yield ""
        yield paragraph("""A display's backpack usually has pull-ups to its own 5 V. On the bus
itself they would lift the computer's pins above 3.3 V: leave the level shifter in.""")
    yield ""


def _check(board: BoardConfig) -> Iterator[str]:
    wires = Wires()
    for bus in buses(board, wires):
        yield paragraph(f"""With {wires.cable_m:g} m of cable at {wires.cable_pf_per_m:g} pF/m
and {wires.breakout_pull_up_ohms / 1000:g} kΩ on each breakout, bus {bus.bus} carries
{bus.load_pf:.0f} pF behind {bus.pull_up_ohms:.0f} Ω and rises in {bus.rise_ns:.0f} ns (at most
{bus.rise_ns_max}). It may be {bus.cable_m_max:.1f} m long. It is busy for {bus.busy_percent:.0f}
% while chips are judged.""")
    for sentence in findings(board, wires):
        yield ""
        yield paragraph(f"**{sentence[0].upper()}{sentence[1:]}**")
    if any(ic.kind == TCA9555 for ic in board.ics):
        yield ""
        yield "Keys close to ground; the expander has no pull-ups of its own: 10 kΩ for each key."


def _enclosure() -> Iterator[str]:
    yield """## Enclosure and cables
- The unit sits in a closed box with the tamper switch under its lid, screwed below the table. Leave
  a finger's width around it: a computer without a fan gets hot, and the service page shows how hot.
- Metal boxes are grounded at one point, beside the supply. Pads and their leads stay 50 mm away.
- The bus is one cable from board to board, never a star. Data and clock each lie beside a ground
  wire, not beside each other. Lamp wires run in another cable: their edges are what a pad hears.
- Strain relief at both ends of every lead. A lead that moves changes its capacitance, and that
  looks like a hand.
- Plugs that fit one way only, with the colour of the table above on both halves. Label each lead
  with its seat: `selftest` and *find this seat* name seats and never pins.
- Liquids come from above. Let leads leave the pad sideways and hang below their plug, so that what
  runs along them drips off before it.
"""
