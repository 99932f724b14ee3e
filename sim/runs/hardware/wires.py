"""Every wire of a board: from where, to where, in which colour, and how long it may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hal.board.config import BoardConfig, IcConfig
from hal.board.wiring import Wires, buses, pins
from hal.ics.kinds import FDC1004, PCA9685
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
            yield Wire(
                "supply switch", _pin(gpio), "switch ON", parts.GREY, "0.2 m", "on when let go"
            )
        elif "contact" in use or "tamper" in use:
            colour = parts.VIOLET if "tamper" in use else parts.BROWN
            yield Wire(use, _pin(gpio), "switch, other side to ground", colour, "2 m", "twisted")
    for ic in board.ics:
        yield from _of_ic(board, ic)


def _pin(gpio: int) -> str:
    return f"header pin {parts.HEADER_PIN[gpio]} (GPIO {gpio})"


def _supply(board: BoardConfig) -> Iterator[Wire]:
    pins_3v3, pins_ground = parts.POWER_3V3_PIN, parts.GROUND_PIN
    yield Wire(
        "3.3 V", f"header pin {pins_3v3}", "every IC's VDD", parts.RED, "as the bus", "0.25 mm²"
    )
    yield Wire("5 V", f"header pin {parts.POWER_5V_PIN}", "lamps", parts.ORANGE, "as the lamps", "")
    end = "every IC, lamp and switch"
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
        for name, gpio, colour in ends:
            notes = "beside a ground wire"
            yield Wire(
                f"bus {bus.number} {name}", _pin(gpio), f"every {name}", colour, length, notes
            )


def _of_ic(board: BoardConfig, ic: IcConfig) -> Iterator[Wire]:
    lead = (
        ("1 m", "screened, screen to SHLD")
        if ic.kind == FDC1004
        else ("0.1 m", "single, no screen")
    )
    for sensor in board.sensors_on(ic.name):
        yield Wire(
            f"pad {sensor.id}", f"{ic.name} ELE{sensor.electrode}", "pad", parts.WHITE, *lead
        )
    if ic.kind == PCA9685:
        for sensor in board.sensors:
            if sensor.lamp_ic == ic.name:
                channels = f"{ic.name} LED{sensor.white_channel}, LED{sensor.amber_channel}"
                colours = f"{parts.WHITE}/{parts.BLACK}, {parts.ORANGE}/{parts.BLACK}"
                notes = "not beside a pad's lead"
                yield Wire(
                    f"lamp {sensor.id}", channels, "lamp, white, amber", colours, "2 m", notes
                )
    if board.keypad is not None and board.keypad.ic == ic.name:
        for name, pin in board.keypad.keys.items():
            end = f"key {name}, other side to ground"
            yield Wire(
                f"key {name}", f"{ic.name} P{pin}", end, parts.BROWN, "1 m", "10 kΩ to 3.3 V"
            )
