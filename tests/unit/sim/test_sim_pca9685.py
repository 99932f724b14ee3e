"""The PCA9685 model against the datasheet: sleep, restart, broadcast, STOP, full bits, wrap."""

from __future__ import annotations

import pytest

from sim.chips.pca9685 import LEVEL_MAX, Pca9685

US = 1_000
AWAKE_AI = 0x20


def get(chip: Pca9685, register: int, count: int = 1) -> bytes:
    chip.write(bytes([register]))
    return chip.read(count)


def put(chip: Pca9685, register: int, *values: int) -> None:
    assert chip.write(bytes([register, *values]))
    chip.stop()


def awake() -> Pca9685:
    chip = Pca9685(0x40)
    put(chip, 0x00, AWAKE_AI)
    chip.advance(1000 * US)
    return chip


def test_power_on_values() -> None:
    chip = Pca9685(0x40)
    assert get(chip, 0x00) == b"\x11"
    assert get(chip, 0x01) == b"\x04"
    assert get(chip, 0x02) == b"\xe2"
    assert get(chip, 0x05) == b"\xe0"
    assert get(chip, 0xFE) == b"\x1e"
    put(chip, 0x00, 0x31)
    assert get(chip, 0x06, 4) == b"\x00\x00\x00\x10"
    assert get(chip, 0x42, 4) == b"\x00\x00\x00\x10"


def test_prescale_is_written_only_asleep_and_never_below_three() -> None:
    chip = Pca9685(0x40)
    put(chip, 0xFE, 1)
    assert get(chip, 0xFE) == b"\x03"
    put(chip, 0x00, AWAKE_AI)
    put(chip, 0xFE, 100)
    assert get(chip, 0xFE) == b"\x03"
    assert chip.pwm_period_ns == 655_360
    put(chip, 0x00, AWAKE_AI | 0x10)
    put(chip, 0xFE, 100)
    assert get(chip, 0xFE) == b"\x64"


def test_it_answers_the_all_call_until_told_not_to() -> None:
    chip = Pca9685(0x41)
    assert chip.responds_to(0x70)
    put(chip, 0x00, 0x30)
    assert not chip.responds_to(0x70)
    assert chip.responds_to(0x41)


def test_sub_addresses_answer_only_when_enabled() -> None:
    chip = Pca9685(0x41)
    assert not chip.responds_to(0x71)
    put(chip, 0x00, 0x18)
    assert chip.responds_to(0x71)
    assert not chip.responds_to(0x72)
    put(chip, 0x02, 0x82)
    assert chip.responds_to(0x41)
    assert not chip.responds_to(0x71)


def test_outputs_change_at_stop_and_not_before() -> None:
    chip = awake()
    chip.write(bytes([0x06, 0, 0, 0x66, 0x02]))
    assert chip.level(0) == 0
    chip.stop()
    assert chip.level(0) == 614


def test_outputs_change_at_the_write_when_told_so() -> None:
    chip = awake()
    put(chip, 0x01, 0x0C)
    chip.write(bytes([0x06, 0, 0, 0x66, 0x02]))
    assert chip.level(0) == 614


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
    chip = awake()
    put(chip, 0x0A, *registers)
    assert chip.level(1) == level


def test_all_led_registers_reach_every_channel_and_read_zero() -> None:
    chip = awake()
    put(chip, 0xFA, 0, 0x10, 0, 0)
    assert [chip.level(channel) for channel in range(16)] == [LEVEL_MAX] * 16
    assert get(chip, 0xFA, 4) == bytes(4)


def test_without_auto_increment_the_pointer_stays() -> None:
    chip = Pca9685(0x40)
    put(chip, 0x06, 1, 2, 3)
    assert get(chip, 0x06, 3) == b"\x03\x03\x03"
    assert get(chip, 0x07) == b"\x00"


