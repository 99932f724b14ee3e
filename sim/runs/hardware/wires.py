"""Every wire of a board: from where, to where, in which colour, and how long it may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hal.board.config import BoardConfig, IcConfig
from hal.board.wiring import Wires, buses, pins
from hal.ics.kinds import FDC1004, PCA9685, TEXT_KINDS
from sim.runs.hardware import parts


class Wire(NamedTuple):
    wire: str
    start: str
    end: str
    colour: str
    length: str
    notes: str


def wires_of(board: BoardConfig) -> Iterator[Wire]:
    yield from _supply(board)
    yield from _bus_wires(board)
    for gpio, use in pins(board):
        if "interrupt" in use:
            name = use.partition(",")[0]
            yield Wire(
                "interrupt", _pin(gpio), f"{name} INT", parts.GREEN, "as the bus", "10 kΩ to 3.3 V"
            )
        elif "supply switch" in use:
            notes = "10 kΩ to 3.3 V: on when let go"
            yield Wire("supply switch", _pin(gpio), "its ON pin", parts.GREY, "0.2 m", notes)
        elif "contact" in use or "tamper" in use:
            colour = parts.VIOLET if "tamper" in use else parts.BROWN
            yield Wire(use, _pin(gpio), "switch, other side to ground", colour, "2 m", "twisted")
    for ic in board.ics:
        yield from _of_ic(board, ic)


def _pin(gpio: int) -> str:
    return f"header pin {parts.HEADER_PIN[gpio]} (GPIO {gpio})"


def _supply(board: BoardConfig) -> Iterator[Wire]:
    pins_3v3, pins_ground = parts.POWER_3V3_PIN, parts.GROUND_PIN
    is_switched = any(bus.supply_gpio is not None for bus in board.buses)
    start = f"header pin {pins_3v3}{', by the supply switch' if is_switched else ''}"
    yield Wire("3.3 V", start, "every IC's VDD", parts.RED, "as the bus", "0.25 mm²")
    start = f"header pin {parts.POWER_5V_PIN}"
    yield Wire("5 V", start, "every lamp", parts.ORANGE, "as the lamps", "")
    if board.text_display:
        start += ", by a supply switch of its own" if is_switched else ""
        end = "text display, backpack, level shifter's 5 V side"
        yield Wire("5 V of the display", start, end, parts.ORANGE, "1 m", "")
    end = "every IC, lamp switch and contact"
    yield Wire("ground", f"header pin {pins_ground}", end, parts.BLACK, "as the bus", "0.25 mm²")


def _bus_wires(board: BoardConfig) -> Iterator[Wire]:
    longest = {each.bus: each.cable_m_max for each in buses(board, Wires())}
    for bus in board.buses:
        if bus.recovery is None:
            continue
        length = f"at most {longest[bus.number]:.1f} m"
        ends = (
            ("SDA", bus.recovery.sda_gpio, parts.BLUE),
            ("SCL", bus.recovery.scl_gpio, parts.YELLOW),
        )
        behind = [ic for ic in board.ics if ic.bus == bus.number and ic.mux is not None]
        near = [
            f"{ic.name}'s level shifter" if ic.kind in TEXT_KINDS else ic.name
            for ic in board.ics
            if ic.bus == bus.number and ic.mux is None
        ]
        for name, gpio, colour in ends:
            wire, end = f"bus {bus.number} {name}", f"{name} of {', '.join(near)}"
            yield Wire(wire, _pin(gpio), end, colour, length, "beside a ground wire")
        for ic in behind:
            start = f"{ic.mux} SD{ic.mux_channel}, SC{ic.mux_channel}"
            end, colours = f"{ic.name} SDA, SCL", f"{parts.BLUE}, {parts.YELLOW}"
            notes = "10 kΩ each to 3.3 V, if its board brings none"
            yield Wire(f"channel {ic.mux_channel}", start, end, colours, length, notes)


def _of_ic(board: BoardConfig, ic: IcConfig) -> Iterator[Wire]:
    lead = (
        ("1 m", "screened, screen to SHLD")
        if ic.kind == FDC1004
        else ("0.1 m", "single, no screen")
    )
    for sensor in board.sensors_on(ic.name):
        yield Wire(
            f"pad {sensor.id}",
            f"{ic.name} {parts.electrode_pin(ic.kind, sensor.electrode)}",
            "pad",
            parts.WHITE,
            *lead,
        )
    if ic.kind == PCA9685:
        for sensor in board.sensors:
            if sensor.lamp_ic == ic.name:
                channels = f"{ic.name} LED{sensor.white_channel}, LED{sensor.amber_channel}"
                start = f"{channels}, each by a lamp switch"
                colours = f"{parts.WHITE}/{parts.BLACK}, {parts.ORANGE}/{parts.BLACK}"
                end, notes = "lamp, white, amber; other side to 5 V", "not beside a pad's lead"
                yield Wire(f"lamp {sensor.id}", start, end, colours, "2 m", notes)
    if ic.kind in TEXT_KINDS:
        ends = (f"level shifter, 5 V side, to {ic.name}", "SDA, SCL of the backpack")
        yield Wire("display's bus", *ends, f"{parts.BLUE}, {parts.YELLOW}", "0.2 m", "")
        pins_of, display = parts.BACKPACK_PINS
        notes = "on the backpack; P3 lights the glass"
        yield Wire("display", f"{ic.name} {pins_of}", display, "-", "-", notes)
    if board.keypad is not None and board.keypad.ic == ic.name:
        for name, pin in board.keypad.keys.items():
            end = f"key {name}, other side to ground"
            yield Wire(
                f"key {name}", f"{ic.name} P{pin}", end, parts.BROWN, "1 m", "10 kΩ to 3.3 V"
            )
