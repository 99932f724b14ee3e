"""The FDC1004 four-channel capacitance converter: raw measures, no baseline, no touch bits, no IRQ.

It measures its electrodes in turn, 400 a second, for as long as it has power, and forgets nothing,
because it knows nothing: reference and touch are the host's. It alone knows the registers. Raw
measures are described in `fdc1004_electrode`.

From TI SNOSCY5 as quoted publicly: the register map and reset values, ids, 24-bit two's complement
in 2**-19 pF, CAPDAC steps of 3.125 pF, DONE bits that a read ends. Not checked against a data sheet
here, and therefore not relied on: which half of a read ends DONE (each measure is read whole, so a
DONE bit always means a new one), whether the register pointer advances (each register is read
alone), what an unfinished measurement holds (only those with DONE are read; a measure at its limit
is asked for again).
"""

from __future__ import annotations

from collections.abc import Sequence

from hal.aio import sleep_ms, ticks_ms
from hal.bus.i2c import Bus, SMBusLike, read_registers, write_registers
from hal.devices.capacitive import (
    CapacitiveSensor,
    ElectrodeMeasure,
    ElectrodeReading,
    median_measure,
)
from hal.errors import SensorFault
from hal.ics.fdc1004_electrode import (
    CODE_MAX,
    CODE_MIN,
    FULL_SCALE,
    OPEN_UNITS_MAX,
    STOPPED,
    Electrode,
    units_of,
)
from hal.ics.kinds import ADDRESSES, CAPDAC_MAX, ELECTRODE_COUNT_MAX, FDC1004, TOUCH_THRESHOLDS
from hal.ics.registers import write_verified

MEASURES = 0x00
MEASURE_SETUPS = 0x08
FDC_CONF = 0x0C
MANUFACTURER_ID, DEVICE_ID = 0xFE, 0xFF
IDS = {MANUFACTURER_ID: 0x5449, DEVICE_ID: 0x1004}

RESET = 0x8000
RATE_400 = 0x0C00
REPEAT = 0x0100
MEASURE_1 = 0x0080
DONE_1 = 0x0008
DONE_MASK = 0x000F
AGAINST_CAPDAC = 0b100 << 10

MEASUREMENTS_PER_SECOND = 400
RESET_WAIT_MS = 2
RESET_LOOKS_MAX = 5
SAMPLE_COUNT = 5
ROUNDS_MAX = 3
MIXED_LOOKS_MAX = 4
MIXED_LOOK_MS = 3
# One or two measurements of 2.5 ms are new each time; a new one waits 2 ms on average. Well within
# a cycle of four, so that no measure is overwritten before it was read.
POLL_MS = 4

IC_RESET = "IC reset itself"


