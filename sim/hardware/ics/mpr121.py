"""MPR121 capacitive touch controller: registers, run and stop mode, sampling grid, IRQ.

Inputs are raw counts per electrode (what the second filter settles at with 16 uA and 0.5 us). The
model is lazy: it computes samples only while one of them could still change something. Where a
source stands in for a number, it is sampled when it moves, when it is near a threshold, or when the
host reads. The model does not know what lies on an electrode; that is the felt's business.
"""

from __future__ import annotations

from enum import Enum

from sim.hardware.ics import mpr121_autoconfig as autoconfig
from sim.hardware.ics.base import FOREVER_NS, Level, Source, band_from, counts_at
from sim.hardware.ics.mpr121_autoconfig import FRONT_END_1, FRONT_END_2, Charge, Limits, scale
from sim.hardware.ics.mpr121_electrode import Drift, Electrode, Rules
from sim.hardware.ics.sampled import SampledIc

CHANNELS = 13
PROXIMITY = 12
MILLISECOND_NS = 1_000_000

TOUCH_LOW, TOUCH_HIGH, RANGE_LOW, RANGE_HIGH = 0x00, 0x01, 0x02, 0x03
DATA, BASELINE = 0x04, 0x1E
FILTER, PROXIMITY_FILTER, THRESHOLDS, DEBOUNCE = 0x2B, 0x36, 0x41, 0x5B
ELECTRODES = 0x5E
GPIO_FIRST, GPIO_DATA, GPIO_SET, GPIO_CLEAR, GPIO_TOGGLE = 0x73, 0x75, 0x78, 0x79, 0x7A
AUTOCONFIG_0, AUTOCONFIG_1, UPPER_LIMIT, LOWER_LIMIT, TARGET = 0x7B, 0x7C, 0x7D, 0x7E, 0x7F
SOFT_RESET, SOFT_RESET_KEY = 0x80, 0x63
PWM_LAST = 0x84

OVER_CURRENT = 0x80  # In TOUCH_HIGH.
AUTOCONFIG_FAILED, RECONFIG_FAILED = 0x80, 0x40  # In RANGE_HIGH.
RANGE_IRQ, RECONFIG_IRQ, AUTOCONFIG_IRQ = 0x04, 0x02, 0x01  # In AUTOCONFIG_1.
CALIBRATION_LOCKED = 0b01
SECOND_FILTER_SAMPLES = (4, 6, 10, 18)


class IrqRule(Enum):
    """The two published accounts of what lets go of the IRQ pin."""

    STATUS_READ = "status read"
    ANY_TRAFFIC = "any traffic"


