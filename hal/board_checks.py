"""What the parts of one board must agree on: nothing twice, nothing dangling, nothing unused.

Each check looks at a whole parsed board and raises ConfigError with the path of the offending key.
Types and ranges of single values were checked before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hal.chip_kinds import (
    ALL_CALL_ADDRESS,
    ELECTRODE_COUNT_MAX,
    FREQUENCY_HZ_MAX,
    PCA9685,
    SENSING_KINDS,
    TCA9548A,
    TCA9555,
)
from hal.errors import ConfigError

if TYPE_CHECKING:
    from hal.board_config import BoardConfig, BusConfig, ChipConfig

# The header pins that carry a bus, data line first, cannot be anything else.
GPIOS_OF_BUS = {0: (0, 1), 1: (2, 3)}


def check_board(board: BoardConfig) -> None:
    _check_repeats(board)
    _check_buses(board)
    _check_muxes(board)
    _check_addresses(board)
    _check_references(board)
    _check_electrodes(board)
    _check_nothing_unused(board)
    _check_gpios(board)


def refuse_repeats(path: str, claims: Iterable[tuple[object, str]]) -> None:
    """Refuses when two owners claim the same thing; a claim is (thing, owner)."""
    owners: dict[object, str] = {}
    for thing, owner in claims:
        if thing in owners:
            raise ConfigError(f"{path}: {owners[thing]} and {owner} both have {thing}.")
        owners[thing] = owner


def _refuse_twice(path: str, things: Iterable[str]) -> None:
    seen: set[str] = set()
    for thing in things:
        if thing in seen:
            raise ConfigError(f"{path}: {thing} is there twice.")
        seen.add(thing)


def _check_repeats(board: BoardConfig) -> None:
    _refuse_twice("board.buses", (f"bus {bus.number}" for bus in board.buses))
    _refuse_twice("board.chips", (f'the name "{chip.name}"' for chip in board.chips))
    _refuse_twice("board.sensors", (f'the id "{sensor.id}"' for sensor in board.sensors))
    refuse_repeats(
        "board.sensors",
        ((f"electrode {s.electrode} of {s.chip}", s.id) for s in board.sensors),
    )
    refuse_repeats(
        "board.sensors",
        (
            (f"channel {channel} of {s.lamp_chip}", f"{s.id} {colour}")
            for s in board.sensors
            for colour, channel in (("white", s.white_channel), ("amber", s.amber_channel))
        ),
    )


def _check_buses(board: BoardConfig) -> None:
    frequencies_hz = {bus.number: bus.frequency_hz for bus in board.buses}
    for chip in board.chips:
        if chip.bus not in frequencies_hz:
            raise ConfigError(f"board.chips: {chip.name} is on bus {chip.bus}, which is not there.")
        limit_hz = FREQUENCY_HZ_MAX[chip.kind]
        if frequencies_hz[chip.bus] > limit_hz:
            raise ConfigError(
                f"board.buses: bus {chip.bus} runs at {frequencies_hz[chip.bus]} Hz, "
                f"but {chip.name} follows {limit_hz} Hz at most."
            )


def _check_muxes(board: BoardConfig) -> None:
    muxes = {chip.name: chip for chip in board.chips if chip.kind == TCA9548A}
    for chip in board.chips:
        if chip.mux is None:
            continue
        if chip.mux not in muxes:
            raise ConfigError(
                f'board.chips: {chip.name} is behind "{chip.mux}", which is no {TCA9548A}.'
            )
        if muxes[chip.mux].bus != chip.bus:
            raise ConfigError(
                f"board.chips: {chip.name} is on bus {chip.bus}, "
                f"but {chip.mux} is on bus {muxes[chip.mux].bus}."
            )


def _check_addresses(board: BoardConfig) -> None:
    for bus in board.buses:
        chips = [chip for chip in board.chips if chip.bus == bus.number]
        for place, chip in enumerate(chips):
            _refuse_broadcast_address(chip, chips)
            for other in chips[:place]:
                _refuse_collision(other, chip)


def _refuse_broadcast_address(chip: ChipConfig, neighbours: list[ChipConfig]) -> None:
    # Not only until the lamp chips were started: one that lost its supply listens there again.
    lamp_chip_there = any(neighbour.kind == PCA9685 for neighbour in neighbours)
    if chip.address == ALL_CALL_ADDRESS and lamp_chip_there:
        raise ConfigError(
            f"board.chips: {chip.name} cannot have address 0x70: "
            f"every lamp chip of bus {chip.bus} listens there after power-up."
        )


def _refuse_collision(one: ChipConfig, other: ChipConfig) -> None:
    """Two chips of one address are only apart on two channels of the same multiplexer."""
    if one.address != other.address:
        return
    apart = one.mux is not None and one.mux == other.mux and one.mux_channel != other.mux_channel
    if apart:
        return
    address = f"address 0x{one.address:02X}"
    if one.place == other.place:
        raise ConfigError(
            f"board.chips: {one.name} and {other.name} both have {address} on {one.place}."
        )
    raise ConfigError(
        f"board.chips: {one.name} on {one.place} and {other.name} on {other.place} "
        f"both have {address} and could answer at once."
    )


def _check_references(board: BoardConfig) -> None:
    kinds = {chip.name: chip.kind for chip in board.chips}
    wanted: list[tuple[str, str, tuple[str, ...]]] = []
    wanted += [(f"board.sensors: {s.id}", s.chip, SENSING_KINDS) for s in board.sensors]
    wanted += [(f"board.sensors: {s.id}", s.lamp_chip, (PCA9685,)) for s in board.sensors]
    if board.keypad:
        wanted.append(("board.keypad.chip: the keypad", board.keypad.chip, (TCA9555,)))
    for who, name, fitting in wanted:
        if name not in kinds:
            raise ConfigError(f'{who} names the chip "{name}", which is not there.')
        if kinds[name] not in fitting:
            needed = " or ".join(fitting)
            raise ConfigError(f'{who} needs a {needed}, but "{name}" is a {kinds[name]}.')


def _check_electrodes(board: BoardConfig) -> None:
    """The chip scans from electrode 0 up, so one in between without a sensor has no reference."""
    for chip in board.chips:
        if chip.kind in SENSING_KINDS:
            electrodes = sorted(sensor.electrode for sensor in board.sensors_on(chip.name))
            if len(electrodes) > ELECTRODE_COUNT_MAX[chip.kind]:
                raise ConfigError(
                    f"board.sensors: {len(electrodes)} sensors are on {chip.name}; "
                    f"a {chip.kind} has {ELECTRODE_COUNT_MAX[chip.kind]} electrodes."
                )
            if electrodes != list(range(len(electrodes))):
                raise ConfigError(
                    f"board.sensors: the electrodes of {chip.name} are {electrodes}; "
                    "they must be counted from 0 without a gap."
                )


def _check_nothing_unused(board: BoardConfig) -> None:
    used = {s.chip for s in board.sensors} | {s.lamp_chip for s in board.sensors}
    used |= {chip.mux for chip in board.chips if chip.mux is not None}
    if board.keypad:
        used.add(board.keypad.chip)
    for chip in board.chips:
        if chip.name not in used:
            raise ConfigError(f"board.chips: nothing uses {chip.name}; is a name misspelt?")
    busy = {chip.bus for chip in board.chips}
    for bus in board.buses:
        if bus.number not in busy:
            raise ConfigError(f"board.buses: no chip is on bus {bus.number}.")


def _check_gpios(board: BoardConfig) -> None:
    claims = [
        (f"GPIO {gpio}", f"I2C bus {bus.number}") for bus in board.buses for gpio in _pins_of(bus)
    ]
    claims += [
        (f"GPIO {bus.supply_gpio}", f"the supply of bus {bus.number}")
        for bus in board.buses
        if bus.supply_gpio is not None
    ]
    claims += [
        (f"GPIO {chip.interrupt_gpio}", f"{chip.name}'s interrupt")
        for chip in board.chips
        if chip.interrupt_gpio is not None
    ]
    if board.keyswitch:
        claims.append((f"GPIO {board.keyswitch.run_gpio}", "the key switch's RUN contact"))
        claims.append((f"GPIO {board.keyswitch.jph_gpio}", "the key switch's JPH contact"))
    if board.tamper:
        claims.append((f"GPIO {board.tamper.gpio}", "the tamper switch"))
    refuse_repeats("board", claims)


def _pins_of(bus: BusConfig) -> tuple[int, ...]:
    known = GPIOS_OF_BUS.get(bus.number, ())
    if bus.recovery is None:
        return known
    pins = (bus.recovery.sda_gpio, bus.recovery.scl_gpio)
    if known and pins != known:
        raise ConfigError(
            f"board.buses: bus {bus.number} has its data line on GPIO {known[0]} "
            f"and its clock on GPIO {known[1]}."
        )
    return pins
