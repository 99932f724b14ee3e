"""PCA9685 LED controller: sixteen 12-bit channels, sleep and restart, broadcast addresses.

It knows which light each output gives at its own time and reports every change to its listener.
What the outputs are wired to, and what an eye makes of it, is the lamp watch's business.
"""

from __future__ import annotations

from collections.abc import Callable

from sim.hardware.ics.base import Ic

CHANNELS = 16
LEVEL_MAX = 4096
OSCILLATOR_HZ = 25_000_000
OSCILLATOR_START_NS = 500_000

MODE1, MODE2, SUB_ADDRESSES, ALL_CALL_ADDRESS = 0x00, 0x01, (0x02, 0x03, 0x04), 0x05
LED_FIRST, LED_LAST = 0x06, 0x45
ALL_LED_FIRST, ALL_LED_LAST = 0xFA, 0xFD
PRESCALE, TEST_MODE = 0xFE, 0xFF
PRESCALE_MIN = 3

RESTART, EXTERNAL_CLOCK, AUTO_INCREMENT, SLEEP, ALL_CALL = 0x80, 0x40, 0x20, 0x10, 0x01
SUB_ENABLES = (0x08, 0x04, 0x02)
INVERT, CHANGE_ON_ACK = 0x10, 0x08
FULL = 0x10  # In ON_H and OFF_H.
SOFTWARE_RESET = 0x06

BROADCASTS = (*zip(SUB_ENABLES, SUB_ADDRESSES, strict=True), (ALL_CALL, ALL_CALL_ADDRESS))

OutputListener = Callable[[int, int, int], None]


