"""The TCA9555 model against the datasheet: register pairs, latch and pin, interrupt."""

from __future__ import annotations

from sim.hardware.ics.tca9555 import Tca9555


def get(ic: Tca9555, register: int, count: int = 1) -> bytes:
    ic.write(bytes([register]))
    return ic.read(count)


def test_power_on_values() -> None:
    ic = Tca9555(0x20)
    assert [get(ic, register)[0] for register in range(8)] == [255, 255, 255, 255, 0, 0, 255, 255]


def test_the_pointer_toggles_inside_its_pair() -> None:
    ic = Tca9555(0x20)
    ic.write(bytes([3, 0x11, 0x22, 0x33]))
    assert get(ic, 2) == b"\x22"
    assert get(ic, 3) == b"\x33"
    assert get(ic, 4, 2) == b"\x00\x00"
    assert get(ic, 2, 4) == b"\x22\x33\x22\x33"


def test_inputs_are_live_and_cannot_be_written() -> None:
    ic = Tca9555(0x20)
    ic.set_pin(0, high=False, at_ns=0)
    ic.set_pin(15, high=False, at_ns=0)
    ic.write(bytes([0, 0xFF, 0xFF]))
    assert get(ic, 0, 2) == b"\xfe\x7f"


def test_polarity_inverts_what_is_read() -> None:
    ic = Tca9555(0x20)
    ic.write(bytes([4, 0x0F, 0x00]))
    assert get(ic, 0, 2) == b"\xf0\xff"


def test_the_output_register_reads_the_latch_and_the_input_register_the_pin() -> None:
    ic = Tca9555(0x20)
    ic.write(bytes([2, 0x00, 0xFF]))
    assert get(ic, 2) == b"\x00"
    assert get(ic, 0) == b"\xff"  # Still inputs, pulled high.
    ic.write(bytes([6, 0xF0]))
    assert get(ic, 0) == b"\xf0"
    assert not ic.pin_high(0)
    assert ic.pin_high(4)


def test_int_is_low_while_an_input_differs_from_its_last_read() -> None:
    ic = Tca9555(0x20)
    edges: list[tuple[int, bool]] = []
    ic.on_irq = lambda at_ns, low: edges.append((at_ns, low))
    ic.set_pin(3, high=False, at_ns=1000)
    assert ic.irq_low
    get(ic, 0)
    assert not ic.irq_low
    ic.set_pin(3, high=True, at_ns=2000)
    assert edges == [(1000, True), (1000, False), (2000, True)]


def test_reading_the_other_port_does_not_clear_int() -> None:
    ic = Tca9555(0x20)
    ic.set_pin(8, high=False, at_ns=0)
    get(ic, 0)
    assert ic.irq_low
    get(ic, 1)
    assert not ic.irq_low


def test_int_lets_go_when_the_pin_returns_so_a_short_pulse_vanishes() -> None:
    ic = Tca9555(0x20)
    ic.set_pin(0, high=False, at_ns=0)
    ic.set_pin(0, high=True, at_ns=10)
    assert not ic.irq_low
    assert get(ic, 0) == b"\xff"


def test_outputs_raise_no_interrupt() -> None:
    ic = Tca9555(0x20)
    ic.write(bytes([6, 0xFE]))
    ic.set_pin(0, high=False, at_ns=0)
    assert not ic.irq_low


def test_a_power_cycle_takes_the_pins_as_they_are_for_read() -> None:
    ic = Tca9555(0x20)
    ic.set_pin(0, high=False, at_ns=0)
    ic.write(bytes([6, 0x00]))
    ic.power_off()
    assert not ic.irq_low
    assert not ic.responds_to(0x20)
    ic.power_on()
    assert not ic.irq_low
    assert get(ic, 6) == b"\xff"
    assert get(ic, 0) == b"\xfe"
