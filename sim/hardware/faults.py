"""Hardware that misbehaves on purpose: bus faults, and one door to arm every fault by name.

A bus fault is armed here and strikes in `sim.hardware.i2c`; IC and pin faults act on the models
directly. Each is counted when it strikes, so a test can prove that its fault was met. Nothing here
decides what the controller should do about it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

from sim.felt.felt import OPEN_CIRCUIT_COUNTS, SHORT_CIRCUIT_COUNTS, Felt
from sim.hardware.ics.base import Ic
from sim.hardware.ics.fdc1004 import Fdc1004
from sim.hardware.ics.mpr121 import Mpr121

if TYPE_CHECKING:
    from sim.hardware.pins import SimPinFactory

FOREVER = 1 << 30
MILLISECOND_NS = 1_000_000
STUCK_TIMEOUT_MS = 30  # What the adapter's timeout is set to; the kernel's own default is 1 s.
CLOCK_PULSES_MAX = 9  # An IC in the middle of a byte needs no more to reach its end.


class BusFaults:
    """The faults armed on one bus, and how often each struck.

    A NACK or a short read is armed for an address, or for one IC where several share an address.
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

    def would_fail(self, target: Hashable) -> bool:
        """Whether a transfer to `target` would fail now; asking strikes nothing."""
        return self.is_data_line_held or self._nacks[target] > 0

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
        """The ICs of the bus lost their supply: none of them holds anything."""
        self.struck["supply cut"] += 1
        if not self._is_grounded:
            self.release_data_line()

    @property
    def is_quiet(self) -> bool:
        """Nothing is armed that would strike a transfer, whoever it is for."""
        if self._blocks or self._arbitrations or self._stuck_timeout_ns is not None:
            return False
        # Asked at each transfer, and hardly ever is anything in them.
        return not (
            (self._nacks and any(self._nacks.values()))
            or (self._short_reads and any(self._short_reads.values()))
        )

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

    def strikes_nack(self, address: int, ics: Sequence[Ic] = ()) -> bool:
        return bool(self._nacks) and self._strike(self._nacks, (address, *ics), "nack")

    def bytes_missing(self, address: int, ics: Sequence[Ic] = ()) -> int:
        if not self._short_reads:
            return 0
        struck = self._strike(self._short_reads, (address, *ics), "short read")
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
        ics: Mapping[str, tuple[int, Ic]],
        interrupts: Mapping[str, int],
        electrodes: Mapping[str, tuple[str, int]],
        pins: SimPinFactory,
        felt: Felt,
        feel: Callable[[str], None],
        bring_to_now: Callable[[Ic], None],
    ) -> None:
        self._bus_faults = bus_faults
        self._ics = ics
        self._interrupts = interrupts
        self._electrodes = electrodes
        self._pins = pins
        self._felt = felt
        self._feel = feel
        self._bring_to_now = bring_to_now
        self._struck: Counter[str] = Counter()
        # Buses whose ICs have no supply just now because the unit itself took it from them.
        self.switched_off: set[int] = set()

    @property
    def struck(self) -> Counter[str]:
        """How often each kind of fault has been met so far, by its name."""
        total = Counter(self._struck)
        for each in self._bus_faults.values():
            total.update(each.struck)
        total["lost interrupt"] = sum(self._pins.lost_edges.values())
        return total

    def nack(self, ic_name: str, count: int = FOREVER) -> None:
        faults, ic = self._at(ic_name)
        faults.nack(ic, count)

    def short_read(self, ic_name: str, count: int = 1, missing_bytes: int = 1) -> None:
        faults, ic = self._at(ic_name)
        faults.short_read(ic, count, missing_bytes)

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
        """As an IC would: it needs 1 to 9 clock pulses, or, one time in four, a supply cut."""
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

    def is_out_of_reach(self, ic_name: str) -> bool:
        """Whether nobody on the bus could talk to this IC now."""
        faults, ic = self._at(ic_name)
        return not ic.powered or faults.would_fail(ic)

    def lose_interrupt(self, ic_name: str, count: int = 1) -> None:
        """The next `count` edges of the IC's interrupt line reach nobody."""
        self._pins.swallow_edges(self._interrupt_gpio(ic_name), count)

    def ground_interrupt(self, ic_name: str) -> None:
        """The IC's interrupt line lies on ground, whatever the IC does, until it is mended."""
        self._pins.force(self._interrupt_gpio(ic_name), 0)
        self._struck["grounded interrupt"] += 1

    def cut_interrupt(self, ic_name: str) -> None:
        """The wire is off: the line stays high, whatever the IC does, until it is mended."""
        self._pins.force(self._interrupt_gpio(ic_name), None)
        self._struck["cut interrupt"] += 1

    def mend_interrupt(self, ic_name: str) -> None:
        self._pins.mend(self._interrupt_gpio(ic_name))

    def reset_ic(self, ic_name: str) -> None:
        """A dip of the IC's supply: its registers are at their power-on values."""
        if self._ics_bus(ic_name) in self.switched_off:
            return
        ic = self._living(ic_name)
        ic.power_cycle()
        self._struck["IC reset"] += 1

    def over_current(self, ic_name: str) -> None:
        if self._ics_bus(ic_name) in self.switched_off:
            return
        ic = self._living(ic_name)
        if not isinstance(ic, Mpr121):
            raise ValueError(f"The IC {ic_name} has no over-current flag.")
        ic.over_current()
        self._struck["over current"] += 1

    def move_baseline(self, sensor: str) -> None:
        """One register of the sensing IC changes: the sensor's baseline."""
        name, electrode = self._electrodes[sensor]
        ic = self._living(name)
        if not isinstance(ic, Mpr121):
            raise ValueError(f"The IC {name} keeps no baseline.")
        ic.move_baseline(electrode)
        self._struck["moved baseline"] += 1

    def hang_converter(self, ic_name: str) -> None:
        """The IC answers, but measures no more until it is reset."""
        ic = self._living(ic_name)
        if not isinstance(ic, Fdc1004):
            raise ValueError(f"The IC {ic_name} has no converter that could hang.")
        ic.hang()
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

    def _interrupt_gpio(self, ic_name: str) -> int:
        if ic_name not in self._interrupts:
            raise ValueError(f"The IC {ic_name} has no interrupt line.")
        return self._interrupts[ic_name]

    def _living(self, ic_name: str) -> Ic:
        ic = self._at(ic_name)[1]
        if not ic.powered:
            raise ValueError(f"The IC {ic_name} has no power, so nothing can happen to it.")
        self._bring_to_now(ic)
        return ic

    def _ics_bus(self, ic_name: str) -> int:
        self._at(ic_name)
        return self._ics[ic_name][0]

    def _bus(self, bus_number: int) -> BusFaults:
        if bus_number not in self._bus_faults:
            raise ValueError(f"There is no I2C bus {bus_number} on this board.")
        return self._bus_faults[bus_number]

    def _at(self, ic_name: str) -> tuple[BusFaults, Ic]:
        if ic_name not in self._ics:
            raise ValueError(f"There is no IC {ic_name}; there are {', '.join(self._ics)}.")
        bus_number, ic = self._ics[ic_name]
        return self._bus_faults[bus_number], ic
