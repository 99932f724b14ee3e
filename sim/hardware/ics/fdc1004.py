"""FDC1004 capacitance converter: four inputs, four measurements in turn, no baseline, no interrupt.

Inputs are femtofarads. A measurement averages its input while it lasts, so one in which a chip was
put down lies in between. The model is lazy: nothing here changes a pin, so it computes results when
it is asked and skips the cycles nobody saw. What lies on an input is the felt's business. Where the
published accounts leave the IC's behaviour open, a rule chooses (`DoneRule`) or the model gives
the less convenient answer: the register pointer stays, and an unfinished measurement reads full.
"""

from __future__ import annotations

from enum import Enum

from sim.hardware.ics.base import Ic, Source

SECOND_NS = 1_000_000_000
INPUT_COUNT = 4

MEASURES_END, SETUPS, SETUPS_END, CONTROL = 0x08, 0x08, 0x0C, 0x0C
OFFSETS, GAINS, GAINS_END = 0x0D, 0x11, 0x15
MANUFACTURER_ID, DEVICE_ID = 0xFE, 0xFF
IDS = {MANUFACTURER_ID: 0x5449, DEVICE_ID: 0x1004}

RESET, REPEAT, DONE_MASK, CONTROL_MASK = 0x8000, 0x0100, 0x000F, 0x0DF0
RATES_PER_SECOND = (0, 100, 200, 400)
CAPDAC, DISABLED = 0b100, 0b111
CAPDAC_STEP_FF = 3125.0
CODES_PER_FF = (1 << 19) / 1000
CODE_MIN, CODE_MAX = -(1 << 23), (1 << 23) - 1
UNITY_GAIN = 0x4000
# One unit of an offset register: 2**-11 pF.
OFFSET_FF = 1000 / 2048


class DoneRule(Enum):
    """What ends a DONE bit; the data sheet only says "once the measurement read is complete"."""

    HIGH_HALF_READ = "high half read"
    LOW_HALF_READ = "low half read"


