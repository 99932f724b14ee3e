"""The MPR121 model against the datasheet: modes, sampling grid, debounce, IRQ, over-current."""

from __future__ import annotations

import pytest

from sim.hardware.ics.mpr121 import IrqRule, Mpr121

MS = 1_000_000
RUN_LOCKED = 0x40


def new_ic(irq_rule: IrqRule = IrqRule.STATUS_READ) -> Mpr121:
    ic = Mpr121(0x5A, irq_rule)
    for electrode in range(12):
        ic.set_input(electrode, 700, 0)
    return ic


def get(ic: Mpr121, register: int, count: int = 1) -> bytes:
    assert ic.write(bytes([register]))
    return ic.read(count)


def put(ic: Mpr121, register: int, *values: int) -> None:
    assert ic.write(bytes([register, *values]))


def configure(ic: Mpr121, debounce: int = 0x11, sampling: int = 0x20, run: int = 0x48) -> None:
    put(ic, 0x41, *[12, 6] * 12)
    put(ic, 0x5B, debounce)
    put(ic, 0x5D, sampling)
    put(ic, 0x1E, *[700 >> 2] * 12)
    put(ic, 0x5E, run)


def irq_times(ic: Mpr121) -> list[tuple[int, bool]]:
    times: list[tuple[int, bool]] = []
    ic.on_irq = lambda at_ns, low: times.append((at_ns, low))
    return times


def test_power_on_values() -> None:
    ic = new_ic()
    assert get(ic, 0x5C, 3) == bytes([0x10, 0x24, 0x00])
    assert get(ic, 0x00, 0x2B) == bytes(0x2B)


def test_soft_reset_needs_its_key_and_works_while_running() -> None:
    ic = new_ic()
    configure(ic)
    put(ic, 0x80, 0x62)
    assert get(ic, 0x5E) == b"\x48"
    put(ic, 0x80, 0x63)
    assert get(ic, 0x5D, 2) == b"\x24\x00"
    ic.advance(100 * MS)
    assert get(ic, 0x04, 2) == b"\x00\x00"


def test_running_ignores_writes_except_electrodes_and_gpio() -> None:
    ic = new_ic()
    configure(ic)
    put(ic, 0x41, 99)
    put(ic, 0x1E, 99)
    put(ic, 0x5B, 0x77)
    assert get(ic, 0x41) == b"\x0c"
    assert get(ic, 0x1E) == bytes([175])
    assert get(ic, 0x5B) == b"\x11"
    put(ic, 0x77, 0xF0)
    assert get(ic, 0x77) == b"\xf0"
    put(ic, 0x5E, 0x00)
    put(ic, 0x41, 99)
    assert get(ic, 0x41) == b"\x63"


def test_gpio_set_clear_toggle_act_on_the_data_register() -> None:
    ic = new_ic()
    put(ic, 0x78, 0xF0)
    put(ic, 0x79, 0x30)
    put(ic, 0x7A, 0x81)
    assert get(ic, 0x75) == b"\x41"
    assert get(ic, 0x78, 3) == b"\x41\x41\x41"


def test_pointer_increments_over_a_long_read() -> None:
    ic = new_ic()
    ic.set_input(11, 0x123, 0)
    configure(ic, run=0x4C)
    ic.advance(8 * MS)
    data = get(ic, 0x00, 43)
    assert data[0x04:0x06] == (700).to_bytes(2, "little")
    assert data[0x1A:0x1C] == b"\x23\x01"
    assert data[0x1E : 0x1E + 12] == bytes([175] * 12)


@pytest.mark.parametrize(
    ("sampling", "period_ms"),
    [(0x24, 64), (0x20, 4), (0x04 | 0x20, 64), (0x21, 8), (0x28, 6), (0x30, 10), (0x38, 18)],
)
def test_data_arrive_every_sampling_interval(sampling: int, period_ms: int) -> None:
    ic = new_ic()
    configure(ic, sampling=sampling)
    ic.advance(period_ms * MS - 1)
    assert get(ic, 0x04, 2) == b"\x00\x00"
    ic.advance(period_ms * MS)
    assert get(ic, 0x04, 2) == (700).to_bytes(2, "little")


@pytest.mark.parametrize("placed_us", [1, 700, 1999, 3999])
@pytest.mark.parametrize(("debounce", "extra_ms"), [(0x00, 0), (0x01, 4), (0x13, 12)])
def test_a_step_shows_after_one_whole_window_and_the_debounce(
    placed_us: int, debounce: int, extra_ms: int
) -> None:
    ic = new_ic()
    configure(ic, debounce=debounce)
    times = irq_times(ic)
    ic.set_input(2, 640, 40 * MS + placed_us * 1000)
    ic.advance(100 * MS)
    assert times == [((48 + extra_ms) * MS, True)]
    assert get(ic, 0x00, 2) == b"\x04\x00"


def test_release_uses_its_own_threshold_and_debounce() -> None:
    ic = new_ic()
    configure(ic, debounce=0x20)
    ic.set_input(0, 640, 40 * MS)
    ic.advance(60 * MS)
    ic.set_input(0, 694, 60 * MS)  # Six below the baseline: not below the release threshold.
    ic.advance(200 * MS)
    assert get(ic, 0x00) == b"\x01"
    times = irq_times(ic)
    ic.set_input(0, 695, 200 * MS)
    ic.advance(300 * MS)
    assert times == [(216 * MS, True)]
    assert get(ic, 0x00) == b"\x00"


