"""What a board's wires will do before anything is soldered: rise times, pull-ups, busy buses, pins.

The board's file says which ICs are on which bus; cables and pull-ups are not in it, so whoever asks
gives them. The limits are those of the I2C specification (UM10204) and of the Raspberry Pi's
header. A finding is advice with its arithmetic: it refuses nothing, and nothing here was measured
on real parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from hal.board.config import BoardConfig, BusConfig, IcConfig
from hal.ics.kinds import SENSING_KINDS

SUPPLY_VOLTS: Final = 3.3
# UM10204: rise times, the load of a bus, and what an output may sink at 0.4 V.
RISE_NS_MAX: Final = {100_000: 1000, 400_000: 300, 1_000_000: 120}
LOAD_PF_MAX: Final = {100_000: 400, 400_000: 400, 1_000_000: 550}
SINK_MA: Final = 3.0
LOW_VOLTS: Final = 0.4
# From 30 % to 70 % of the supply, through a resistor.
RISE_FACTOR: Final = 0.8473
PIN_PF: Final = 10
# Soldered between 3.3 V and GPIO 2 and 3 on every Raspberry Pi; other buses have none of their own.
HEADER_PULL_UP_OHMS: Final = 1800
HEADER_BUS: Final = 1
# One whole reading of a sensing IC, with addresses and pointers, and how often one is wanted.
READING_BYTES: Final = 46
BITS_PER_BYTE: Final = 9
READING_EVERY_MS: Final = 10
BUSY_PERCENT_MAX: Final = 60
# What else the header gives these pins to.
SPOKEN_FOR: Final = {
    0: "the identification EEPROM of a board on the header",
    1: "the identification EEPROM of a board on the header",
    14: "the serial console, unless it is switched off",
    15: "the serial console, unless it is switched off",
}


@dataclass(frozen=True)
class Wires:
    """What is between the parts. The figures are usual ones, to be replaced by one's own."""

    cable_m: float = 1.0
    cable_pf_per_m: float = 100.0
    # A breakout board usually brings its own pull-ups; 0 for none.
    breakout_pull_up_ohms: float = 10_000.0
    # One's own resistor on each bus and each channel of a multiplexer beside that, 0 for none.
    own_pull_up_ohms: float = 0.0


class BusWires(NamedTuple):
    """One line of a bus, as both of its lines are."""

    bus: int
    frequency_hz: int
    load_pf: float
    pull_up_ohms: float  # 0 where there is none
    rise_ns: float
    rise_ns_max: int
    busy_percent: float
    cable_m_max: float  # with these pull-ups
    bare_channels: tuple[str, ...]  # channels of a multiplexer without any pull-up


def buses(board: BoardConfig, wires: Wires) -> list[BusWires]:
    return [_bus(board, bus, wires) for bus in board.buses]


def findings(board: BoardConfig, wires: Wires) -> Iterator[str]:
    """What would make trouble, one sentence each."""
    for found in buses(board, wires):
        yield from _of_bus(found, wires)
    yield from _of_pins(board)


def _bus(board: BoardConfig, bus: BusConfig, wires: Wires) -> BusWires:
    ics = [ic for ic in board.ics if ic.bus == bus.number]
    direct = [ic for ic in ics if ic.mux is None]
    channels = _channels(ics)
    # An open channel is one wire with the bus: its pins, its cable and its pull-ups count then, and
    # those of one channel at a time. The rise is judged with the most loaded one.
    behind = max(map(len, channels.values()), default=-1)
    pins_pf = PIN_PF * (len(direct) + 1 + behind + 1)
    cables = 2 if channels else 1
    load_pf = pins_pf + cables * wires.cable_m * wires.cable_pf_per_m
    pull_up_ohms = _together(_resistors(bus, len(direct) + max(0, behind), cables, wires))
    speed_hz = _speed_class(bus.frequency_hz)
    rise_ns = RISE_FACTOR * pull_up_ohms * load_pf / 1000
    most_pf = float(LOAD_PF_MAX[speed_hz])
    if pull_up_ohms:
        most_pf = min(most_pf, RISE_NS_MAX[speed_hz] * 1000 / (RISE_FACTOR * pull_up_ohms))
    sensing = sum(ic.kind in SENSING_KINDS for ic in ics)
    reading_ms = READING_BYTES * BITS_PER_BYTE * 1000 / bus.frequency_hz
    return BusWires(
        bus.number,
        bus.frequency_hz,
        load_pf,
        pull_up_ohms,
        rise_ns,
        RISE_NS_MAX[speed_hz],
        100 * sensing * reading_ms / READING_EVERY_MS,
        max(0.0, (most_pf - pins_pf) / wires.cable_pf_per_m / cables),
        tuple(channels) if not wires.breakout_pull_up_ohms + wires.own_pull_up_ohms else (),
    )


