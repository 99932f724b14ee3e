"""The PCA9685 model against the datasheet: sleep, restart, broadcast, STOP, full bits, wrap."""

from __future__ import annotations

import pytest

from sim.hardware.ics.pca9685 import LEVEL_MAX, Pca9685

US = 1_000
AWAKE_AI = 0x20


def get(ic: Pca9685, register: int, count: int = 1) -> bytes:
    ic.write(bytes([register]))
    return ic.read(count)


def put(ic: Pca9685, register: int, *values: int) -> None:
    assert ic.write(bytes([register, *values]))
    ic.stop()


def awake() -> Pca9685:
    ic = Pca9685(0x40)
    put(ic, 0x00, AWAKE_AI)
    ic.advance(1000 * US)
    return ic


def test_power_on_values() -> None:
    ic = Pca9685(0x40)
    assert get(ic, 0x00) == b"\x11"
    assert get(ic, 0x01) == b"\x04"
    assert get(ic, 0x02) == b"\xe2"
    assert get(ic, 0x05) == b"\xe0"
    assert get(ic, 0xFE) == b"\x1e"
    put(ic, 0x00, 0x31)
    assert get(ic, 0x06, 4) == b"\x00\x00\x00\x10"
    assert get(ic, 0x42, 4) == b"\x00\x00\x00\x10"


def test_prescale_is_written_only_asleep_and_never_below_three() -> None:
    ic = Pca9685(0x40)
    put(ic, 0xFE, 1)
    assert get(ic, 0xFE) == b"\x03"
    put(ic, 0x00, AWAKE_AI)
    put(ic, 0xFE, 100)
    assert get(ic, 0xFE) == b"\x03"
    assert ic.pwm_period_ns == 655_360
    put(ic, 0x00, AWAKE_AI | 0x10)
    put(ic, 0xFE, 100)
    assert get(ic, 0xFE) == b"\x64"


def test_it_answers_the_all_call_until_told_not_to() -> None:
    ic = Pca9685(0x41)
    assert ic.responds_to(0x70)
    put(ic, 0x00, 0x30)
    assert not ic.responds_to(0x70)
    assert ic.responds_to(0x41)


def test_sub_addresses_answer_only_when_enabled() -> None:
    ic = Pca9685(0x41)
    assert not ic.responds_to(0x71)
    put(ic, 0x00, 0x18)
    assert ic.responds_to(0x71)
    assert not ic.responds_to(0x72)
    put(ic, 0x02, 0x82)
    assert ic.responds_to(0x41)
    assert not ic.responds_to(0x71)


def test_outputs_change_at_stop_and_not_before() -> None:
    ic = awake()
    ic.write(bytes([0x06, 0, 0, 0x66, 0x02]))
    assert ic.level(0) == 0
    ic.stop()
    assert ic.level(0) == 614


def test_outputs_change_at_the_write_when_told_so() -> None:
    ic = awake()
    put(ic, 0x01, 0x0C)
    ic.write(bytes([0x06, 0, 0, 0x66, 0x02]))
    assert ic.level(0) == 614


@pytest.mark.parametrize(
    ("registers", "level"),
    [
        ((0, 0x10, 0, 0), LEVEL_MAX),
        ((0, 0, 0, 0x10), 0),
        ((0, 0x10, 0, 0x10), 0),
        ((0, 0, 0xFF, 0x0F), 4095),
        ((0x00, 0x0C, 0x00, 0x04), 2048),
        ((0, 0, 0, 0), 0),
    ],
)
def test_on_off_and_full_bits(registers: tuple[int, ...], level: int) -> None:
    ic = awake()
    put(ic, 0x0A, *registers)
    assert ic.level(1) == level


def test_all_led_registers_reach_every_channel_and_read_zero() -> None:
    ic = awake()
    put(ic, 0xFA, 0, 0x10, 0, 0)
    assert [ic.level(channel) for channel in range(16)] == [LEVEL_MAX] * 16
    assert get(ic, 0xFA, 4) == bytes(4)


def test_without_auto_increment_the_pointer_stays() -> None:
    ic = Pca9685(0x40)
    put(ic, 0x06, 1, 2, 3)
    assert get(ic, 0x06, 3) == b"\x03\x03\x03"
    assert get(ic, 0x07) == b"\x00"


