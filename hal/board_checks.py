"""What the parts of one board must agree on: nothing twice, nothing dangling, nothing unused.

Each check looks at a whole parsed board and raises ConfigError with the path of the offending key.
Types and ranges of single values were checked before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hal.chip_kinds import FREQUENCY_HZ_MAX, MPR121, PCA9685, TCA9555
from hal.errors import ConfigError

if TYPE_CHECKING:
    from hal.board_config import BoardConfig

# The header pins that carry a bus cannot be anything else.
GPIOS_OF_BUS = {0: (0, 1), 1: (2, 3)}


def check_board(board: BoardConfig) -> None:
    _check_repeats(board)
    _check_buses(board)
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
        "board.chips",
        ((f"address 0x{chip.address:02X} on bus {chip.bus}", chip.name) for chip in board.chips),
    )
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


def _check_references(board: BoardConfig) -> None:
    kinds = {chip.name: chip.kind for chip in board.chips}
    wanted = [(f"board.sensors: {s.id}", s.chip, MPR121) for s in board.sensors]
    wanted += [(f"board.sensors: {s.id}", s.lamp_chip, PCA9685) for s in board.sensors]
    if board.keypad:
        wanted.append(("board.keypad.chip: the keypad", board.keypad.chip, TCA9555))
    for who, name, kind in wanted:
        if name not in kinds:
            raise ConfigError(f'{who} names the chip "{name}", which is not there.')
        if kinds[name] != kind:
            raise ConfigError(f'{who} needs a {kind}, but "{name}" is a {kinds[name]}.')


def _check_electrodes(board: BoardConfig) -> None:
    """The chip scans from electrode 0 up, so one in between without a sensor has no reference."""
    for chip in board.chips:
        if chip.kind == MPR121:
            electrodes = sorted(sensor.electrode for sensor in board.sensors_on(chip.name))
            if electrodes != list(range(len(electrodes))):
                raise ConfigError(
                    f"board.sensors: the electrodes of {chip.name} are {electrodes}; "
                    "they must be counted from 0 without a gap."
                )


def _check_nothing_unused(board: BoardConfig) -> None:
    used = {s.chip for s in board.sensors} | {s.lamp_chip for s in board.sensors}
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
        (f"GPIO {gpio}", f"I2C bus {bus.number}")
        for bus in board.buses
        for gpio in GPIOS_OF_BUS.get(bus.number, ())
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
