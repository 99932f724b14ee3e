"""Hardware that misbehaves on purpose: bus faults, and one door to arm every fault by name.

A bus fault is armed here and strikes in `sim.i2c`; chip and pin faults act on the models directly.
Each is counted when it strikes, so a test can prove that its fault was met. Nothing here decides
what the controller should do about it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

from sim.chips.base import Chip
from sim.chips.fdc1004 import Fdc1004
from sim.chips.mpr121 import Mpr121
from sim.felt import OPEN_CIRCUIT_COUNTS, SHORT_CIRCUIT_COUNTS, Felt

if TYPE_CHECKING:
    from sim.pins import SimPinFactory

FOREVER = 1 << 30
MILLISECOND_NS = 1_000_000
STUCK_TIMEOUT_MS = 30  # What the adapter's timeout is set to; the kernel's own default is 1 s.
CLOCK_PULSES_MAX = 9  # A chip in the middle of a byte needs no more to reach its end.


class BusFaults:
    """The faults armed on one bus, and how often each struck.

    A NACK or a short read is armed for an address, or for one chip where several share an address.
    """

    def __init__(self) -> None:
        self.struck: Counter[str] = Counter()
        # Hears when SDA is held (True) and when it is let go.
        self.on_data_line: Callable[[bool], None] = lambda held: None
        self._nacks: Counter[Hashable] = Counter()
        self._short_reads: Counter[Hashable] = Counter()
        self._missing_bytes = 1
        self._arbitrations = 0
        self._blocks = 0
        self._block_ns = 0
        self._stuck_timeout_ns: int | None = None
        self._pulses_to_free: int | None = None
        self._is_grounded = False

    def nack(self, target: Hashable, count: int = FOREVER) -> None:
        """The next `count` transfers to `target` are not acknowledged."""
        self._nacks[target] = count

    def short_read(self, target: Hashable, count: int = 1, missing_bytes: int = 1) -> None:
        """The next `count` reads of `target` end `missing_bytes` early."""
        self._short_reads[target] = count
        self._missing_bytes = missing_bytes

    def lose_arbitration(self, count: int = 1) -> None:
        """The next `count` transfers on the bus lose arbitration at their address."""
        self._arbitrations = count

    def block(self, duration_ns: int, count: int = 1) -> None:
        """The next `count` transfers begin `duration_ns` late: the clock is held, then let go."""
        self._blocks, self._block_ns = count, duration_ns

    def hold_data_line(
        self,
        timeout_ns: int = STUCK_TIMEOUT_MS * MILLISECOND_NS,
        pulses_to_free: int | None = None,
    ) -> None:
        """SDA stays low: every transfer fails after `timeout_ns` until the line is released.

        With `pulses_to_free` that many clock pulses release it; without, a cut of the supply does.
        """
        self._stuck_timeout_ns = timeout_ns
        self._pulses_to_free = pulses_to_free
        self._is_grounded = False
        self.on_data_line(True)

    def ground_data_line(self) -> None:
        """SDA lies on ground: no clock and no supply helps, until somebody mends the wire."""
        self.hold_data_line()
        self._is_grounded = True

    @property
    def is_data_line_held(self) -> bool:
        return self._stuck_timeout_ns is not None

    def release_data_line(self) -> None:
        if self._stuck_timeout_ns is not None:
            self._stuck_timeout_ns = None
            self.on_data_line(False)

    def clear(self) -> None:
        """Disarms everything; the counts stay."""
        self._nacks.clear()
        self._short_reads.clear()
        self._arbitrations = 0
        self._blocks = 0
        self.release_data_line()

    # -- done to the wires from outside ------------------------------------------------------

    def clock_pulse(self) -> None:
        """SCL went low and came back while no transfer was under way."""
        if self._stuck_timeout_ns is None or self._pulses_to_free is None:
            return
        self.struck["clock pulse"] += 1
        self._pulses_to_free -= 1
        if self._pulses_to_free <= 0:
            self.release_data_line()

    def lose_supply(self) -> None:
        """The chips of the bus lost their supply: none of them holds anything."""
        self.struck["supply cut"] += 1
        if not self._is_grounded:
            self.release_data_line()

    # -- asked by the bus --------------------------------------------------------------------

    def blocked_ns(self) -> int:
        if self._blocks == 0:
            return 0
        self._blocks -= 1
        self.struck["blocked"] += 1
        return self._block_ns

    def stuck_ns(self) -> int | None:
        if self._stuck_timeout_ns is not None:
            self.struck["stuck"] += 1
        return self._stuck_timeout_ns

    def strikes_arbitration(self) -> bool:
        if self._arbitrations == 0:
            return False
        self._arbitrations -= 1
        self.struck["arbitration"] += 1
        return True

    def strikes_nack(self, address: int, chips: Sequence[Chip] = ()) -> bool:
        return bool(self._nacks) and self._strike(self._nacks, (address, *chips), "nack")

    def bytes_missing(self, address: int, chips: Sequence[Chip] = ()) -> int:
        if not self._short_reads:
            return 0
        struck = self._strike(self._short_reads, (address, *chips), "short read")
        return self._missing_bytes if struck else 0

    def _strike(self, armed: Counter[Hashable], targets: Sequence[Hashable], name: str) -> bool:
        for target in targets:
            if armed[target] > 0:
                armed[target] -= 1
                self.struck[name] += 1
                return True
        return False


class TableFaults:
    """Every fault of a table by the names its people use. Armed here, counted in `struck`."""

    def __init__(
        self,
        bus_faults: Mapping[int, BusFaults],
        chips: Mapping[str, tuple[int, Chip]],
        interrupts: Mapping[str, int],
        electrodes: Mapping[str, tuple[str, int]],
        pins: SimPinFactory,
        felt: Felt,
        feel: Callable[[str], None],
        bring_to_now: Callable[[Chip], None],
    ) -> None:
        self._bus_faults = bus_faults
        self._chips = chips
        self._interrupts = interrupts
        self._electrodes = electrodes
        self._pins = pins
        self._felt = felt
        self._feel = feel
        self._bring_to_now = bring_to_now
        self._struck: Counter[str] = Counter()
        # Buses whose chips have no supply just now because the unit itself took it from them.
        self.switched_off: set[int] = set()

    @property
    def struck(self) -> Counter[str]:
        """How often each kind of fault has been met so far, by its name."""
        total = Counter(self._struck)
        for each in self._bus_faults.values():
            total.update(each.struck)
        total["lost interrupt"] = sum(self._pins.lost_edges.values())
        return total

    def nack(self, chip_name: str, count: int = FOREVER) -> None:
        faults, chip = self._at(chip_name)
        faults.nack(chip, count)

    def short_read(self, chip_name: str, count: int = 1, missing_bytes: int = 1) -> None:
        faults, chip = self._at(chip_name)
        faults.short_read(chip, count, missing_bytes)

    def lose_arbitration(self, bus_number: int, count: int = 1) -> None:
        self._bus(bus_number).lose_arbitration(count)

    def block_bus(self, bus_number: int, duration_ms: int, count: int = 1) -> None:
        """The next `count` transfers take `duration_ms` longer, with whoever waits for them."""
        self._bus(bus_number).block(duration_ms * MILLISECOND_NS, count)

    def stick_bus(
        self,
        bus_number: int,
        timeout_ms: int = STUCK_TIMEOUT_MS,
        pulses_to_free: int | None = None,
    ) -> None:
        """SDA is held low until released, clocked free, or until the supply is cut."""
        self._bus(bus_number).hold_data_line(timeout_ms * MILLISECOND_NS, pulses_to_free)

    def stick_bus_at_random(self, bus_number: int, draw: random.Random) -> int | None:
        """As a chip would: it needs 1 to 9 clock pulses, or, one time in four, a supply cut."""
        pulses = None if draw.random() < 0.25 else draw.randint(1, CLOCK_PULSES_MAX)
        self.stick_bus(bus_number, pulses_to_free=pulses)
        return pulses

    def ground_bus(self, bus_number: int) -> None:
        """The data line's wire lies on ground, until it is released."""
        self._bus(bus_number).ground_data_line()

    def is_bus_held(self, bus_number: int) -> bool:
        return self._bus(bus_number).is_data_line_held

    def release_bus(self, bus_number: int) -> None:
        self._bus(bus_number).release_data_line()

    def clear_bus(self, bus_number: int) -> None:
        """Disarms every bus fault: NACKs, short reads, lost arbitration, the held line."""
        self._bus(bus_number).clear()

    def lose_interrupt(self, chip_name: str, count: int = 1) -> None:
        """The next `count` edges of the chip's interrupt line reach nobody."""
        self._pins.swallow_edges(self._interrupt_gpio(chip_name), count)

    def ground_interrupt(self, chip_name: str) -> None:
        """The chip's interrupt line lies on ground, whatever the chip does, until it is mended."""
        self._pins.force(self._interrupt_gpio(chip_name), 0)
        self._struck["grounded interrupt"] += 1

    def cut_interrupt(self, chip_name: str) -> None:
        """The wire is off: the line stays high, whatever the chip does, until it is mended."""
        self._pins.force(self._interrupt_gpio(chip_name), None)
        self._struck["cut interrupt"] += 1

    def mend_interrupt(self, chip_name: str) -> None:
        self._pins.mend(self._interrupt_gpio(chip_name))

    def reset_chip(self, chip_name: str) -> None:
        """A dip of the chip's supply: its registers are at their power-on values."""
        if self._chips_bus(chip_name) in self.switched_off:
            return
        chip = self._living(chip_name)
        chip.power_cycle()
        self._struck["chip reset"] += 1

    def over_current(self, chip_name: str) -> None:
        if self._chips_bus(chip_name) in self.switched_off:
            return
        chip = self._living(chip_name)
        if not isinstance(chip, Mpr121):
            raise ValueError(f"The chip {chip_name} has no over-current flag.")
        chip.over_current()
        self._struck["over current"] += 1

    def move_baseline(self, sensor: str) -> None:
        """One register of the sensing chip changes: the sensor's baseline."""
        name, electrode = self._electrodes[sensor]
        chip = self._living(name)
        if not isinstance(chip, Mpr121):
            raise ValueError(f"The chip {name} keeps no baseline.")
        chip.move_baseline(electrode)
        self._struck["moved baseline"] += 1

    def hang_converter(self, chip_name: str) -> None:
        """The chip answers, but measures no more until it is reset."""
        chip = self._living(chip_name)
        if not isinstance(chip, Fdc1004):
            raise ValueError(f"The chip {chip_name} has no converter that could hang.")
        chip.hang()
        self._struck["hung converter"] += 1

    def break_electrode(self, sensor: str, shorted: bool = False) -> None:
        """The pad's wire is off (full scale), or lies on ground (zero)."""
        counts = SHORT_CIRCUIT_COUNTS if shorted else OPEN_CIRCUIT_COUNTS
        self._felt.pad(sensor).broken_counts = counts
        self._feel(sensor)
        self._struck["dead electrode"] += 1

    def mend_electrode(self, sensor: str) -> None:
        self._felt.pad(sensor).broken_counts = None
        self._feel(sensor)

    def _interrupt_gpio(self, chip_name: str) -> int:
        if chip_name not in self._interrupts:
            raise ValueError(f"The chip {chip_name} has no interrupt line.")
        return self._interrupts[chip_name]

    def _living(self, chip_name: str) -> Chip:
        chip = self._at(chip_name)[1]
        if not chip.powered:
            raise ValueError(f"The chip {chip_name} has no power, so nothing can happen to it.")
        self._bring_to_now(chip)
        return chip

    def _chips_bus(self, chip_name: str) -> int:
        self._at(chip_name)
        return self._chips[chip_name][0]

    def _bus(self, bus_number: int) -> BusFaults:
        if bus_number not in self._bus_faults:
            raise ValueError(f"There is no I2C bus {bus_number} on this board.")
        return self._bus_faults[bus_number]

    def _at(self, chip_name: str) -> tuple[BusFaults, Chip]:
        if chip_name not in self._chips:
            raise ValueError(f"There is no chip {chip_name}; there are {', '.join(self._chips)}.")
        bus_number, chip = self._chips[chip_name]
        return self._bus_faults[bus_number], chip
