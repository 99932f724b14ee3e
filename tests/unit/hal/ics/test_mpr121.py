"""The sensing IC's exact transfers, and that no failure of it ever reads as an empty felt."""

from __future__ import annotations

from typing import Any

import pytest

from hal.bus.i2c import I2cBus
from hal.errors import BusFault, SensorFault
from hal.ics.mpr121 import Mpr121
from sim.time.loop import VirtualLoop, run_virtual

REFERENCES = [600, 602, 599]
STATUS, STATUS_HIGH, OUT_OF_RANGE, DATA, BASELINES, AFE2, ECR = 0, 1, 2, 4, 0x1E, 0x5D, 0x5E
RUNNING = 0x43


@pytest.fixture
def ic(smbus: Any, bus: I2cBus) -> Mpr121:
    """Three electrodes on an IC that obeys a soft reset and then measures an empty felt."""

    def reset(register: int, value: int) -> None:
        if (register, value) == (0x80, 0x63):
            smbus.registers[:] = bytes(256)
            smbus.registers[0x5C:0x5E] = b"\x10\x24"
            set_raw(smbus, REFERENCES)

    smbus.on_write = reset
    return Mpr121(bus, 0x5A, 3)


def set_raw(smbus: Any, raws: list[int]) -> None:
    for electrode, raw in enumerate(raws):
        smbus.registers[DATA + 2 * electrode : DATA + 2 * electrode + 2] = raw.to_bytes(2, "little")


def started(smbus: Any, ic: Mpr121) -> Mpr121:
    run_virtual(ic.start(REFERENCES))
    smbus.log.clear()
    return ic


class Wire:
    """An interrupt line that goes high after some reads."""

    def __init__(self, reads_until_high: int) -> None:
        self.reads_left = reads_until_high

    @property
    def active(self) -> bool:
        self.reads_left -= 1
        return self.reads_left > 0


def test_start_resets_configures_in_stop_mode_and_runs_with_the_baseline_locked(
    smbus: Any, ic: Mpr121
) -> None:
    run_virtual(ic.start(REFERENCES))
    assert smbus.log == [
        ("write", 0x80, b"\x63"),
        ("read", AFE2, 1),
        ("write", ECR, b"\x00"),
        ("write", 0x41, bytes([12, 6] * 3)),
        ("read", 0x41, 6),
        ("write", 0x5B, b"\x11\x10\x20"),
        ("read", 0x5B, 3),
        ("write", BASELINES, bytes(reference >> 2 for reference in REFERENCES)),
        ("read", BASELINES, 3),
        ("write", ECR, bytes([RUNNING])),
        ("read", ECR, 1),
    ]
    assert smbus.addresses == {0x5A}


def test_start_does_not_return_before_the_first_measure(ic: Mpr121) -> None:
    loop = VirtualLoop()
    try:
        loop.run_until_complete(ic.start(REFERENCES))
        assert loop.now_ns >= 8_000_000
    finally:
        loop.close()


def test_thresholds_and_current_come_from_the_board(smbus: Any, ic: Mpr121, bus: I2cBus) -> None:
    tuned = Mpr121(bus, 0x5A, 2, thresholds=[(20, 9), (30, 10)], charge_current_microamps=32)
    run_virtual(tuned.start([600, 600]))
    assert (0x41, bytes([20, 9, 30, 10])) in smbus.writes
    assert (0x5B, b"\x11\x20\x20") in smbus.writes


def test_an_ic_that_does_not_reset_is_a_fault(smbus: Any, ic: Mpr121) -> None:
    smbus.on_write = lambda register, value: None
    smbus.registers[AFE2] = 0x20
    with pytest.raises(SensorFault, match=r"MPR121 0x5A on bus 1 did not reset: .* 0x20, not 0x24"):
        run_virtual(ic.start(REFERENCES))
    with pytest.raises(SensorFault, match="is not running"):
        run_virtual(ic.read_touched())