def _channels(ics: list[IcConfig]) -> dict[str, list[IcConfig]]:
    """What hangs behind each channel of a multiplexer."""
    found: dict[str, list[IcConfig]] = {}
    for ic in ics:
        if ic.mux is not None:
            found.setdefault(f"channel {ic.mux_channel} of {ic.mux}", []).append(ic)
    return found


def _resistors(bus: BusConfig, ic_count: int, cables: int, wires: Wires) -> list[float]:
    found = [wires.breakout_pull_up_ohms] * ic_count + [wires.own_pull_up_ohms] * cables
    if bus.number == HEADER_BUS:
        found.append(HEADER_PULL_UP_OHMS)
    return [ohms for ohms in found if ohms]


def _together(resistors: list[float]) -> float:
    return 1 / sum(1 / ohms for ohms in resistors) if resistors else 0.0


def _speed_class(frequency_hz: int) -> int:
    return min(limit for limit in RISE_NS_MAX if frequency_hz <= limit)


def _of_bus(found: BusWires, wires: Wires) -> Iterator[str]:
    name = f"bus {found.bus}"
    if not found.pull_up_ohms:
        yield f"{name} has no pull-up at all: give both wires one of 2.2 kΩ to 3.3 V."
        return
    for channel in found.bare_channels:
        yield (
            f"{channel} has no pull-up: while it is not chosen nothing holds its wires. Give both "
            "one of 10 kΩ to 3.3 V."
        )
    least_ohms = (SUPPLY_VOLTS - LOW_VOLTS) / SINK_MA * 1000
    if found.pull_up_ohms < least_ohms:
        yield (
            f"{name} has {found.pull_up_ohms:.0f} Ω of pull-ups together, below "
            f"{least_ohms:.0f} Ω: an IC may fail to pull the line low. Take the resistors off some "
            "of the boards."
        )
    speed_hz = _speed_class(found.frequency_hz)
    if found.load_pf > LOAD_PF_MAX[speed_hz]:
        yield (
            f"{name} carries {found.load_pf:.0f} pF, and {LOAD_PF_MAX[speed_hz]} is the most: "
            f"{wires.cable_m:g} m of cable is too long."
        )
    elif found.rise_ns > found.rise_ns_max:
        yield (
            f"{name} rises in {found.rise_ns:.0f} ns at {found.frequency_hz} Hz, and "
            f"{found.rise_ns_max} is the most: at most {found.cable_m_max:.1f} m of such cable, "
            "smaller pull-ups, or a slower bus."
        )
    if found.busy_percent > BUSY_PERCENT_MAX:
        yield (
            f"{name} is busy for {found.busy_percent:.0f} % while chips are being judged: its "
            "sensing ICs need a faster bus, or another one."
        )


def _of_pins(board: BoardConfig) -> Iterator[str]:
    for gpio, user in pins(board):
        if gpio in SPOKEN_FOR:
            yield f"GPIO {gpio} ({user}) belongs to {SPOKEN_FOR[gpio]}."


def pins(board: BoardConfig) -> list[tuple[int, str]]:
    """Every pin of the header that the board uses, and for what."""
    found: list[tuple[int, str]] = []
    for bus in board.buses:
        if bus.recovery is not None:
            found.append((bus.recovery.sda_gpio, f"bus {bus.number}, data (SDA)"))
            found.append((bus.recovery.scl_gpio, f"bus {bus.number}, clock (SCL)"))
        if bus.supply_gpio is not None:
            found.append((bus.supply_gpio, f"bus {bus.number}, supply switch"))
    found += [
        (ic.interrupt_gpio, f"{ic.name}, interrupt")
        for ic in board.ics
        if ic.interrupt_gpio is not None
    ]
    if board.keyswitch is not None:
        found.append((board.keyswitch.run_gpio, "key switch, RUN contact"))
        found.append((board.keyswitch.jph_gpio, "key switch, JPH contact"))
    if board.tamper is not None:
        found.append((board.tamper.gpio, "tamper switch"))
    return sorted(found)
