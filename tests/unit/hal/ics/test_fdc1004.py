"""The capacitance converter's exact transfers, and that nothing it does reads as an empty felt.

Mutations these catch: reading a measurement without its DONE bit, taking a measure at its limit for
one, a start that shows the reference before anything was measured, losing what a broken-off read
had taken already, a converter that stopped and keeps its last numbers, a measurement in which a
IC came that counts for part of an IC, and a wrong sign.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import pytest

from hal.aio import sleep_ms
from hal.bus.i2c import I2cBus
from hal.errors import BusFault, SensorFault
from hal.ics.fdc1004 import IC_RESET, Fdc1004
from hal.ics.fdc1004_electrode import FULL_SCALE, OUT_OF_RANGE, STOPPED
from hal.worker import InlineWorker
from sim.time.loop import VirtualLoop, run_virtual
from tests.kit.word_bus import WordBus

T = TypeVar("T")

CONTROL, SETUPS = 0x0C, 0x08
RUNNING = 0x0DE0  # 400 a second, repeated, measurements 1 to 3.
EMPTY = [7000, 7100, 7200]
REFERENCES = [FULL_SCALE - code for code in EMPTY]
FULL, LEAST = 0x7FFF, -0x8000


class Converter:
    """Three inputs that are always done, until a test takes that away."""

    def __init__(self, smbus: WordBus) -> None:
        self.codes = list(EMPTY)
        self.done = 0b1110
        self.smbus = smbus
        smbus.registers.update({0xFE: 0x5449, 0xFF: 0x1004})
        smbus.on_write = self._obey
        smbus.on_read = self._measure

    def _obey(self, register: int, value: int) -> None:
        if register == CONTROL and value & 0x8000:
            for place in range(0x0D):
                self.smbus.registers[place] = 0

    def _measure(self, register: int) -> None:
        registers = self.smbus.registers
        for number, code in enumerate(self.codes):
            registers[2 * number] = code & 0xFFFF
        if registers.get(CONTROL, 0) & 0x0100:
            registers[CONTROL] = registers[CONTROL] & ~0xF | self.done


@pytest.fixture
def words() -> WordBus:
    return WordBus()


@pytest.fixture
def converter(words: WordBus) -> Converter:
    return Converter(words)


@pytest.fixture
def ic(words: WordBus, converter: Converter) -> Fdc1004:
    return Fdc1004(I2cBus("1", words, InlineWorker("i2c-1")), 3)


def started(words: WordBus, ic: Fdc1004) -> Fdc1004:
    run_virtual(ic.start(REFERENCES))
    words.log.clear()
    return ic


def later(job: Awaitable[T], wait_ms: int = 200) -> T:
    """Runs it in a time in which the last measure is too old."""

    async def main() -> T:
        await sleep_ms(wait_ms)
        return await job

    return run_virtual(main())


def test_start_checks_the_ids_resets_configures_and_measures(words: WordBus, ic: Fdc1004) -> None:
    run_virtual(ic.start(REFERENCES))
    assert words.log[:3] == [
        ("read", 0xFE, 0x5449),
        ("read", 0xFF, 0x1004),
        ("write", 0x0C, 0x8000),
    ]
    assert words.writes[1:] == [
        (CONTROL, 0),
        (SETUPS, 0x1000),
        (SETUPS + 1, 0x3000),
        (SETUPS + 2, 0x5000),
        (CONTROL, RUNNING),
    ]
    assert words.addresses == {0x50}


def test_the_capdac_is_written_and_added_back(words: WordBus, converter: Converter) -> None:
    ic = Fdc1004(I2cBus("1", words, InlineWorker("i2c-1")), 3, capdac=2)
    references = run_virtual(ic.measure())
    assert references == [FULL_SCALE - code - 12800 for code in EMPTY]
    assert (SETUPS, 0x1040) in words.writes
    run_virtual(ic.start(references))
    assert [reading.delta for reading in run_virtual(ic.snapshot())] == [0, 0, 0]


def test_another_ic_at_the_address_is_refused(words: WordBus, ic: Fdc1004) -> None:
    words.registers[0xFF] = 0x3055
    with pytest.raises(SensorFault, match="0xFF reads 0x3055, not 0x1004; this is another IC"):
        run_virtual(ic.start(REFERENCES))
    assert words.writes == []


def test_an_ic_that_does_not_reset_is_a_fault(words: WordBus, ic: Fdc1004) -> None:
    words.on_write = lambda register, value: None
    with pytest.raises(SensorFault, match="FDC1004 on bus 1 did not reset"):
        run_virtual(ic.start(REFERENCES))
    with pytest.raises(SensorFault, match="is not running"):
        run_virtual(ic.read_touched())


@pytest.mark.parametrize("register", [SETUPS, SETUPS + 2])
def test_a_write_the_ic_ignores_is_noticed(words: WordBus, ic: Fdc1004, register: int) -> None:
    words.ignored.add(register)
    with pytest.raises(SensorFault, match=f"register 0x{register:02X} reads"):
        run_virtual(ic.start(REFERENCES))


@pytest.mark.parametrize("wrong", [FULL_SCALE, FULL_SCALE - 1000, FULL_SCALE - 40_000, 700])
def test_a_reference_that_cannot_be_measured_is_refused(
    words: WordBus, ic: Fdc1004, wrong: int
) -> None:
    with pytest.raises(SensorFault, match="of electrode 1 cannot be measured with 0 CAPDAC steps"):
        run_virtual(ic.start([REFERENCES[0], wrong, REFERENCES[2]]))
    assert words.log == []


def test_the_number_of_references_must_fit(ic: Fdc1004) -> None:
    with pytest.raises(SensorFault, match="has 3 electrodes, but 2 references were given"):
        run_virtual(ic.start(REFERENCES[:2]))


def test_a_chip_on_the_pad_adds_capacitance_and_makes_the_delta_grow(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)
    converter.codes[1] += 680
    readings = run_virtual(ic.snapshot())
    assert [reading.delta for reading in readings] == [0, 680, 0]
    assert [reading.touched for reading in readings] == [False, True, False]
    assert run_virtual(ic.read_touched()) == 0b010


def test_the_touch_has_hysteresis(words: WordBus, converter: Converter, ic: Fdc1004) -> None:
    started(words, ic)
    for delta, touched in ((120, 0), (121, 1), (60, 1), (59, 0), (120, 0)):
        converter.codes[0] = EMPTY[0] + delta
        assert run_virtual(ic.read_touched()) == touched


def test_thresholds_come_from_the_board(words: WordBus, converter: Converter) -> None:
    bus = I2cBus("1", words, InlineWorker("i2c-1"))
    ic = Fdc1004(bus, 3, thresholds=[(50, 20), (120, 60), (900, 800)])
    started(words, ic)
    converter.codes = [code + 100 for code in EMPTY]
    assert run_virtual(ic.read_touched()) == 0b001


def test_the_hot_path_reads_what_is_done_and_nothing_else(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)
    converter.done = 0b1010
    run_virtual(ic.read_touched())
    # The second electrode was not done; the others are read to their low halves, which end DONE.
    assert words.reads == [CONTROL, 0, 1, 4, 5]


@pytest.mark.parametrize("limit", [FULL, LEAST])
def test_a_measure_at_its_limit_once_is_asked_for_again(
    words: WordBus, converter: Converter, ic: Fdc1004, limit: int
) -> None:
    started(words, ic)
    reads = 0

    def only_first(register: int) -> None:
        nonlocal reads
        reads += register == 2
        converter.codes[1] = limit if reads < 2 else EMPTY[1]
        converter._measure(register)

    words.on_read = only_first
    readings = later(ic.snapshot())
    assert [reading.fault for reading in readings] == [None, None, None]
    assert reads == 2


@pytest.mark.parametrize("code", [FULL, LEAST, 200, EMPTY[1] // 4 - 1])
def test_an_electrode_that_stays_out_of_range_faults_alone_and_mends(
    words: WordBus, converter: Converter, ic: Fdc1004, code: int
) -> None:
    started(words, ic)
    converter.codes[1] = code
    readings = later(ic.snapshot())
    assert [reading.fault for reading in readings] == [None, OUT_OF_RANGE, None]
    with pytest.raises(SensorFault, match=OUT_OF_RANGE):
        _ = readings[1].delta
    assert run_virtual(ic.read_touched()) == 0
    converter.codes[1] = EMPTY[1]
    assert [reading.fault for reading in run_virtual(ic.snapshot())] == [None] * 3


def test_a_lasting_fault_does_not_slow_the_hot_path(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)
    converter.codes[1] = FULL
    later(ic.snapshot())
    words.log.clear()
    loop = VirtualLoop()
    try:
        loop.run_until_complete(ic.read_touched())
        assert loop.now_ns == 0
    finally:
        loop.close()
    assert words.reads.count(CONTROL) == 1


def test_an_electrode_that_is_out_of_range_at_the_start_is_never_empty(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    converter.codes[2] = FULL
    started(words, ic)
    assert [each.fault for each in run_virtual(ic.snapshot())] == [None, None, OUT_OF_RANGE]


def test_a_converter_that_stopped_is_a_fault_although_its_registers_still_read(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)
    run_virtual(ic.snapshot())
    converter.done = 0
    assert {each.fault for each in later(ic.snapshot())} == {STOPPED}
    with pytest.raises(SensorFault, match=STOPPED):
        later(ic.read_touched())


def test_one_measurement_that_stopped_faults_alone(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)
    converter.done = 0b1010
    assert [each.fault for each in later(ic.snapshot())] == [None, STOPPED, None]


def test_an_ic_that_reset_itself_is_a_fault_on_both_paths(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)
    words.registers[CONTROL] = 0
    assert {each.fault for each in run_virtual(ic.snapshot())} == {IC_RESET}
    with pytest.raises(SensorFault, match=IC_RESET):
        run_virtual(ic.read_touched())


def test_recover_starts_with_the_references_it_had(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)
    words.registers[CONTROL] = 0
    converter.codes[0] += 680
    run_virtual(ic.recover())
    readings = run_virtual(ic.snapshot())
    assert [each.reference for each in readings] == REFERENCES
    assert [each.delta for each in readings] == [680, 0, 0]


def test_recover_without_references_is_refused(ic: Fdc1004) -> None:
    with pytest.raises(SensorFault, match="no stored references"):
        run_virtual(ic.recover())


def test_a_measurement_in_which_something_came_is_followed_by_one_more(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)
    levels = iter([300, 680])

    def next_level(register: int) -> None:
        if register == 2:
            converter.codes[1] = EMPTY[1] + next(levels, 680)
        converter._measure(register)

    words.on_read = next_level
    assert run_virtual(ic.snapshot())[1].delta == 680
    words.log.clear()
    run_virtual(ic.snapshot())
    assert words.reads.count(CONTROL) == 1


def test_what_never_rests_is_not_waited_for(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)

    def rise(register: int) -> None:
        converter.codes[1] += 100 * (register == 2)
        converter._measure(register)

    words.on_read = rise
    assert run_virtual(ic.snapshot())[1].delta == 200


def test_what_a_broken_off_read_had_taken_is_kept(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    started(words, ic)

    def end_done_when_read(register: int) -> None:
        converter._measure(register)
        if register in (0, 2, 4):
            converter.done &= ~(0b1000 >> register // 2)

    converter.codes[0] += 680
    words.on_read = end_done_when_read
    # The control register and the first measure are read, then the transfer fails.
    words.failures.extend([None, None, OSError(121, "x")])
    assert run_virtual(ic.read_touched()) == 0b001


@pytest.mark.parametrize("method", ["read_touched", "snapshot", "measure"])
def test_a_silent_ic_is_a_fault(words: WordBus, ic: Fdc1004, method: str) -> None:
    started(words, ic)
    words.failures.extend([OSError(121, "x")] * 3)
    with pytest.raises(BusFault):
        run_virtual(getattr(ic, method)())


def test_measure_takes_the_median_and_leaves_the_ic_stopped(
    words: WordBus, converter: Converter, ic: Fdc1004
) -> None:
    assert run_virtual(ic.measure()) == REFERENCES
    assert words.registers[CONTROL] == 0


@pytest.mark.parametrize("code", [FULL, 200])
def test_an_electrode_out_of_range_cannot_be_calibrated(
    converter: Converter, ic: Fdc1004, code: int
) -> None:
    converter.codes[2] = code
    with pytest.raises(SensorFault, match="electrode 2 is out of range with 0 CAPDAC steps"):
        run_virtual(ic.measure())


def test_an_electrode_that_is_never_done_cannot_be_calibrated(
    converter: Converter, ic: Fdc1004
) -> None:
    converter.done = 0b1100
    with pytest.raises(SensorFault, match="electrode 2 is not measured"):
        run_virtual(ic.measure())


@pytest.mark.parametrize(
    ("count", "options"), [(0, {}), (5, {}), (2, {"capdac": 32}), (2, {"thresholds": [(9, 3)]})]
)
def test_impossible_ics_are_refused(words: WordBus, count: int, options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"FDC1004|CAPDAC"):
        Fdc1004(I2cBus("1", words, InlineWorker("i2c-1")), count, **options)  # type: ignore[arg-type]