@pytest.mark.parametrize("register", [0x42, 0x5B, 0x5D, 0x20, ECR])
def test_a_write_the_ic_ignores_is_noticed(smbus: Any, ic: Mpr121, register: int) -> None:
    smbus.ignored.add(register)
    with pytest.raises(SensorFault, match=f"register 0x{register:02X} reads"):
        run_virtual(ic.start(REFERENCES))


def test_a_start_that_broke_off_is_repeated_from_stop_mode(smbus: Any, ic: Mpr121) -> None:
    # The last transfer of the configuration fails: the IC is running when the job is repeated.
    smbus.failures.extend([None] * 10 + [OSError(121, "x")])
    run_virtual(ic.start(REFERENCES))
    stops = [place for place, write in enumerate(smbus.writes) if write == (ECR, b"\x00")]
    assert len(stops) == 2
    assert smbus.writes[stops[1] - 1] == (ECR, bytes([RUNNING]))


@pytest.mark.parametrize("references", [[600, 600], [600, 600, 12], [600, 600, 1023], [0, 1, 2]])
def test_impossible_references_are_refused_before_the_ic_is_touched(
    smbus: Any, ic: Mpr121, references: list[int]
) -> None:
    with pytest.raises(SensorFault, match="reference"):
        run_virtual(ic.start(references))
    assert smbus.log == []