def test_a_delta_of_exactly_the_threshold_is_no_touch() -> None:
    ic = new_ic()
    configure(ic, debounce=0)
    ic.set_input(0, 688, 10 * MS)
    ic.advance(100 * MS)
    assert get(ic, 0x00) == b"\x00"
    ic.set_input(0, 687, 100 * MS)
    ic.advance(200 * MS)
    assert get(ic, 0x00) == b"\x01"


def test_a_flicker_shorter_than_the_debounce_is_not_a_touch() -> None:
    ic = new_ic()
    configure(ic, debounce=0x11)
    times = irq_times(ic)
    ic.set_input(0, 640, 40 * MS)
    ic.set_input(0, 700, 44 * MS + 1)
    ic.advance(200 * MS)
    assert times == []


def test_only_enabled_electrodes_are_sensed() -> None:
    ic = new_ic()
    configure(ic, run=0x42)
    ic.set_input(1, 640, 10 * MS)
    ic.set_input(2, 640, 10 * MS)
    ic.advance(100 * MS)
    assert get(ic, 0x00, 2) == b"\x02\x00"
    assert get(ic, 0x08, 2) == b"\x00\x00"


def test_the_thirteenth_channel_has_its_own_status_bit() -> None:
    ic = new_ic()
    put(ic, 0x59, 12, 6)
    put(ic, 0x5D, 0x20)
    put(ic, 0x2A, 700 >> 2)
    ic.set_input(12, 640, 0)
    put(ic, 0x5E, 0x70)
    ic.advance(100 * MS)
    assert get(ic, 0x00, 2) == b"\x00\x10"


@pytest.mark.parametrize("rule", IrqRule)
def test_a_status_read_lets_go_of_the_irq(rule: IrqRule) -> None:
    ic = new_ic(rule)
    configure(ic)
    ic.set_input(0, 640, 10 * MS)
    ic.advance(50 * MS)
    assert ic.irq_low
    get(ic, 0x00, 2)
    assert not ic.irq_low


@pytest.mark.parametrize(
    ("rule", "still_low"), [(IrqRule.STATUS_READ, True), (IrqRule.ANY_TRAFFIC, False)]
)
def test_other_traffic_lets_go_of_the_irq_only_under_that_rule(
    rule: IrqRule, still_low: bool
) -> None:
    ic = new_ic(rule)
    configure(ic)
    ic.set_input(0, 640, 10 * MS)
    ic.advance(50 * MS)
    get(ic, 0x04, 2)
    assert ic.irq_low is still_low


def test_each_change_of_a_touch_bit_asserts_the_irq_again() -> None:
    ic = new_ic()
    configure(ic)
    ic.set_input(0, 640, 10 * MS)
    ic.advance(50 * MS)
    get(ic, 0x00, 2)
    ic.set_input(1, 640, 50 * MS)
    ic.advance(100 * MS)
    assert ic.irq_low
    assert get(ic, 0x00, 2) == b"\x03\x00"


def test_over_current_clears_and_stops_the_ic_until_acknowledged() -> None:
    ic = new_ic()
    configure(ic)
    ic.set_input(0, 640, 10 * MS)
    ic.advance(50 * MS)
    get(ic, 0x00)
    ic.over_current()
    assert ic.irq_low
    assert get(ic, 0x00, 2) == b"\x00\x80"
    assert get(ic, 0x04, 0x27) == bytes(0x27)
    assert get(ic, 0x5E) == b"\x40"
    put(ic, 0x5E, 0x48)
    assert get(ic, 0x5E) == b"\x40"
    put(ic, 0x01, 0x80)
    put(ic, 0x1E, *[175] * 8)
    put(ic, 0x5E, 0x48)
    ic.advance(100 * MS)
    assert get(ic, 0x00, 2) == b"\x01\x00"


def test_a_quiet_ic_has_no_next_event_and_skips_its_samples() -> None:
    ic = new_ic()
    configure(ic)
    assert ic.next_event_ns() == 4 * MS
    ic.advance(20 * MS)
    assert ic.next_event_ns() is None
    hour_ns = 3_600_000 * MS
    ic.set_input(0, 640, hour_ns + 1)
    assert ic.next_event_ns() == hour_ns + 4 * MS
    times = irq_times(ic)
    ic.advance(hour_ns + 50 * MS)
    assert times == [(hour_ns + 12 * MS, True)]
    assert ic.next_event_ns() is None


def test_a_power_cycle_forgets_registers_and_keeps_what_lies_on_the_pads() -> None:
    ic = new_ic()
    configure(ic)
    ic.set_input(0, 640, 10 * MS)
    ic.advance(50 * MS)
    assert ic.irq_low
    ic.power_cycle()
    assert not ic.irq_low
    assert get(ic, 0x5D, 2) == b"\x24\x00"
    configure(ic)
    ic.advance(100 * MS)
    assert get(ic, 0x00) == b"\x01"


def test_without_supply_it_does_not_answer() -> None:
    ic = new_ic()
    ic.power_off()
    assert not ic.responds_to(0x5A)
    ic.over_current()
    assert not ic.irq_low
