"""The faults that a scenario may name, done to a table's hardware."""

from __future__ import annotations

from collections.abc import Callable

from hal.board.config import BoardConfig
from sim.hardware.faults import TableFaults

# An IC that was interrupted in the middle of a byte: so many clocks to its end.
MID_BYTE_PULSES = 5


def strike(faults: TableFaults, board: BoardConfig, kind: str, ic: str) -> None:
    """Raises ValueError, with a sentence, when the table has no such part."""
    buses = {config.name: config.bus for config in board.ics}
    if ic not in buses:
        raise ValueError(f"the table has no IC called {ic}; there are {', '.join(buses)}")
    bus = buses[ic]
    acts: dict[str, Callable[[], None]] = {
        "nack": lambda: faults.nack(ic),
        "stuck": lambda: faults.stick_bus(bus),
        "mid-byte": lambda: faults.stick_bus(bus, pulses_to_free=MID_BYTE_PULSES),
        "grounded": lambda: faults.ground_bus(bus),
        "short": lambda: faults.short_read(ic),
        "lost-irq": lambda: faults.lose_interrupt(ic),
        "reset": lambda: faults.reset_ic(ic),
        "over-current": lambda: faults.over_current(ic),
        "none": lambda: faults.clear_bus(bus),
    }
    acts[kind]()