class Pca9685(Ic):
    """One PCA9685. `on_output(at_ns, channel, level)` hears each change, level 0 to 4096."""

    def __init__(self, address: int) -> None:
        super().__init__(address)
        self.on_output: OutputListener | None = None
        self._levels = [0] * CHANNELS
        self._shown: tuple[bool, int, bytes] | None = None
        self._written = False  # since the last STOP
        self._reset()

    def level(self, channel: int) -> int:
        """The part of 4096 for which this output is on, as the IC stands at its own time."""
        return self._levels[channel]

    @property
    def pwm_period_ns(self) -> int:
        return (self._registers[PRESCALE] + 1) * LEVEL_MAX * 1_000_000_000 // OSCILLATOR_HZ

    # -- the bus -----------------------------------------------------------------------------

    def responds_to(self, address: int) -> bool:
        if not self.powered:
            return False
        if address == self.address:
            return True
        return address in self._broadcasts

    def _listen(self) -> None:
        """Kept, because the bus asks at each message, and a mode or an address seldom changes."""
        mode, registers = self._registers[MODE1], self._registers
        self._broadcasts = [registers[at] >> 1 for enable, at in BROADCASTS if mode & enable]
        self.hears_other_addresses = bool(self._broadcasts)

    def write(self, data: bytes) -> bool:
        if data:
            self._pointer = data[0]
        self._written |= len(data) > 1
        if self._is_run_of_lamps(len(data) - 1):
            self._write_lamps(data[1:])
        else:
            for value in data[1:]:
                self._write_register(self._pointer, value)
                self._step()
        if self._registers[MODE2] & CHANGE_ON_ACK:
            self._show()
        return True

    def read(self, count: int) -> bytes:
        values = bytearray()
        for _ in range(count):
            values.append(self._read_register(self._pointer))
            self._step()
        return bytes(values)

    def stop(self) -> None:
        if self._written:
            self._written = False
            self._show()

    def general_call(self, data: bytes) -> bool:
        if not self.powered or data != bytes([SOFTWARE_RESET]):
            return False
        self._reset()
        return True

    def _step(self) -> None:
        if self._registers[MODE1] & AUTO_INCREMENT:
            ends_here = self._pointer in (LED_LAST, PRESCALE)
            self._pointer = 0 if ends_here else (self._pointer + 1) & 0xFF

    # -- time --------------------------------------------------------------------------------

    def advance(self, now_ns: int) -> None:
        ready_ns = self._oscillator_ready_ns
        if ready_ns is not None and self.now_ns < ready_ns <= now_ns:
            self.now_ns = ready_ns
            self._show()
        super().advance(now_ns)

    def next_event_ns(self) -> int | None:
        ready_ns = self._oscillator_ready_ns
        return ready_ns if ready_ns is not None and ready_ns > self.now_ns else None

    def power_off(self) -> None:
        super().power_off()
        self._reset()

    # -- registers ---------------------------------------------------------------------------

    def _reset(self) -> None:
        self._registers = bytearray(256)
        self._registers[MODE1] = SLEEP | ALL_CALL
        self._registers[MODE2] = 0x04
        for register, value in zip(
            (*SUB_ADDRESSES, ALL_CALL_ADDRESS), (0xE2, 0xE4, 0xE8, 0xE0), strict=True
        ):
            self._registers[register] = value
        for channel in range(CHANNELS):
            self._registers[LED_FIRST + 4 * channel + 3] = FULL
        self._registers[PRESCALE] = 0x1E
        self._pointer = 0
        self._written = False
        self._oscillator_ready_ns: int | None = None
        self._listen()
        self._show()

    def _read_register(self, register: int) -> int:
        if ALL_LED_FIRST <= register <= ALL_LED_LAST:
            return 0
        return self._registers[register]

    def _write_register(self, register: int, value: int) -> None:
        if register == MODE1:
            self._write_mode1(value)
        elif register == PRESCALE:
            if self._registers[MODE1] & SLEEP:
                self._registers[PRESCALE] = max(value, PRESCALE_MIN)
        elif ALL_LED_FIRST <= register <= ALL_LED_LAST:
            for channel in range(CHANNELS):
                self._write_led(LED_FIRST + 4 * channel + register - ALL_LED_FIRST, value)
        elif LED_FIRST <= register <= LED_LAST:
            self._write_led(register, value)
        elif register <= ALL_CALL_ADDRESS:
            self._registers[register] = value & (0x1F if register == MODE2 else 0xFE)
            self._listen()

    def _is_run_of_lamps(self, count: int) -> bool:
        first = self._pointer
        within = first >= LED_FIRST and first + count <= LED_LAST
        return count > 0 and within and bool(self._registers[MODE1] & AUTO_INCREMENT)

    def _write_lamps(self, values: bytes) -> None:
        """What byte by byte would come to the same: a table writes little else."""
        first, end = self._pointer, self._pointer + len(values)
        self._registers[first:end] = values
        for register in range(first + 1 - (first - LED_FIRST) % 2, end, 2):
            self._registers[register] &= 0x1F
        self._registers[MODE1] &= ~RESTART & 0xFF
        self._pointer = end

    def _write_led(self, register: int, value: int) -> None:
        is_high = (register - LED_FIRST) % 2
        self._registers[register] = value & (0x1F if is_high else 0xFF)
        self._registers[MODE1] &= ~RESTART & 0xFF

    def _write_mode1(self, value: int) -> None:
        before = self._registers[MODE1]
        sticky = before & EXTERNAL_CLOCK
        sets_clock = value & EXTERNAL_CLOCK if before & SLEEP else 0
        restart = before & RESTART
        if value & RESTART and self._oscillator_runs():
            restart = 0
        if value & SLEEP and not before & SLEEP and self._any_channel_in_use():
            restart = RESTART
        self._registers[MODE1] = value & 0x3F | sticky | sets_clock | restart
        self._listen()
        self._follow_sleep(before)

    def _follow_sleep(self, before: int) -> None:
        if self._registers[MODE1] & SLEEP:
            self._oscillator_ready_ns = None
        elif before & SLEEP:
            self._oscillator_ready_ns = self.now_ns + OSCILLATOR_START_NS

    def _any_channel_in_use(self) -> bool:
        return any(
            not self._registers[LED_FIRST + 4 * channel + 3] & FULL for channel in range(CHANNELS)
        )

    # -- outputs -----------------------------------------------------------------------------

    def _oscillator_runs(self) -> bool:
        ready_ns = self._oscillator_ready_ns
        return ready_ns is not None and ready_ns <= self.now_ns

    def _show(self) -> None:
        registers = self._registers
        # All of it that decides about the lamps; most looks find nothing new in it.
        lamps = bytes(registers[LED_FIRST : LED_LAST + 1])
        state = (self._is_dark(), registers[MODE2] & INVERT, lamps)
        before = self._shown
        if state == before:
            return
        self._shown = state
        # Where nothing but levels was written, only those channels can differ.
        old = before[2] if before is not None and before[:2] == state[:2] else None
        for channel in range(CHANNELS):
            if old is not None:
                first = 4 * channel
                if old[first : first + 4] == lamps[first : first + 4]:
                    continue
            level = self._level_now(channel)
            if level != self._levels[channel]:
                self._levels[channel] = level
                if self.on_output is not None:
                    self.on_output(self.now_ns, channel, level)

    def _is_dark(self) -> bool:
        """Without supply, asleep, while the oscillator starts, and until a due RESTART."""
        held = bool(self._registers[MODE1] & RESTART)
        return not self.powered or held or not self._oscillator_runs()

    def _level_now(self, channel: int) -> int:
        assert self._shown is not None
        is_dark, is_inverted, _ = self._shown
        if is_dark:
            return 0
        level = self._programmed(channel)
        return LEVEL_MAX - level if is_inverted else level

    def _programmed(self, channel: int) -> int:
        first = LED_FIRST + 4 * channel
        on_low, on_high, off_low, off_high = self._registers[first : first + 4]
        if off_high & FULL:
            return 0
        if on_high & FULL:
            return LEVEL_MAX
        on, off = on_high << 8 | on_low, off_high << 8 | off_low
        return (off - on) % LEVEL_MAX
