"""The MPR121 twelve-electrode sensing IC, with its baseline frozen.

A bet lies still for minutes, and this IC is built to forget what lies still; so it runs with
tracking off on empty-felt references that are stored elsewhere and handed in. It alone knows the
registers. It decides nothing about presence and never learns a reference from the felt.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from hal.aio import sleep_ms
from hal.bus.i2c import Bus, SMBusLike, read_registers
from hal.devices.capacitive import (
    CapacitiveSensor,
    ElectrodeMeasure,
    ElectrodeReading,
    median_measure,
)
from hal.devices.lines import InputLine
from hal.errors import SensorFault
from hal.ics.kinds import ELECTRODE_COUNT_MAX, MPR121
from hal.ics.registers import verify, write_verified

STATUS = 0x00
STATUS_HIGH = 0x01
OUT_OF_RANGE_STATUS = 0x02
AUTOCONFIG_FLAGS = 0xC000  # of the same two registers
ELECTRODE_DATA = 0x04
BASELINES = 0x1E
THRESHOLDS = 0x41
DEBOUNCE = 0x5B
AFE2 = 0x5D
ECR = 0x5E
SOFT_RESET = 0x80

RESET_KEY = 0x63
AFE2_AFTER_RESET = 0x24
OVER_CURRENT = 0x80
BASELINE_LOCKED = 0x40
ONE_EXTRA_SAMPLE_EACH_WAY = 0x11
SAMPLE_EVERY_4_MS = 0x20
SNAPSHOT_BYTES = 0x2B
RAW_MAX = 1023

RESET_WAIT_MS = 1
# Two measuring windows of 4 ms and one to spare; before that the data registers still read zero.
FIRST_DATA_WAIT_MS = 12
SAMPLE_EVERY_MS = 4
SAMPLE_WAIT_MS = 5
SAMPLE_COUNT = 5
STATUS_READS_MAX = 3

IC_RESET = "IC reset itself"
OVER_CURRENT_STOP = "over-current"
OUT_OF_RANGE = "out of range"
REFERENCE_LOST = "IC lost its reference"
AUTOCONFIG_FAILED = "automatic configuration failed"


class Mpr121(CapacitiveSensor):
    """Electrodes 0 to `electrode_count` - 1; thresholds are (touch, release) for each.

    Raw measures are the IC's own 10-bit counts.
    """

    counts_full_scale = RAW_MAX
    chip_counts_typical = 60
    noise_counts_typical = 1

    def __init__(
        self,
        bus: Bus,
        address: int,
        electrode_count: int,
        thresholds: Sequence[tuple[int, int]] | None = None,
        charge_current_microamps: int = 16,
        interrupt: InputLine | None = None,
    ) -> None:
        if not 1 <= electrode_count <= ELECTRODE_COUNT_MAX[MPR121]:
            raise ValueError(f"An MPR121 has 1 to 12 electrodes, not {electrode_count}.")
        self.electrode_count = electrode_count
        self._raw_words = Struct(f"<{electrode_count}H")
        self.interrupt = interrupt
        # Without its interrupt line the IC is read as often as it has something new.
        self.poll_ms = SAMPLE_EVERY_MS if interrupt is None else None
        self._bus = bus
        self._address = address
        self.label = f"MPR121 0x{address:02X} on bus {bus.name}"
        self._thresholds = list(thresholds or [(12, 6)] * electrode_count)
        if len(self._thresholds) != electrode_count:
            raise ValueError("An MPR121 needs one pair of thresholds for each electrode.")
        self._front_end = bytes(
            (ONE_EXTRA_SAMPLE_EACH_WAY, charge_current_microamps, SAMPLE_EVERY_4_MS)
        )
        self._references: list[int] | None = None
        self._running = False

    async def start(self, references: Sequence[int]) -> None:
        self._references = self._checked(references)
        await self._run([reference >> 2 for reference in self._references])
        self._running = True

    async def measure_each(self) -> list[ElectrodeMeasure]:
        """The median of a few samples for each electrode; leaves the IC as it was, or stopped."""
        was_running = self._running
        if not was_running:
            await self._run(None)
        samples = []
        for _ in range(SAMPLE_COUNT):
            samples.append(await self._bus.run(self._read_measures))
            await sleep_ms(SAMPLE_WAIT_MS)
        if not was_running:
            await self._bus.run(lambda smbus: smbus.write_byte_data(self._address, ECR, 0))
        return [median_measure(column) for column in zip(*samples, strict=True)]

    async def read_touched(self) -> int:
        self._require_running()
        for _ in range(STATUS_READS_MAX):
            touched = await self._bus.run(self._read_status)
            # Still asserted means another change came during the read, and no new edge will tell.
            if self.interrupt is None or not self.interrupt.active:
                break
        # A recovery may have stopped the IC meanwhile, and then these bits say nothing.
        self._require_running()
        return touched

    async def snapshot(self) -> list[ElectrodeReading]:
        self._require_running()
        data, control = await self._bus.run(self._read_everything)
        ic_fault = self._ic_fault(data, control)
        touched = _word(data, STATUS)
        ranges = _word(data, OUT_OF_RANGE_STATUS)
        readings = []
        # While something is being decided all of them are read a hundred times a second.
        for electrode, (raw, reference) in enumerate(
            zip(self._raws(data), self._running_references(), strict=True)
        ):
            fault = ic_fault
            if fault is None and _out_of_range(ranges, electrode, raw):
                fault = OUT_OF_RANGE
            is_touched = touched >> electrode & 1 == 1
            readings.append(ElectrodeReading(raw, reference, is_touched, fault))
        return readings

    async def recover(self) -> None:
        if self._references is None:
            raise SensorFault(f"{self.label} has no stored references to recover with.")
        self._running = False
        await self._bus.run(self._clear_over_current)
        await self.start(self._references)

    async def _run(self, baselines: list[int] | None) -> None:
        self._running = False
        await self._bus.run(
            lambda smbus: smbus.write_byte_data(self._address, SOFT_RESET, RESET_KEY)
        )
        await sleep_ms(RESET_WAIT_MS)
        await self._bus.run(self._require_reset_values)
        await self._bus.run(lambda smbus: self._configure(smbus, baselines))
        await sleep_ms(FIRST_DATA_WAIT_MS)

    def _configure(self, smbus: SMBusLike, baselines: list[int] | None) -> None:
        # A repeated attempt may find the IC running already, and a running IC ignores this.
        smbus.write_byte_data(self._address, ECR, 0)
        self._write(smbus, THRESHOLDS, [level for pair in self._thresholds for level in pair])
        self._write(smbus, DEBOUNCE, self._front_end)
        if baselines is not None:
            self._write(smbus, BASELINES, baselines)
        self._write(smbus, ECR, [self._run_mode])

    def _require_reset_values(self, smbus: SMBusLike) -> None:
        found = smbus.read_byte_data(self._address, AFE2)
        if found != AFE2_AFTER_RESET:
            raise SensorFault(
                f"{self.label} did not reset: register 0x5D reads 0x{found:02X}, not 0x24."
            )

    def _write(self, smbus: SMBusLike, register: int, data: Sequence[int]) -> None:
        write_verified(smbus, self._address, register, data, self.label, SensorFault)

    def _clear_over_current(self, smbus: SMBusLike) -> None:
        if smbus.read_byte_data(self._address, STATUS_HIGH) & OVER_CURRENT:
            smbus.write_byte_data(self._address, STATUS_HIGH, OVER_CURRENT)

    def _read_status(self, smbus: SMBusLike) -> int:
        low, high = read_registers(smbus, self._address, STATUS, 2)
        if high & OVER_CURRENT:
            raise SensorFault(f"{self.label} stopped itself: over-current.")
        return (low | high << 8) & self._electrode_mask

    def _read_measures(self, smbus: SMBusLike) -> list[ElectrodeMeasure]:
        data = read_registers(smbus, self._address, STATUS, SNAPSHOT_BYTES)
        if data[STATUS_HIGH] & OVER_CURRENT:
            raise SensorFault(f"{self.label} stopped itself: over-current.")
        verify(smbus, self._address, ECR, [self._run_mode], self.label, SensorFault)
        ranges = _word(data, OUT_OF_RANGE_STATUS)
        return [
            ElectrodeMeasure(raw, OUT_OF_RANGE if _out_of_range(ranges, electrode, raw) else None)
            for electrode, raw in enumerate(self._raws(data))
        ]

    def _read_everything(self, smbus: SMBusLike) -> tuple[bytes, bytes]:
        data = read_registers(smbus, self._address, STATUS, SNAPSHOT_BYTES)
        return data, read_registers(smbus, self._address, AFE2, 2)

    def _ic_fault(self, data: bytes, control: bytes) -> str | None:
        # Over-current first: it clears the run mode too, and must not look like a reset.
        if data[STATUS_HIGH] & OVER_CURRENT:
            return OVER_CURRENT_STOP
        if control != bytes((SAMPLE_EVERY_4_MS, self._run_mode)):
            return IC_RESET
        ranges = _word(data, OUT_OF_RANGE_STATUS)
        # We never ask for one. Where an electrode is flagged as well, it is that spot's trouble.
        if ranges & AUTOCONFIG_FLAGS and not ranges & self._electrode_mask:
            return AUTOCONFIG_FAILED
        # One lost register is the whole IC's trouble: only a new start writes it again.
        expected = bytes(reference >> 2 for reference in self._running_references())
        if data[BASELINES : BASELINES + self.electrode_count] != expected:
            return REFERENCE_LOST
        return None

    def _running_references(self) -> list[int]:
        assert self._references is not None, "a running IC has references"
        return self._references

    def _raws(self, data: bytes) -> tuple[int, ...]:
        return self._raw_words.unpack_from(data, ELECTRODE_DATA)

    def _checked(self, references: Sequence[int]) -> list[int]:
        if len(references) != self.electrode_count:
            raise SensorFault(
                f"{self.label} has {self.electrode_count} electrodes, "
                f"but {len(references)} references were given."
            )
        for electrode, reference in enumerate(references):
            touch_threshold, _ = self._thresholds[electrode]
            if not touch_threshold < reference < RAW_MAX:
                raise SensorFault(
                    f"{self.label}: the reference {reference} of electrode {electrode} "
                    f"is not between {touch_threshold + 1} and {RAW_MAX - 1}."
                )
        return list(references)

    def _require_running(self) -> None:
        # A stopped IC reads zero everywhere, which would look like an empty table.
        if not self._running:
            raise SensorFault(f"{self.label} is not running.")

    @property
    def _run_mode(self) -> int:
        return BASELINE_LOCKED | self.electrode_count

    @property
    def _electrode_mask(self) -> int:
        return (1 << self.electrode_count) - 1


def _word(data: bytes, register: int) -> int:
    return data[register] | data[register + 1] << 8


def _out_of_range(ranges: int, electrode: int, raw: int) -> bool:
    # Zero and full scale are not measures: the electrode is shorted, open or was never sampled.
    return ranges >> electrode & 1 == 1 or raw in (0, RAW_MAX)
