"""The converter's model against what is published of the IC, register by register."""

from __future__ import annotations

import pytest

from sim.hardware.ics.fdc1004 import DoneRule, Fdc1004

MS = 1_000_000
PERIOD_NS = 2_500_000
CONTROL = 0x0C
FOUR_AT_400 = 0x0DF0


def get(ic: Fdc1004, register: int) -> int:
    ic.write(bytes([register]))
    return int.from_bytes(ic.read(2), "big")


def put(ic: Fdc1004, register: int, value: int) -> None:
    ic.write(bytes([register]) + value.to_bytes(2, "big"))


def code(ic: Fdc1004, number: int) -> int:
    """The 24-bit two's complement of one measurement."""
    value = get(ic, 2 * number) << 8 | get(ic, 2 * number + 1) >> 8
    return value - (1 << 24) if value & 1 << 23 else value


def running(done_rule: DoneRule = DoneRule.LOW_HALF_READ, capdac: int = 0) -> Fdc1004:
    ic = Fdc1004(done_rule=done_rule)
    for number in range(4):
        put(ic, 0x08 + number, number << 13 | 0x1000 | capdac << 5)
        ic.set_input(number, 3000.0 + 100 * number, 0)
    put(ic, CONTROL, FOUR_AT_400)
    return ic


def test_registers_after_power_up() -> None:
    ic = Fdc1004()
    assert [get(ic, register) for register in range(0x08)] == [0] * 8
    assert [get(ic, register) for register in range(0x08, 0x0D)] == [0x1C00] * 4 + [0]
    assert [get(ic, register) for register in range(0x0D, 0x15)] == [0] * 4 + [0x4000] * 4
    assert (get(ic, 0xFE), get(ic, 0xFF)) == (0x5449, 0x1004)


def test_registers_are_big_endian_and_the_pointer_stays() -> None:
    ic = Fdc1004()
    ic.write(b"\xfe")
    assert ic.read(4) == b"\x54\x49\xff\xff"
    assert ic.read(2) == b"\x54\x49"


def test_half_a_register_is_not_written() -> None:
    ic = Fdc1004()
    ic.write(b"\x08\x10")
    assert get(ic, 0x08) == 0x1C00


def test_measurements_come_in_turn_at_the_rate() -> None:
    ic = running()
    for place, done in enumerate((0x0, 0x8, 0xC, 0xE, 0xF)):
        ic.advance(place * PERIOD_NS)
        assert get(ic, CONTROL) == FOUR_AT_400 | done


@pytest.mark.parametrize(("rate", "period_ms"), [(0x0400, 10), (0x0800, 5), (0x0C00, 2.5)])
def test_a_single_measurement_takes_its_period_and_happens_once(
    rate: int, period_ms: float
) -> None:
    ic = Fdc1004()
    put(ic, 0x08, 0x1000)
    put(ic, CONTROL, rate | 0x80)
    ic.advance(int(period_ms * MS) - 1)
    assert get(ic, CONTROL) & 0xF == 0
    ic.advance(int(period_ms * MS))
    assert get(ic, CONTROL) & 0xF == 8
    code(ic, 0)
    ic.advance(100 * MS)
    assert get(ic, CONTROL) & 0xF == 0


def test_a_code_is_two_to_the_nineteen_per_picofarad() -> None:
    ic = running()
    ic.advance(4 * PERIOD_NS)
    assert [code(ic, number) for number in range(4)] == [
        round((3000 + 100 * number) / 1000 * (1 << 19)) for number in range(4)
    ]


def test_the_capdac_takes_its_steps_off_and_may_go_below_zero() -> None:
    ic = running(capdac=1)
    ic.advance(4 * PERIOD_NS)
    assert code(ic, 0) == round(-0.125 * (1 << 19))


def test_more_than_the_range_is_a_measure_at_its_limit() -> None:
    ic = running()
    ic.set_input(1, 20_000.0, 0)
    ic.advance(4 * PERIOD_NS)
    assert code(ic, 1) == (1 << 23) - 1


