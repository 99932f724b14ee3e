"""What the parts of one board must agree on: nothing twice, nothing dangling, nothing unused.

Each check looks at a whole board and yields what is wrong, with its path below [board].
Types and ranges of single values were checked before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hal.ics.kinds import (
    ALL_CALL_ADDRESS,
    ELECTRODE_COUNT_MAX,
    FREQUENCY_HZ_MAX,
    PCA9685,
    SENSING_KINDS,
    TCA9548A,
    TCA9555,
    TEXT_KINDS,
)
from kit.config import Complaint, Path

if TYPE_CHECKING:
    from hal.board.config import BoardConfig, BusConfig, IcConfig

# The header pins that carry a bus, data line first, cannot be anything else.
GPIOS_OF_BUS = {0: (0, 1), 1: (2, 3)}


def check_board(board: BoardConfig) -> Iterator[Complaint]:
    """The first check that finds something is the last: the next would say it in other words."""
    for check in CHECKS:
        found = list(check(board))
        yield from found
        if found:
            return


def refuse_repeats(path: Path, claims: Iterable[tuple[object, str]]) -> Iterator[Complaint]:
    """Refuses when two owners claim the same thing; a claim is (thing, owner)."""
    owners: dict[object, str] = {}
    for thing, owner in claims:
        if thing in owners:
            yield path, f"{owners[thing]} and {owner} both have {thing}."
        owners[thing] = owner


def _refuse_twice(path: Path, things: Iterable[str]) -> Iterator[Complaint]:
    seen: set[str] = set()
    for thing in things:
        if thing in seen:
            yield path, f"{thing} is there twice."
        seen.add(thing)


def _check_repeats(board: BoardConfig) -> Iterator[Complaint]:
    yield from _refuse_twice(("buses",), (f"bus {bus.number}" for bus in board.buses))
    yield from _refuse_twice(("ics",), (f'the name "{ic.name}"' for ic in board.ics))
    yield from _refuse_twice(("sensors",), (f'the id "{sensor.id}"' for sensor in board.sensors))


def _check_claims(board: BoardConfig) -> Iterator[Complaint]:
    yield from refuse_repeats(
        ("sensors",),
        ((f"electrode {s.electrode} of {s.ic}", s.id) for s in board.sensors),
    )
    yield from refuse_repeats(
        ("sensors",),
        (
            (f"channel {channel} of {s.lamp_ic}", f"{s.id} {colour}")
            for s in board.sensors
            for colour, channel in (("white", s.white_channel), ("amber", s.amber_channel))
        ),
    )


def _check_buses(board: BoardConfig) -> Iterator[Complaint]:
    frequencies_hz = {bus.number: bus.frequency_hz for bus in board.buses}
    for ic in board.ics:
        if ic.bus not in frequencies_hz:
            yield ("ics",), f"{ic.name} is on bus {ic.bus}, which is not there."
            continue
        limit_hz = FREQUENCY_HZ_MAX[ic.kind]
        if frequencies_hz[ic.bus] > limit_hz:
            yield (
                ("buses",),
                (
                    f"bus {ic.bus} runs at {frequencies_hz[ic.bus]} Hz, "
                    f"but {ic.name} follows {limit_hz} Hz at most."
                ),
            )


def _check_muxes(board: BoardConfig) -> Iterator[Complaint]:
    muxes = {ic.name: ic for ic in board.ics if ic.kind == TCA9548A}
    for ic in board.ics:
        if ic.mux is None:
            continue
        if ic.mux not in muxes:
            yield ("ics",), (f'{ic.name} is behind "{ic.mux}", which is no {TCA9548A}.')
        elif muxes[ic.mux].bus != ic.bus:
            yield (
                ("ics",),
                (f"{ic.name} is on bus {ic.bus}, but {ic.mux} is on bus {muxes[ic.mux].bus}."),
            )


def _check_addresses(board: BoardConfig) -> Iterator[Complaint]:
    for bus in board.buses:
        ics = [ic for ic in board.ics if ic.bus == bus.number]
        for place, ic in enumerate(ics):
            yield from _refuse_broadcast_address(ic, ics)
            for other in ics[:place]:
                yield from _refuse_collision(other, ic)


def _refuse_broadcast_address(ic: IcConfig, neighbours: list[IcConfig]) -> Iterator[Complaint]:
    # Not only until the lamp ICs were started: one that lost its supply listens there again.
    lamp_ic_there = any(neighbour.kind == PCA9685 for neighbour in neighbours)
    if ic.address == ALL_CALL_ADDRESS and lamp_ic_there:
        yield (
            ("ics",),
            (
                f"{ic.name} cannot have address 0x70: "
                f"every lamp IC of bus {ic.bus} listens there after power-up."
            ),
        )


def _refuse_collision(one: IcConfig, other: IcConfig) -> Iterator[Complaint]:
    """Two ICs of one address are only apart on two channels of the same multiplexer."""
    if one.address != other.address:
        return
    apart = one.mux is not None and one.mux == other.mux and one.mux_channel != other.mux_channel
    if apart:
        return
    address = f"address 0x{one.address:02X}"
    if one.place == other.place:
        yield ("ics",), (f"{one.name} and {other.name} both have {address} on {one.place}.")
        return
    yield (
        ("ics",),
        (
            f"{one.name} on {one.place} and {other.name} on {other.place} "
            f"both have {address} and could answer at once."
        ),
    )


def _check_references(board: BoardConfig) -> Iterator[Complaint]:
    kinds = {ic.name: ic.kind for ic in board.ics}
    wanted: list[tuple[Path, str, str, tuple[str, ...]]] = []
    for place, each in enumerate(board.sensors):
        wanted.append((("sensors", place, "ic"), each.id, each.ic, SENSING_KINDS))
        wanted.append((("sensors", place, "lamp_ic"), each.id, each.lamp_ic, (PCA9685,)))
    if board.keypad:
        wanted.append((("keypad", "ic"), "the keypad", board.keypad.ic, (TCA9555,)))
    if board.text_display:
        text = board.text_display.ic
        wanted.append((("text_display", "ic"), "the text display", text, TEXT_KINDS))
    for path, who, name, fitting in wanted:
        if name not in kinds:
            yield path, f'{who} names the IC "{name}", which is not there.'
        elif kinds[name] not in fitting:
            needed = " or ".join(fitting)
            yield path, f'{who} needs a {needed}, but "{name}" is a {kinds[name]}.'


def _check_electrodes(board: BoardConfig) -> Iterator[Complaint]:
    """The IC scans from electrode 0 up, so one in between without a sensor has no reference."""
    for ic in board.ics:
        if ic.kind in SENSING_KINDS:
            electrodes = sorted(sensor.electrode for sensor in board.sensors_on(ic.name))
            if len(electrodes) > ELECTRODE_COUNT_MAX[ic.kind]:
                yield (
                    ("sensors",),
                    (
                        f"{len(electrodes)} sensors are on {ic.name}; "
                        f"a {ic.kind} has {ELECTRODE_COUNT_MAX[ic.kind]} electrodes."
                    ),
                )
            elif electrodes != list(range(len(electrodes))):
                yield (
                    ("sensors",),
                    (
                        f"the electrodes of {ic.name} are {electrodes}; "
                        "they must be counted from 0 without a gap."
                    ),
                )


def _check_nothing_unused(board: BoardConfig) -> Iterator[Complaint]:
    used = {s.ic for s in board.sensors} | {s.lamp_ic for s in board.sensors}
    used |= {ic.mux for ic in board.ics if ic.mux is not None}
    if board.keypad:
        used.add(board.keypad.ic)
    if board.text_display:
        used.add(board.text_display.ic)
    for ic in board.ics:
        if ic.name not in used:
            yield ("ics",), f"nothing uses {ic.name}; is a name misspelt?"
    busy = {ic.bus for ic in board.ics}
    for bus in board.buses:
        if bus.number not in busy:
            yield ("buses",), f"no IC is on bus {bus.number}."


def _check_bus_pins(board: BoardConfig) -> Iterator[Complaint]:
    for place, bus in enumerate(board.buses):
        known = GPIOS_OF_BUS.get(bus.number)
        if known and bus.recovery and _pins_of(bus) != known:
            yield (
                ("buses", place, "recovery"),
                f"bus {bus.number} has its data line on GPIO {known[0]} "
                f"and its clock on GPIO {known[1]}.",
            )


def _check_ports(board: BoardConfig) -> Iterator[Complaint]:
    ports = {"the card reader": board.card_reader, "the shuffler": board.shuffler}
    yield from refuse_repeats(
        (), ((f"the port {port.path}", name) for name, port in ports.items() if port)
    )


def _check_gpios(board: BoardConfig) -> Iterator[Complaint]:
    claims = [
        (f"GPIO {gpio}", f"I2C bus {bus.number}") for bus in board.buses for gpio in _pins_of(bus)
    ]
    claims += [
        (f"GPIO {bus.supply_gpio}", f"the supply of bus {bus.number}")
        for bus in board.buses
        if bus.supply_gpio is not None
    ]
    claims += [
        (f"GPIO {ic.interrupt_gpio}", f"{ic.name}'s interrupt")
        for ic in board.ics
        if ic.interrupt_gpio is not None
    ]
    if board.keyswitch:
        claims.append((f"GPIO {board.keyswitch.run_gpio}", "the key switch's RUN contact"))
        claims.append((f"GPIO {board.keyswitch.jph_gpio}", "the key switch's JPH contact"))
    if board.tamper:
        claims.append((f"GPIO {board.tamper.gpio}", "the tamper switch"))
    yield from refuse_repeats((), claims)


def _pins_of(bus: BusConfig) -> tuple[int, ...]:
    """Its data line and its clock, where they are known."""
    if bus.recovery is None:
        return GPIOS_OF_BUS.get(bus.number, ())
    return (bus.recovery.sda_gpio, bus.recovery.scl_gpio)


CHECKS = (
    _check_repeats,
    _check_claims,
    _check_buses,
    _check_muxes,
    _check_addresses,
    _check_references,
    _check_electrodes,
    _check_nothing_unused,
    _check_bus_pins,
    _check_ports,
    _check_gpios,
)