class Fdc1004(CapacitiveSensor):
    """Electrodes 0 to `electrode_count` - 1 on CIN1 up; thresholds are (touch, release) for each.

    `capdac` steps of 3.125 pF are taken off before measuring: the pads must lie within 15 pF of it.
    """

    counts_full_scale = FULL_SCALE
    # A third of a picofarad: what 60 counts of an MPR121 are on a pad of 3.5 pF.
    chip_counts_typical = 680
    # 5 fF: what felt, cable and lamps put on a quiet pad. The converter alone has 1.
    noise_counts_typical = 10
    poll_ms = POLL_MS
    interrupt = None

    def __init__(
        self,
        bus: Bus,
        electrode_count: int,
        thresholds: Sequence[tuple[int, int]] | None = None,
        capdac: int = 0,
    ) -> None:
        if not 1 <= electrode_count <= ELECTRODE_COUNT_MAX[FDC1004]:
            raise ValueError(f"An FDC1004 has 1 to 4 electrodes, not {electrode_count}.")
        if not 0 <= capdac <= CAPDAC_MAX:
            raise ValueError(f"The CAPDAC has 0 to {CAPDAC_MAX} steps, not {capdac}.")
        self.electrode_count = electrode_count
        self._bus = bus
        self._address = ADDRESSES[FDC1004][0]
        self.label = f"FDC1004 on bus {bus.name}"
        self._thresholds = list(thresholds or [TOUCH_THRESHOLDS[FDC1004][:2]] * electrode_count)
        if len(self._thresholds) != electrode_count:
            raise ValueError("An FDC1004 needs one pair of thresholds for each electrode.")
        self._capdac = capdac
        # One electrode after the other needs its turn, and the last one to the end.
        self._cycle_ms = 1 + electrode_count * 1000 // MEASUREMENTS_PER_SECOND
        self._references: list[int] | None = None
        self._electrodes: list[Electrode] = []

    async def start(self, references: Sequence[int]) -> None:
        self._references = self._checked(references)
        await self._run()
        codes = await self._fresh_codes()
        now_ms = ticks_ms()
        electrodes = [
            Electrode(reference, *thresholds, self._capdac)
            for reference, thresholds in zip(self._references, self._thresholds, strict=True)
        ]
        for number, electrode in enumerate(electrodes):
            if number in codes:
                electrode.take(codes[number], now_ms)
            electrode.judge(now_ms)
        self._electrodes = electrodes

    async def measure_each(self) -> list[ElectrodeMeasure]:
        """The median of a few samples for each electrode; leaves the IC as it was, or stopped."""
        was_running = bool(self._electrodes)
        if not was_running:
            await self._run()
        samples = [await self._fresh_measures() for _ in range(SAMPLE_COUNT)]
        if not was_running:
            await self._bus.run(lambda smbus: self._write(smbus, FDC_CONF, 0))
        return [median_measure(column) for column in zip(*samples, strict=True)]

    async def read_touched(self) -> int:
        fault = await self._refresh()
        if fault is not None:
            raise SensorFault(f"{self.label}: {fault}.")
        return sum(1 << n for n, electrode in enumerate(self._electrodes) if electrode.touched)

    async def snapshot(self) -> list[ElectrodeReading]:
        """Where something moved just now it waits for one measure more: up to 12 ms."""
        fault = await self._refresh()
        mixed = {each: each.good_count for each in self._electrodes if each.may_be_mixed}
        for _ in range(MIXED_LOOKS_MAX):
            if fault or all(each.good_count > count for each, count in mixed.items()):
                break
            await sleep_ms(MIXED_LOOK_MS)
            fault = await self._refresh()
        return [
            ElectrodeReading(each.raw, each.reference, each.touched, fault or each.fault)
            for each in self._electrodes
        ]

    async def recover(self) -> None:
        if self._references is None:
            raise SensorFault(f"{self.label} has no stored references to recover with.")
        await self.start(self._references)

    # -- setting up --------------------------------------------------------------------------

    async def _run(self) -> None:
        self._electrodes = []
        await self._bus.run(self._reset)
        for _ in range(RESET_LOOKS_MAX):
            await sleep_ms(RESET_WAIT_MS)
            if await self._bus.run(self._is_reset):
                break
        else:
            raise SensorFault(f"{self.label} did not reset.")
        await self._bus.run(self._configure)

    def _reset(self, smbus: SMBusLike) -> None:
        for register, expected in IDS.items():
            found = self._read(smbus, register)
            if found != expected:
                raise SensorFault(
                    f"{self.label}: register 0x{register:02X} reads 0x{found:04X}, "
                    f"not 0x{expected:04X}; this is another IC."
                )
        self._write(smbus, FDC_CONF, RESET)

    def _is_reset(self, smbus: SMBusLike) -> bool:
        return self._read(smbus, FDC_CONF) == 0

    def _configure(self, smbus: SMBusLike) -> None:
        # A repeated attempt may find it measuring already.
        self._write(smbus, FDC_CONF, 0)
        for electrode in range(self.electrode_count):
            setup = electrode << 13 | AGAINST_CAPDAC | self._capdac << 5
            data = setup.to_bytes(2, "big")
            register = MEASURE_SETUPS + electrode
            write_verified(smbus, self._address, register, data, self.label, SensorFault)
        self._write(smbus, FDC_CONF, self._run_mode)
        found = self._read(smbus, FDC_CONF) & ~DONE_MASK
        if found != self._run_mode:
            raise SensorFault(f"{self.label} does not measure: FDC_CONF reads 0x{found:04X}.")

    def _checked(self, references: Sequence[int]) -> list[int]:
        if len(references) != self.electrode_count:
            raise SensorFault(
                f"{self.label} has {self.electrode_count} electrodes, "
                f"but {len(references)} references were given."
            )
        least, most = (units_of(code, self._capdac) for code in (CODE_MIN + 1, CODE_MAX - 1))
        assert least is not None
        assert most is not None
        for electrode, reference in enumerate(references):
            units = FULL_SCALE - reference
            if not max(least, OPEN_UNITS_MAX) <= units <= most:
                raise SensorFault(
                    f"{self.label}: the reference {reference} of electrode {electrode} "
                    f"cannot be measured with {self._capdac} CAPDAC steps."
                )
        return list(references)

    # -- measures ----------------------------------------------------------------------------

    async def _refresh(self) -> str | None:
        """Takes what is finished; looks again, within bounds, for a measure that became too old."""
        for look in range(ROUNDS_MAX):
            if look > 0:
                await sleep_ms(self._cycle_ms)
            if not await self._take_finished():
                return IC_RESET
            if not self._any_newly_overdue():
                break
        now_ms = ticks_ms()
        for electrode in self._electrodes:
            electrode.judge(now_ms)
        stopped = all(electrode.fault == STOPPED for electrode in self._electrodes)
        return STOPPED if stopped else None

    async def _take_finished(self) -> bool:
        self._require_running()
        codes: dict[int, int] = {}
        configured = await self._bus.run(lambda smbus: self._read_done(smbus, codes))
        # A recovery may have stopped the IC meanwhile.
        self._require_running()
        now_ms = ticks_ms()
        for number, code in codes.items():
            self._electrodes[number].take(code, now_ms)
        return configured

    def _any_newly_overdue(self) -> bool:
        now_ms = ticks_ms()
        return any(each.fault is None and each.overdue(now_ms) for each in self._electrodes)

    async def _fresh_codes(self) -> dict[int, int]:
        """One measurement of each electrode that began after the call, of those that finish."""
        await self._bus.run(lambda smbus: self._read_done(smbus, {}))
        codes: dict[int, int] = {}
        for _ in range(ROUNDS_MAX):
            await sleep_ms(self._cycle_ms)
            await self._bus.run(lambda smbus: self._read_done(smbus, codes))
            if len(codes) == self.electrode_count:
                break
        return codes

    async def _fresh_measures(self) -> list[ElectrodeMeasure]:
        codes = await self._fresh_codes()
        return [self._measure_of(codes.get(each)) for each in range(self.electrode_count)]

    def _measure_of(self, code: int | None) -> ElectrodeMeasure:
        if code is None:
            return ElectrodeMeasure(0, "not measured")
        units = units_of(code, self._capdac)
        if units is None or units < OPEN_UNITS_MAX:
            return ElectrodeMeasure(0, f"out of range with {self._capdac} CAPDAC steps")
        return ElectrodeMeasure(FULL_SCALE - units)

    def _read_done(self, smbus: SMBusLike, codes: dict[int, int]) -> bool:
        """Adds finished measurements to `codes`; a repeated attempt keeps what the first one read.

        False: the IC is not set up as it was.
        """
        control = self._read(smbus, FDC_CONF)
        if control & ~DONE_MASK != self._run_mode:
            return False
        for electrode in range(self.electrode_count):
            if control & DONE_1 >> electrode:
                register = MEASURES + 2 * electrode
                high = self._read(smbus, register)
                codes[electrode] = high - 0x10000 if high & 0x8000 else high
                # Read for its effect: a DONE bit left standing could hide the next measure.
                self._read(smbus, register + 1)
        return True

    def _require_running(self) -> None:
        # Without a start there is no reference, and no measure means anything.
        if not self._electrodes:
            raise SensorFault(f"{self.label} is not running.")

    @property
    def _run_mode(self) -> int:
        return RATE_400 | REPEAT | sum(MEASURE_1 >> n for n in range(self.electrode_count))

    # -- registers ---------------------------------------------------------------------------

    def _read(self, smbus: SMBusLike, register: int) -> int:
        return int.from_bytes(read_registers(smbus, self._address, register, 2), "big")

    def _write(self, smbus: SMBusLike, register: int, value: int) -> None:
        write_registers(smbus, self._address, register, value.to_bytes(2, "big"))