def test_gain_and_offset_registers_count() -> None:
    ic = running()
    put(ic, 0x11, 0x2000)
    put(ic, 0x0D, 2048)
    ic.advance(8 * PERIOD_NS)
    assert code(ic, 0) == round(2.5 * (1 << 19))


def test_a_difference_of_two_inputs() -> None:
    ic = running()
    put(ic, 0x08, 0 << 13 | 2 << 10)
    ic.advance(8 * PERIOD_NS)
    assert code(ic, 0) == round(-0.2 * (1 << 19))


@pytest.mark.parametrize("setup", [0x8000 | 0x1000, 2 << 13 | 1 << 10, 1 << 13 | 1 << 10])
def test_a_setup_without_a_meaning_is_never_done(setup: int) -> None:
    ic = Fdc1004()
    put(ic, 0x08, setup)
    put(ic, CONTROL, 0x0D80)
    ic.advance(100 * MS)
    assert get(ic, CONTROL) == 0x0D80


def test_a_step_within_a_measurement_lies_in_between() -> None:
    ic = running()
    ic.set_input(0, 4000.0, PERIOD_NS // 2)
    ic.advance(PERIOD_NS)
    assert code(ic, 0) == round(3.5 * (1 << 19))
    ic.advance(5 * PERIOD_NS)
    assert code(ic, 0) == round(4.0 * (1 << 19))


@pytest.mark.parametrize("rule", list(DoneRule))
def test_done_ends_by_the_rule_and_comes_again(rule: DoneRule) -> None:
    ic = running(rule)
    ic.advance(4 * PERIOD_NS)
    get(ic, 0)
    assert bool(get(ic, CONTROL) & 8) == (rule is DoneRule.LOW_HALF_READ)
    get(ic, 1)
    assert not get(ic, CONTROL) & 8
    assert get(ic, 0) == 0x7FFF  # Nothing new there yet.
    ic.advance(5 * PERIOD_NS)
    assert get(ic, CONTROL) & 8


def test_the_halves_of_a_read_belong_together() -> None:
    ic = running()
    ic.set_input(0, 3000.001, 0)
    ic.advance(4 * PERIOD_NS)
    high = get(ic, 0)
    ic.set_input(0, 5000.0, 4 * PERIOD_NS)
    ic.advance(8 * PERIOD_NS)
    assert high << 8 | get(ic, 1) >> 8 == round(3.000001 * (1 << 19))


def test_skipped_cycles_leave_the_same_numbers_and_the_same_grid() -> None:
    step_by_step, at_once = running(), running()
    for ic in (step_by_step, at_once):
        ic.set_input(2, 3500.0, 13 * MS)
    end_ns = 3_600_000 * MS + 1_234_567
    for now_ns in range(13 * MS, 500 * MS, 1_700_000):
        step_by_step.advance(now_ns)
    for ic in (step_by_step, at_once):
        ic.advance(end_ns)
    for ic in (step_by_step, at_once):
        ic.set_input(2, 4000.0, end_ns)
        ic.advance(end_ns + 6 * MS)
    assert [code(step_by_step, n) for n in range(4)] == [code(at_once, n) for n in range(4)]
    assert get(step_by_step, CONTROL) == get(at_once, CONTROL)


def test_a_reset_ends_everything_and_so_does_a_dip_of_the_supply() -> None:
    for reset in (lambda ic: put(ic, CONTROL, 0x8000), Fdc1004.power_cycle):
        ic = running()
        ic.advance(10 * MS)
        reset(ic)
        assert get(ic, CONTROL) == 0
        assert get(ic, 0x08) == 0x1C00
        ic.advance(50 * MS)
        assert get(ic, CONTROL) == 0


def test_a_hung_converter_answers_and_measures_no_more_until_reset() -> None:
    ic = running()
    ic.advance(10 * MS)
    for number in range(4):
        code(ic, number)
    ic.hang()
    ic.advance(100 * MS)
    assert get(ic, CONTROL) == FOUR_AT_400
    put(ic, CONTROL, 0x8000)
    put(ic, 0x08, 0x1000)
    put(ic, CONTROL, 0x0D80)
    ic.advance(110 * MS)
    assert get(ic, CONTROL) & 8