class Mpr121(SampledIc):
    """One MPR121, `address` 0x5A to 0x5D."""

    def __init__(self, address: int, irq_rule: IrqRule = IrqRule.STATUS_READ) -> None:
        super().__init__(address, MILLISECOND_NS)
        self.irq_rule = irq_rule
        self.inputs: list[Level] = [0] * CHANNELS
        self._sourced: list[int] = []  # the inputs that are sources
        # What was computed from registers and inputs, until one of them changes.
        self._image: bytes | None = None
        self._charges: list[Charge] | None = None
        self._still_levels: list[int] | None = None
        self._electrodes = [Electrode() for _ in range(CHANNELS)]
        self._pointer = 0
        self._reset()

    # -- what the felt does ------------------------------------------------------------------

    def set_input(self, electrode: int, level: Level, at_ns: int) -> None:
        """The electrode's level from `at_ns` on: counts, or what says them for any moment."""
        self.advance(at_ns)
        if isinstance(level, Source) or self.inputs[electrode] != level:
            self.inputs[electrode] = level
            self.change_count += 1
            self._sourced = [n for n, each in enumerate(self.inputs) if isinstance(each, Source)]
            self._still_levels = None
            self._wake()

    def move_baseline(self, electrode: int) -> None:
        """A register loses its value, as after a spark; the IC goes on with what is there."""
        self._electrodes[electrode].baseline ^= 0x40
        self.change_count += 1
        self._image = None

    def over_current(self) -> None:
        """REXT saw too much current: the IC clears itself and stops until OVCF is cleared."""
        if not self.powered:
            return
        for electrode in self._electrodes:
            electrode.clear()
        self._out_of_range = 0
        self._failures = 0
        self._over_current = True
        self.upset_count += 1
        self.change_count += 1
        self._registers[ELECTRODES] &= 0xC0
        self._running = False
        self._image = None
        self._pull_irq(True)

    # -- the bus -----------------------------------------------------------------------------

    def write(self, data: bytes) -> bool:
        self._see_traffic()
        if data:
            self._pointer = data[0]
        if len(data) > 1:
            self._image = None
            self.change_count += 1
        for value in data[1:]:
            self._write_register(self._pointer, value)
            self._pointer = (self._pointer + 1) & 0xFF
        return True

    def read(self, count: int) -> bytes:
        self._see_traffic()
        self._look_at_sources()
        first, end = self._pointer, self._pointer + count
        self._pointer = end & 0xFF
        if first <= TOUCH_HIGH or end > 256:
            self._pull_irq(False)
        if end <= FILTER:
            if self._image is None:
                self._image = self._measured()
            return self._image[first:end]
        return bytes(self._read_register(register & 0xFF) for register in range(first, end))

    def _measured(self) -> bytes:
        """The registers from TOUCH_LOW up to FILTER at once: what is read again and again."""
        image = bytearray(FILTER)
        image[:DATA] = self._status()
        for channel, electrode in enumerate(self._electrodes):
            data = electrode.data
            image[DATA + 2 * channel] = data & 0xFF
            image[DATA + 2 * channel + 1] = data >> 8 & 0xFF
            image[BASELINE + channel] = electrode.baseline >> 2
        return bytes(image)

    def _see_traffic(self) -> None:
        if self.irq_rule is IrqRule.ANY_TRAFFIC:
            self._pull_irq(False)

    # -- time --------------------------------------------------------------------------------

    def _wake(self) -> None:
        if self._quiet and self._running and self.has_sources():
            # The window that runs now began one period before its sample.
            self._window = self._levels(self._next_sample_ns - self._period_ns)
        super()._wake()

    def power_off(self) -> None:
        super().power_off()
        self._pointer = 0
        self._reset()

    # -- registers ---------------------------------------------------------------------------

    def _reset(self) -> None:
        self._image = self._charges = self._still_levels = None
        self._registers = bytearray(256)
        self._registers[FRONT_END_1] = 0x10
        self._registers[FRONT_END_2] = 0x24
        for electrode in self._electrodes:
            electrode.clear()
        self._over_current = False
        self._autoconfigured = False
        self._out_of_range = 0
        self._failures = 0
        self._running = False
        self._loads_baseline = False
        self._quiet = True
        self._calm_until_ns = None
        self._next_sample_ns = 0
        self._period_ns = MILLISECOND_NS
        self._pull_irq(False)

    def _write_register(self, register: int, value: int) -> None:
        if register == SOFT_RESET:
            if value == SOFT_RESET_KEY:
                self._reset()
        elif register == ELECTRODES:
            self._write_electrodes(value)
        elif GPIO_FIRST <= register <= GPIO_TOGGLE:
            self._write_gpio(register, value)
        elif register == TOUCH_HIGH:
            if value & OVER_CURRENT:
                self._over_current = False
        elif not self._running:
            self._write_stopped(register, value)

    def _write_stopped(self, register: int, value: int) -> None:
        if BASELINE <= register < FILTER:
            self._electrodes[register - BASELINE].baseline = value << 2
        elif FILTER <= register <= PWM_LAST:
            self._registers[register] = value
            self._charges = self._still_levels = None

    def _write_gpio(self, register: int, value: int) -> None:
        if register == GPIO_SET:
            self._registers[GPIO_DATA] |= value
        elif register == GPIO_CLEAR:
            self._registers[GPIO_DATA] &= ~value & 0xFF
        elif register == GPIO_TOGGLE:
            self._registers[GPIO_DATA] ^= value
        else:
            self._registers[register] = value

    def _read_register(self, register: int) -> int:
        if register < DATA:
            return self._status()[register]
        if register < BASELINE:
            channel, high = divmod(register - DATA, 2)
            return self._electrodes[channel].data >> (8 if high else 0) & 0xFF
        if register < FILTER:
            return self._electrodes[register - BASELINE].baseline >> 2
        if GPIO_SET <= register <= GPIO_TOGGLE:
            return self._registers[GPIO_DATA]
        return self._registers[register] if register != SOFT_RESET else 0

    def _status(self) -> bytes:
        """The four registers from TOUCH_LOW to RANGE_HIGH."""
        touched = sum(1 << channel for channel, each in enumerate(self._electrodes) if each.touched)
        high = touched >> 8 | (OVER_CURRENT if self._over_current else 0)
        ranges = self._out_of_range
        return bytes((touched & 0xFF, high, ranges & 0xFF, ranges >> 8 | self._failures))

    # -- run mode ----------------------------------------------------------------------------

    def _write_electrodes(self, value: int) -> None:
        wants_to_run = value & 0x3F != 0
        if wants_to_run and self._over_current:
            return
        was_running, self._running = self._running, wants_to_run
        self._registers[ELECTRODES] = value
        if wants_to_run:
            self._start(from_stop=not was_running)

    def _start(self, from_stop: bool) -> None:
        second = self._registers[FRONT_END_2]
        samples = SECOND_FILTER_SAMPLES[second >> 3 & 3]
        self._period_ns = MILLISECOND_NS * (1 << (second & 7)) * samples
        self._next_sample_ns = self.now_ns + self._period_ns
        self._calibration = self._registers[ELECTRODES] >> 6
        self._enabled = self._enabled_channels()
        self._rules = [self._rules_of(channel) for channel in range(CHANNELS)]
        self._quiet = False
        for channel, electrode in enumerate(self._electrodes):
            if from_stop or channel not in self._enabled:
                electrode.restart()
        if from_stop:
            self._autoconfigure()
        # Due until the first sample is there: a driver may write the run mode twice before that.
        due = from_stop or self._loads_baseline
        self._loads_baseline = due and self._calibration >= 0b10
        self._window = self._levels(self.now_ns)

    def _enabled_channels(self) -> list[int]:
        value = self._registers[ELECTRODES]
        channels = list(range(min(value & 0x0F, 12)))
        return [*channels, PROXIMITY] if value & 0x30 else channels

    def _rules_of(self, channel: int) -> Rules:
        registers = self._registers
        f = PROXIMITY_FILTER if channel == PROXIMITY else FILTER
        return Rules(
            touch_threshold=registers[THRESHOLDS + 2 * channel],
            release_threshold=registers[THRESHOLDS + 2 * channel + 1],
            touch_debounce=registers[DEBOUNCE] & 7,
            release_debounce=registers[DEBOUNCE] >> 4 & 7,
            tracking=self._calibration != CALIBRATION_LOCKED,
            rising=Drift(*registers[f : f + 4]),
            falling=Drift(*registers[f + 4 : f + 8]),
            touched=Drift(0, *registers[f + 8 : f + 11]),
        )

    def _sample(self) -> None:
        """Publishes the window that ends now and begins the next one.

        A window reports the level at its beginning: the one in which a level moved does not show it
        yet. That is what makes a step visible one to two periods after it happened.
        """
        self._image = None
        window, self._window = self._window, self._levels(self.now_ns)
        changed = self._window != window
        touched_before = self._touched()
        for channel in self._enabled:
            electrode = self._electrodes[channel]
            if self._loads_baseline:
                electrode.data = window[channel]
                electrode.load_baseline(five_bits=self._calibration == 0b10)
                changed = True
            changed |= electrode.sample(window[channel], self._rules[channel])
        self._loads_baseline = False
        self._quiet = self._is_calm() if self.has_sources() else not changed
        if self._touched() != touched_before:
            self._pull_irq(True)
        if changed:
            self._reconfigure()

    def _touched(self) -> list[bool]:
        return [electrode.touched for electrode in self._electrodes]

    def _levels(self, at_ns: int) -> list[int]:
        if self._still_levels is not None:
            return self._still_levels
        counts = [counts_at(level, at_ns) for level in self.inputs]
        levels = [scale(counts[n], self._charge(n)) for n in range(CHANNELS)]
        if not self._sourced:
            self._still_levels = levels
        return levels

    # -- sources -----------------------------------------------------------------------------

    def has_sources(self) -> bool:
        return bool(self._sourced)

    def _is_calm(self) -> bool:
        """Whether no sample can move a touch bit for a while; notes until when."""
        self._calm_until_ns = None
        if self._calibration != CALIBRATION_LOCKED or self._registers[AUTOCONFIG_0] & 0x03:
            return False  # baselines and charges that follow noise have to be followed
        begin_ns = self.now_ns - self._period_ns
        for channel in self._enabled:
            until_ns, lowest, highest = band_from(self.inputs[channel], begin_ns)
            charge, rules = self._charge(channel), self._rules[channel]
            band = scale(lowest, charge), scale(highest, charge)
            if until_ns <= self.now_ns or not self._electrodes[channel].is_settled(*band, rules):
                return False
            if until_ns < FOREVER_NS:
                self._calm_until_ns = min(until_ns, self._calm_until_ns or until_ns)
        return True

    def _look_at_sources(self) -> None:
        """The data a host reads are those of the last sample, also of one that was skipped."""
        if not (self._sourced and self._running and self._quiet):
            return
        self._image = None
        last_begin_ns = self._next_sample_ns - 2 * self._period_ns
        for channel in self._enabled:
            level = self.inputs[channel]
            if isinstance(level, Source):
                counts = level.counts(last_begin_ns)
                self._electrodes[channel].data = scale(counts, self._charge(channel))

    # -- charge and automatic configuration --------------------------------------------------

    def _charge(self, channel: int) -> Charge:
        if self._charges is None:
            self._charges = [autoconfig.charge_in(self._registers, n) for n in range(CHANNELS)]
        return self._charges[channel]

    def _limits(self) -> Limits:
        registers = self._registers
        return Limits(registers[UPPER_LIMIT], registers[LOWER_LIMIT], registers[TARGET])

    def _autoconfigure(self) -> None:
        """Runs once after a reset, at the first stop to run with ACE set."""
        if self._autoconfigured or not self._registers[AUTOCONFIG_0] & 0x01:
            return
        self._autoconfigured = True
        for channel in self._enabled:
            self._configure(channel, AUTOCONFIG_FAILED, AUTOCONFIG_IRQ)
            self._preset_baseline(channel)

    def _preset_baseline(self, channel: int) -> None:
        adjust = self._registers[AUTOCONFIG_0] >> 2 & 3
        electrode = self._electrodes[channel]
        if adjust == 0b01:
            electrode.baseline = 0
        elif adjust >= 0b10:
            level = counts_at(self.inputs[channel], self.now_ns)
            electrode.data = scale(level, self._charge(channel))
            electrode.load_baseline(five_bits=adjust == 0b10)

    def _reconfigure(self) -> None:
        """With ARE set, a channel whose data left the limits is configured anew."""
        if not self._registers[AUTOCONFIG_0] & 0x02:
            return
        limits = self._limits()
        for channel in self._enabled:
            if not limits.hold(self._electrodes[channel].data):
                self._configure(channel, RECONFIG_FAILED, RECONFIG_IRQ)
        self._window = self._levels(self.now_ns)

    def _configure(self, channel: int, failure: int, irq_enable: int) -> None:
        fixed = self._registers[AUTOCONFIG_1] & 0x80
        time_code = self._charge(channel).time_code if fixed else None
        level = counts_at(self.inputs[channel], self.now_ns)
        charge = autoconfig.search(level, self._limits(), time_code)
        if charge is None:
            self._fail(channel, failure, irq_enable)
            return
        self._out_of_range &= ~(1 << channel)
        autoconfig.write_charge(self._registers, channel, charge)
        self._charges = self._still_levels = None

    def _fail(self, channel: int, failure: int, irq_enable: int) -> None:
        known = self._out_of_range >> channel & 1
        self._out_of_range |= 1 << channel
        self._failures |= failure
        if not known and self._registers[AUTOCONFIG_1] & (irq_enable | RANGE_IRQ):
            self._pull_irq(True)