def test_the_hot_path_reads_two_bytes_and_nothing_else(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    smbus.registers[0:2] = b"\x05\x1f"
    assert run_virtual(ic.read_touched()) == 0b101
    assert smbus.log == [("read", STATUS, 2)]


def test_the_hot_path_reads_again_while_the_line_is_asserted(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    ic.interrupt = Wire(reads_until_high=2)  # type: ignore[assignment]
    run_virtual(ic.read_touched())
    assert len(smbus.reads) == 2


def test_a_line_that_stays_asserted_does_not_hold_the_hot_path(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    ic.interrupt = Wire(reads_until_high=1000)  # type: ignore[assignment]
    run_virtual(ic.read_touched())
    assert len(smbus.reads) == 3


def test_over_current_is_a_fault_and_not_an_empty_felt(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    smbus.registers[0:0x2B] = bytes(0x2B)
    smbus.registers[STATUS_HIGH] = 0x80
    smbus.registers[ECR] = 0x40
    with pytest.raises(SensorFault, match="over-current"):
        run_virtual(ic.read_touched())
    readings = run_virtual(ic.snapshot())
    assert [reading.fault for reading in readings] == ["over-current"] * 3


def test_a_failed_status_read_is_a_fault(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    smbus.failures.extend([OSError(121, "x")] * 3)
    with pytest.raises(BusFault):
        run_virtual(ic.read_touched())


@pytest.mark.parametrize("method", ["read_touched", "snapshot"])
def test_a_short_read_is_a_fault(smbus: Any, ic: Mpr121, method: str) -> None:
    started(smbus, ic)
    smbus.missing_bytes = 1
    with pytest.raises(BusFault, match="bytes"):
        run_virtual(getattr(ic, method)())


def test_a_snapshot_is_one_conversation_of_43_and_2_bytes(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    set_raw(smbus, [600, 540, 599])
    smbus.registers[STATUS] = 0b010
    readings = run_virtual(ic.snapshot())
    assert smbus.log == [("read", 0, 43), ("read", AFE2, 2)]
    assert [reading.raw for reading in readings] == [600, 540, 599]
    assert [reading.reference for reading in readings] == REFERENCES
    assert [reading.delta for reading in readings] == [0, 62, 0]
    assert [reading.touched for reading in readings] == [False, True, False]
    assert [reading.fault for reading in readings] == [None] * 3


@pytest.mark.parametrize(("register", "value"), [(ECR, 0x00), (AFE2, 0x24), (ECR, 0x83)])
def test_an_ic_that_reset_itself_faults_every_electrode(
    smbus: Any, ic: Mpr121, register: int, value: int
) -> None:
    started(smbus, ic)
    smbus.registers[register] = value
    readings = run_virtual(ic.snapshot())
    assert [reading.fault for reading in readings] == ["IC reset itself"] * 3


def test_an_electrode_out_of_range_faults_alone(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    smbus.registers[OUT_OF_RANGE] = 0b100
    readings = run_virtual(ic.snapshot())
    assert [reading.fault for reading in readings] == [None, None, "out of range"]
    with pytest.raises(SensorFault, match="out of range"):
        _ = readings[2].delta


@pytest.mark.parametrize("raw", [0, 1023])
def test_zero_and_full_scale_are_not_measures(smbus: Any, ic: Mpr121, raw: int) -> None:
    started(smbus, ic)
    set_raw(smbus, [600, raw, 599])
    readings = run_virtual(ic.snapshot())
    assert [reading.fault for reading in readings] == [None, "out of range", None]


def test_a_baseline_that_moved_is_the_whole_ics_fault(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    smbus.registers[BASELINES] -= 5
    readings = run_virtual(ic.snapshot())
    assert [reading.fault for reading in readings] == ["IC lost its reference"] * 3


def test_recovery_clears_over_current_and_keeps_the_stored_references(
    smbus: Any, ic: Mpr121
) -> None:
    started(smbus, ic)
    smbus.registers[STATUS_HIGH] = 0x80
    set_raw(smbus, [500, 500, 500])
    run_virtual(ic.recover())
    assert smbus.log[:2] == [("read", STATUS_HIGH, 1), ("write", STATUS_HIGH, b"\x80")]
    assert (BASELINES, bytes(reference >> 2 for reference in REFERENCES)) in smbus.writes
    assert smbus.writes[-1] == (ECR, bytes([RUNNING]))


def test_a_failed_recovery_leaves_the_ic_not_running(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    smbus.failures.extend([None, *[OSError(121, "x")] * 3])
    with pytest.raises(BusFault):
        run_virtual(ic.recover())
    with pytest.raises(SensorFault, match="is not running"):
        run_virtual(ic.snapshot())


def test_there_is_no_recovery_without_references(smbus: Any, ic: Mpr121) -> None:
    with pytest.raises(SensorFault, match="no stored references"):
        run_virtual(ic.recover())
    assert smbus.log == []


def test_measure_runs_without_references_takes_medians_and_stops(smbus: Any, ic: Mpr121) -> None:
    assert run_virtual(ic.measure()) == REFERENCES
    assert BASELINES not in [register for register, _ in smbus.writes]
    assert smbus.writes[-1] == (ECR, b"\x00")


def test_measure_on_a_running_ic_leaves_it_running(smbus: Any, ic: Mpr121) -> None:
    started(smbus, ic)
    assert run_virtual(ic.measure()) == REFERENCES
    assert smbus.writes == []
    assert smbus.registers[ECR] == RUNNING


@pytest.mark.parametrize(
    ("register", "value", "sentence"),
    [
        (STATUS_HIGH, 0x80, "over-current"),
        (OUT_OF_RANGE, 0x02, "electrode 1 is out of range"),
        (ECR, 0x00, "register 0x5E reads 0x00"),
    ],
)
def test_measure_never_gives_a_value_for_a_fault(
    smbus: Any, ic: Mpr121, register: int, value: int, sentence: str
) -> None:
    started(smbus, ic)
    smbus.registers[register] = value
    with pytest.raises(SensorFault, match=sentence):
        run_virtual(ic.measure())


def test_impossible_set_ups_are_refused(bus: I2cBus) -> None:
    with pytest.raises(ValueError, match="1 to 12"):
        Mpr121(bus, 0x5A, 13)
    with pytest.raises(ValueError, match="one pair"):
        Mpr121(bus, 0x5A, 2, thresholds=[(12, 6)])