class Fdc1004(Ic):
    """One FDC1004; its address is fixed."""

    def __init__(self, address: int = 0x50, done_rule: DoneRule = DoneRule.LOW_HALF_READ) -> None:
        super().__init__(address)
        self.done_rule = done_rule
        self._inputs_ff: list[float | Source] = [0.0] * INPUT_COUNT
        self._moves = False  # an input may differ from moment to moment
        self.hung = False
        self._still_ff: dict[int, float] = {}  # by measurement, where nothing in it moves
        self._reset()

    # -- what the felt does, and what can happen ---------------------------------------------

    def set_input(self, electrode: int, femtofarads: float | Source, at_ns: int) -> None:
        """The input's capacitance from `at_ns` on, or what says it for any moment."""
        self.advance(at_ns)
        if self._order and not self.hung:
            self._integrate(at_ns)
        self._inputs_ff[electrode] = femtofarads
        self._moves = any(isinstance(level, Source) for level in self._inputs_ff)
        self.change_count += 1
        self._changed_ns = at_ns
        self._still_ff = {}

    def hang(self) -> None:
        """The converter stops where it is; registers still answer. Field reports know this."""
        self.hung = True
        self.change_count += 1

    @property
    def is_still(self) -> bool:
        """After two whole cycles each measure is one of the inputs as they are now."""
        settled_ns = self._changed_ns + 2 * INPUT_COUNT * self._period_ns
        return bool(self._order) and not (self.hung or self._moves) and self.now_ns >= settled_ns

    # -- the bus -----------------------------------------------------------------------------

    def write(self, data: bytes) -> bool:
        if data:
            self._pointer = data[0]
        if len(data) >= 3:
            self.change_count += 1
            self._write_register(self._pointer, data[1] << 8 | data[2])
        return True

    def read(self, count: int) -> bytes:
        """Two bytes of the register; whoever clocks for more gets an idle line."""
        value = self._read_register(self._pointer)
        return (value.to_bytes(2, "big") + b"\xff" * count)[:count]

    # -- time --------------------------------------------------------------------------------

    def advance(self, now_ns: int) -> None:
        if self._order and not self.hung:
            if self._end_ns <= now_ns:
                self._skip_unseen_cycles(now_ns)
                while self._order and self._end_ns <= now_ns:
                    self._integrate(self._end_ns)
                    self._finish()
            # What stands still is added up when it ends or changes, what moves at every look.
            if self._order and self._order[self._place] not in self._still_ff:
                self._integrate(now_ns)
        super().advance(now_ns)

    def _skip_unseen_cycles(self, now_ns: int) -> None:
        """Inputs are constant until `now_ns`: after two cycles the next ones repeat the last."""
        if not self._registers[CONTROL] & REPEAT:
            return
        cycle_ns = self._period_ns * len(self._order)
        cycles = (now_ns - self._end_ns) // cycle_ns - 2
        if cycles > 0:
            self._integrate(self._end_ns)
            self._finish()
            for _ in self._order:
                self._integrate(self._end_ns)
                self._finish()
            self._begin(self._end_ns - self._period_ns + cycles * cycle_ns)

    def power_off(self) -> None:
        super().power_off()
        self._reset()

    # -- registers ---------------------------------------------------------------------------

    def _reset(self) -> None:
        self._registers = dict.fromkeys(range(GAINS_END), 0)
        for register in range(SETUPS, SETUPS_END):
            self._registers[register] = 0x1C00
        for register in range(GAINS, GAINS_END):
            self._registers[register] = UNITY_GAIN
        self._registers.update(IDS)
        self._still_ff = {}
        self._pointer = 0
        self._changed_ns = self.now_ns
        self._low_halves = [0] * INPUT_COUNT
        self._results = [0] * INPUT_COUNT
        self._order: list[int] = []
        self._place = 0
        self._period_ns = 0
        self._end_ns = 0
        self._integral = 0.0
        self._integrated_ns = 0
        self.hung = False

    def _write_register(self, register: int, value: int) -> None:
        if register == CONTROL:
            self._write_control(value)
        elif SETUPS <= register < GAINS_END:
            self._registers[register] = value
            self._still_ff = {}

    def _write_control(self, value: int) -> None:
        if value & RESET:
            self._reset()
            return
        self._registers[CONTROL] = value & CONTROL_MASK
        rate = RATES_PER_SECOND[value >> 10 & 3]
        wanted = [n for n in range(INPUT_COUNT) if value & 0x80 >> n]
        # A setup that makes no sense is never measured, and never done.
        self._order = [n for n in wanted if rate and _is_valid(self._registers[SETUPS + n])]
        if self._order:
            self._period_ns = SECOND_NS // rate
            self._place = 0
            self._begin(self.now_ns)

    def _read_register(self, register: int) -> int:
        if register < MEASURES_END:
            return self._read_measure(*divmod(register, 2))
        return self._registers.get(register, 0)

    def _read_measure(self, number: int, low: int) -> int:
        """The low half belongs to the high half that was read last."""
        if low:
            self._end_done(number, DoneRule.LOW_HALF_READ)
            return self._low_halves[number]
        unfinished = self._order and not self._registers[CONTROL] & 0x08 >> number
        self._end_done(number, DoneRule.HIGH_HALF_READ)
        code = (CODE_MAX if unfinished else self._results[number]) & 0xFFFFFF
        self._low_halves[number] = (code & 0xFF) << 8
        return code >> 8

    def _end_done(self, number: int, rule: DoneRule) -> None:
        if rule is self.done_rule:
            self._registers[CONTROL] &= ~(0x08 >> number)

    # -- measuring ---------------------------------------------------------------------------

    def _begin(self, start_ns: int) -> None:
        self._integral = 0.0
        self._integrated_ns = start_ns
        self._end_ns = start_ns + self._period_ns

    def _integrate(self, until_ns: int) -> None:
        number = self._order[self._place]
        measured_ff = self._still_ff.get(number)
        if measured_ff is None:
            measured_ff = self._measured_ff(number)
            if not self._moves:
                self._still_ff[number] = measured_ff
        self._integral += measured_ff * (until_ns - self._integrated_ns)
        self._integrated_ns = until_ns

    def _finish(self) -> None:
        number = self._order[self._place]
        mean_ff = self._integral / self._period_ns
        code = round(mean_ff * CODES_PER_FF)
        self._results[number] = min(CODE_MAX, max(CODE_MIN, code))
        self._registers[CONTROL] |= 0x08 >> number
        self._place = (self._place + 1) % len(self._order)
        if self._place == 0 and not self._registers[CONTROL] & REPEAT:
            self._order = []
        else:
            self._begin(self._end_ns)

    def _measured_ff(self, number: int) -> float:
        setup = self._registers[SETUPS + number]
        positive, negative = setup >> 13, setup >> 10 & 7
        measured_ff = self._corrected_ff(positive)
        if negative == CAPDAC:
            return measured_ff - CAPDAC_STEP_FF * (setup >> 5 & 31)
        if negative < INPUT_COUNT:
            return measured_ff - self._corrected_ff(negative)
        return measured_ff

    def _corrected_ff(self, electrode: int) -> float:
        gain = self._registers[GAINS + electrode] / UNITY_GAIN
        offset = self._registers[OFFSETS + electrode]
        signed = offset - 0x10000 if offset & 0x8000 else offset
        level = self._inputs_ff[electrode]
        level_ff = level.femtofarads(self._integrated_ns) if isinstance(level, Source) else level
        return level_ff * gain + signed * OFFSET_FF


def _is_valid(setup: int) -> bool:
    positive, negative = setup >> 13, setup >> 10 & 7
    if positive >= INPUT_COUNT:
        return False
    return negative in (CAPDAC, DISABLED) or positive < negative < INPUT_COUNT