def test_auto_increment_wraps_after_the_last_led_and_after_prescale() -> None:
    ic = awake()
    assert get(ic, 0x45, 3) == b"\x10\x20\x04"
    assert get(ic, 0xFE, 2) == b"\x1e\x20"


def test_asleep_every_output_is_dark_and_restart_brings_them_back() -> None:
    ic = awake()
    put(ic, 0x06, 0, 0x10, 0, 0)
    put(ic, 0x00, AWAKE_AI | 0x10)
    assert ic.level(0) == 0
    assert get(ic, 0x00) == b"\xb0"
    put(ic, 0x00, AWAKE_AI)
    ic.advance(2000 * US)
    assert ic.level(0) == 0
    put(ic, 0x00, AWAKE_AI | 0x80)
    assert ic.level(0) == LEVEL_MAX
    assert get(ic, 0x00) == b"\x20"


def test_restart_before_the_oscillator_runs_does_nothing() -> None:
    ic = awake()
    put(ic, 0x06, 0, 0x10, 0, 0)
    put(ic, 0x00, AWAKE_AI | 0x10)
    put(ic, 0x00, AWAKE_AI)
    ic.advance(ic.now_ns + 499 * US)
    put(ic, 0x00, AWAKE_AI | 0x80)
    assert get(ic, 0x00) == b"\xa0"
    ic.advance(ic.now_ns + 1 * US)
    put(ic, 0x00, AWAKE_AI | 0x80)
    assert ic.level(0) == LEVEL_MAX


def test_writing_a_channel_clears_a_due_restart() -> None:
    ic = awake()
    put(ic, 0x06, 0, 0x10, 0, 0)
    put(ic, 0x00, AWAKE_AI | 0x10)
    put(ic, 0x0A, 0, 0x10, 0, 0)
    assert get(ic, 0x00) == b"\x30"


def test_sleep_with_nothing_lit_asks_for_no_restart() -> None:
    ic = awake()
    put(ic, 0x00, AWAKE_AI | 0x10)
    assert get(ic, 0x00) == b"\x30"


def test_light_waits_for_the_oscillator_and_says_when() -> None:
    ic = Pca9685(0x40)
    seen: list[tuple[int, int, int]] = []
    ic.on_output = lambda at_ns, channel, level: seen.append((at_ns, channel, level))
    put(ic, 0x00, 0x30)
    put(ic, 0x06, 0, 0x10, 0, 0)
    ic.advance(100 * US)
    put(ic, 0x00, AWAKE_AI)
    assert ic.next_event_ns() == 600 * US
    ic.advance(5000 * US)
    assert seen == [(600 * US, 0, LEVEL_MAX)]
    assert ic.next_event_ns() is None


def test_inverted_outputs() -> None:
    ic = awake()
    put(ic, 0x01, 0x14)
    put(ic, 0x06, 0, 0, 0, 0x04)
    assert ic.level(0) == LEVEL_MAX - 1024


def test_the_external_clock_bit_stays_until_a_reset() -> None:
    ic = Pca9685(0x40)
    put(ic, 0x00, 0x70)
    put(ic, 0x00, AWAKE_AI)
    assert get(ic, 0x00) == b"\x60"
    assert ic.general_call(b"\x06")
    assert get(ic, 0x00) == b"\x11"


def test_software_reset_is_the_general_call_with_six() -> None:
    ic = awake()
    put(ic, 0x06, 0, 0x10, 0, 0)
    assert not ic.general_call(b"\x07")
    assert ic.level(0) == LEVEL_MAX
    assert ic.general_call(b"\x06")
    assert ic.level(0) == 0
    assert get(ic, 0x00) == b"\x11"


def test_a_power_cut_is_dark_and_forgets() -> None:
    ic = awake()
    put(ic, 0x06, 0, 0x10, 0, 0)
    ic.power_off()
    assert ic.level(0) == 0
    assert not ic.responds_to(0x40)
    assert not ic.responds_to(0x70)
    ic.power_on()
    assert get(ic, 0x00) == b"\x11"