def test_auto_increment_wraps_after_the_last_led_and_after_prescale() -> None:
    chip = awake()
    assert get(chip, 0x45, 3) == b"\x10\x20\x04"
    assert get(chip, 0xFE, 2) == b"\x1e\x20"


def test_asleep_every_output_is_dark_and_restart_brings_them_back() -> None:
    chip = awake()
    put(chip, 0x06, 0, 0x10, 0, 0)
    put(chip, 0x00, AWAKE_AI | 0x10)
    assert chip.level(0) == 0
    assert get(chip, 0x00) == b"\xb0"
    put(chip, 0x00, AWAKE_AI)
    chip.advance(2000 * US)
    assert chip.level(0) == 0
    put(chip, 0x00, AWAKE_AI | 0x80)
    assert chip.level(0) == LEVEL_MAX
    assert get(chip, 0x00) == b"\x20"


def test_restart_before_the_oscillator_runs_does_nothing() -> None:
    chip = awake()
    put(chip, 0x06, 0, 0x10, 0, 0)
    put(chip, 0x00, AWAKE_AI | 0x10)
    put(chip, 0x00, AWAKE_AI)
    chip.advance(chip.now_ns + 499 * US)
    put(chip, 0x00, AWAKE_AI | 0x80)
    assert get(chip, 0x00) == b"\xa0"
    chip.advance(chip.now_ns + 1 * US)
    put(chip, 0x00, AWAKE_AI | 0x80)
    assert chip.level(0) == LEVEL_MAX


def test_writing_a_channel_clears_a_due_restart() -> None:
    chip = awake()
    put(chip, 0x06, 0, 0x10, 0, 0)
    put(chip, 0x00, AWAKE_AI | 0x10)
    put(chip, 0x0A, 0, 0x10, 0, 0)
    assert get(chip, 0x00) == b"\x30"


def test_sleep_with_nothing_lit_asks_for_no_restart() -> None:
    chip = awake()
    put(chip, 0x00, AWAKE_AI | 0x10)
    assert get(chip, 0x00) == b"\x30"


def test_light_waits_for_the_oscillator_and_says_when() -> None:
    chip = Pca9685(0x40)
    seen: list[tuple[int, int, int]] = []
    chip.on_output = lambda at_ns, channel, level: seen.append((at_ns, channel, level))
    put(chip, 0x00, 0x30)
    put(chip, 0x06, 0, 0x10, 0, 0)
    chip.advance(100 * US)
    put(chip, 0x00, AWAKE_AI)
    assert chip.next_event_ns() == 600 * US
    chip.advance(5000 * US)
    assert seen == [(600 * US, 0, LEVEL_MAX)]
    assert chip.next_event_ns() is None


def test_inverted_outputs() -> None:
    chip = awake()
    put(chip, 0x01, 0x14)
    put(chip, 0x06, 0, 0, 0, 0x04)
    assert chip.level(0) == LEVEL_MAX - 1024


def test_the_external_clock_bit_stays_until_a_reset() -> None:
    chip = Pca9685(0x40)
    put(chip, 0x00, 0x70)
    put(chip, 0x00, AWAKE_AI)
    assert get(chip, 0x00) == b"\x60"
    assert chip.general_call(b"\x06")
    assert get(chip, 0x00) == b"\x11"


def test_software_reset_is_the_general_call_with_six() -> None:
    chip = awake()
    put(chip, 0x06, 0, 0x10, 0, 0)
    assert not chip.general_call(b"\x07")
    assert chip.level(0) == LEVEL_MAX
    assert chip.general_call(b"\x06")
    assert chip.level(0) == 0
    assert get(chip, 0x00) == b"\x11"


def test_a_power_cut_is_dark_and_forgets() -> None:
    chip = awake()
    put(chip, 0x06, 0, 0x10, 0, 0)
    chip.power_off()
    assert chip.level(0) == 0
    assert not chip.responds_to(0x40)
    assert not chip.responds_to(0x70)
    chip.power_on()
    assert get(chip, 0x00) == b"\x11"
