"""The MPR121's baseline and automatic configuration: the traps that would forget a bet."""

from __future__ import annotations

import pytest

from sim.hardware.ics.mpr121 import Mpr121

MS = 1_000_000
SECOND = 1_000 * MS
# MHD, NHD, NCL, FDL rising; the same falling; NHD, NCL, FDL touched.
EAGER_FILTER = [1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0]


def get(ic: Mpr121, register: int, count: int = 1) -> bytes:
    ic.write(bytes([register]))
    return ic.read(count)


def started(
    mode: int, level: int = 700, preload: int = 0, filters: list[int] | None = None
) -> Mpr121:
    ic = Mpr121(0x5A)
    ic.set_input(0, level, 0)
    ic.write(bytes([0x2B, *(filters or [0] * 11)]))
    ic.write(bytes([0x41, 12, 6]))
    ic.write(bytes([0x5D, 0x20]))
    ic.write(bytes([0x1E, preload >> 2]))
    ic.write(bytes([0x5E, mode << 6 | 1]))
    return ic


def baseline(ic: Mpr121) -> int:
    return get(ic, 0x1E)[0] << 2


@pytest.mark.parametrize(
    ("mode", "expected"), [(0b00, 400), (0b01, 400), (0b10, 703 & 0x3E0), (0b11, 700)]
)
def test_first_sample_loads_the_baseline_as_the_mode_says(mode: int, expected: int) -> None:
    ic = started(mode, level=703, preload=400)
    ic.advance(4 * MS)
    assert baseline(ic) == expected


def test_five_bits_of_a_small_reading_are_none_and_it_can_never_touch() -> None:
    ic = started(0b10, level=13)
    ic.advance(40 * MS)
    assert baseline(ic) == 0
    ic.set_input(0, 0, 40 * MS)
    ic.advance(SECOND)
    assert get(ic, 0x00) == b"\x00"


@pytest.mark.parametrize("mode", [0b10, 0b11])
def test_a_chip_that_lies_there_at_the_start_is_learned_away(mode: int) -> None:
    ic = started(mode, level=640, preload=700)
    ic.advance(SECOND)
    assert get(ic, 0x00) == b"\x00"


def test_a_locked_baseline_sees_the_chip_that_lies_there_at_the_start() -> None:
    ic = started(0b01, level=640, preload=700, filters=EAGER_FILTER)
    ic.advance(SECOND)
    assert get(ic, 0x00) == b"\x01"


@pytest.mark.parametrize(
    ("mode", "forgets"), [(0b00, True), (0b01, False), (0b10, True), (0b11, True)]
)
def test_tracking_forgets_a_static_chip_and_a_locked_baseline_does_not(
    mode: int, forgets: bool
) -> None:
    ic = started(mode, preload=700, filters=EAGER_FILTER)
    ic.advance(100 * MS)
    ic.set_input(0, 600, 100 * MS)
    ic.advance(200 * MS)
    assert get(ic, 0x00) == b"\x01"
    ic.advance(5 * SECOND)
    assert get(ic, 0x00) == (b"\x00" if forgets else b"\x01")
    assert ic.next_event_ns() is None


def test_a_small_drift_passes_straight_through() -> None:
    ic = started(0b11, filters=[8, 1, 0, 0, 8, 1, 0, 0, 0, 0, 0])
    ic.advance(100 * MS)
    ic.set_input(0, 708, 100 * MS)
    ic.advance(108 * MS)
    assert baseline(ic) == 708


def test_a_large_drift_moves_by_single_steps_after_its_noise_count() -> None:
    ic = started(0b11, filters=[1, 4, 2, 0, 1, 4, 2, 0, 0, 0, 0])
    ic.advance(100 * MS)
    ic.set_input(0, 800, 100 * MS)  # Seen from 108 ms on; every third sample moves by four.
    ic.advance(112 * MS)
    assert baseline(ic) == 700
    ic.advance(116 * MS)
    assert baseline(ic) == 704
    ic.advance(128 * MS)
    assert baseline(ic) == 708


def test_the_filter_delay_slows_it_down() -> None:
    fast = started(0b11, filters=[1, 4, 0, 0] * 2 + [0, 0, 0])
    slow = started(0b11, filters=[1, 4, 0, 3] * 2 + [0, 0, 0])
    for ic in (fast, slow):
        ic.advance(100 * MS)
        ic.set_input(0, 900, 100 * MS)
        ic.advance(168 * MS)
    assert baseline(fast) == 764
    assert baseline(slow) == 716


def test_a_filter_that_may_not_step_never_moves_and_stays_quiet() -> None:
    ic = started(0b00, preload=700, filters=[1, 0, 5, 5, 1, 0, 5, 5, 0, 5, 5])
    ic.set_input(0, 600, 100 * MS)
    ic.advance(SECOND)
    assert baseline(ic) == 700
    assert ic.next_event_ns() is None


def autoconfigured(level: int, control_0: int, control_1: int = 0) -> Mpr121:
    ic = Mpr121(0x5A)
    ic.set_input(0, level, 0)
    ic.write(bytes([0x5D, 0x20]))
    ic.write(bytes([0x7B, control_0, control_1, 201, 130, 180]))
    ic.write(bytes([0x5E, 0x41]))
    return ic


def test_autoconfig_finds_a_charge_that_meets_the_target() -> None:
    ic = autoconfigured(300, 0x01)
    ic.advance(20 * MS)
    assert abs(int.from_bytes(get(ic, 0x04, 2), "little") - 180 * 4) <= 12
    assert get(ic, 0x5F)[0] == round(180 * 4 * 16 / 300)
    assert get(ic, 0x02, 2) == b"\x00\x00"


@pytest.mark.parametrize("dead_level", [0, 1_000_000])
def test_autoconfig_of_a_dead_electrode_raises_its_flags(dead_level: int) -> None:
    ic = autoconfigured(dead_level, 0x01)
    assert get(ic, 0x02, 2) == b"\x01\x80"
    assert not ic.irq_low
    assert autoconfigured(dead_level, 0x01, control_1=0x01).irq_low


def test_autoconfig_runs_once_after_a_reset() -> None:
    ic = autoconfigured(300, 0x01)
    current = get(ic, 0x5F)
    ic.write(bytes([0x5E, 0x00]))
    ic.set_input(0, 500, 10 * MS)
    ic.write(bytes([0x5E, 0x41]))
    assert get(ic, 0x5F) == current


def test_reconfig_follows_data_that_left_the_limits_and_flags_what_cannot_follow() -> None:
    ic = autoconfigured(700, 0x03, control_1=0x02)
    ic.advance(20 * MS)
    ic.set_input(0, 350, 20 * MS)
    ic.advance(60 * MS)
    assert abs(int.from_bytes(get(ic, 0x04, 2), "little") - 180 * 4) <= 12
    ic.set_input(0, 0, 60 * MS)
    ic.advance(100 * MS)
    assert ic.irq_low
    assert get(ic, 0x02, 2) == b"\x01\x40"


def test_range_flags_stay_silent_without_automatic_configuration() -> None:
    ic = autoconfigured(1_000_000, 0x00)
    ic.advance(100 * MS)
    assert get(ic, 0x02, 2) == b"\x00\x00"
    assert get(ic, 0x04, 2) == b"\xff\x03"


def test_more_charge_reads_higher() -> None:
    ic = Mpr121(0x5A)
    ic.set_input(0, 400, 0)
    ic.write(bytes([0x5C, 0x20, 0x20]))
    ic.write(bytes([0x5E, 0x41]))
    ic.advance(20 * MS)
    assert int.from_bytes(get(ic, 0x04, 2), "little") == 800
