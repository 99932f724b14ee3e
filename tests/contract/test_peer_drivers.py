"""The IC models under drivers that nobody here wrote: Adafruit's, unchanged, from PyPI.

They were written against the real ICs. What they expect of an IC, a model must do; so this is a
third reading of the data sheets, beside ours in `hal` and in `sim`. What a CircuitPython board
gives such a driver is in `sim.hardware.circuitpython`.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from sim.hardware.circuitpython import BoardI2C, Clock, published_drivers
from sim.hardware.ics.mpr121 import Mpr121
from sim.hardware.ics.pca9685 import LEVEL_MAX, Pca9685

EMPTY, COVERED = 700, 640
SAMPLES_S = 0.05  # A dozen samples at the rate these drivers choose.


@pytest.fixture(scope="module")
def peers() -> Iterator[dict[str, ModuleType]]:
    with published_drivers() as drivers:
        yield drivers


@pytest.fixture
def clock(peers: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in peers.values():
        monkeypatch.setattr(module, "time", clock)
    return clock


# -- MPR121 ----------------------------------------------------------------------------------


class Felt:
    """One sensing IC under a driver of theirs, and what lies on its electrodes."""

    def __init__(self, peers: dict[str, ModuleType], clock: Clock) -> None:
        self.ic = Mpr121(0x5A)
        self.clock = clock
        for electrode in range(12):
            self.ic.set_input(electrode, EMPTY, 0)
        self.i2c = BoardI2C(clock, self.ic)
        self.driver: Any = peers["adafruit_mpr121"].MPR121(self.i2c)
        clock.sleep(SAMPLES_S)

    def cover(self, electrode: int, covered: bool = True) -> None:
        counts = COVERED if covered else EMPTY
        self.ic.set_input(electrode, counts, self.clock.now_ns)
        self.clock.sleep(SAMPLES_S)


@pytest.fixture
def felt(peers: dict[str, ModuleType], clock: Clock) -> Felt:
    return Felt(peers, clock)


@pytest.mark.parametrize("electrode", range(12))
def test_a_touch_and_its_release_show_on_one_pin(felt: Felt, electrode: int) -> None:
    nothing = (False,) * 12
    assert felt.driver.touched_pins == nothing
    felt.cover(electrode)
    assert felt.driver.touched_pins == tuple(pin == electrode for pin in range(12))
    assert felt.driver[electrode].value
    assert felt.driver.is_touched(electrode)
    felt.cover(electrode, covered=False)
    assert felt.driver.touched_pins == nothing
    assert not felt.driver[electrode].value


def test_several_touches_are_told_together(felt: Felt) -> None:
    for electrode in (0, 7, 8, 11):
        felt.cover(electrode)
    assert felt.driver.touched() == 1 << 0 | 1 << 7 | 1 << 8 | 1 << 11


def test_raw_data_and_baseline_are_the_levels_of_the_pad(felt: Felt) -> None:
    assert felt.driver[3].raw_value == EMPTY
    assert felt.driver.baseline_data(3) == pytest.approx(EMPTY, abs=32)
    felt.cover(3)
    assert felt.driver.filtered_data(3) == COVERED
    assert felt.driver.filtered_data(4) == EMPTY


def test_thresholds_are_kept_and_obeyed(felt: Felt) -> None:
    assert (felt.driver[5].threshold, felt.driver[5].release_threshold) == (12, 6)
    felt.driver[5].threshold = 200
    felt.driver[5].release_threshold = 150
    assert (felt.driver[5].threshold, felt.driver[5].release_threshold) == (200, 150)
    felt.clock.sleep(SAMPLES_S)
    felt.cover(5)
    assert not felt.driver[5].value
    felt.cover(6)
    assert felt.driver[6].value


def test_a_threshold_written_past_the_drivers_back_while_it_runs_is_ignored(felt: Felt) -> None:
    assert felt.i2c.try_lock()
    felt.i2c.writeto(0x5A, bytes((0x41, 99)))
    felt.i2c.unlock()
    assert felt.driver[0].threshold == 12


def test_their_way_of_starting_takes_what_lies_there_for_empty(
    peers: dict[str, ModuleType], clock: Clock
) -> None:
    """Why ours starts from stored references: a chip on the felt at boot would be no bet."""
    ic = Mpr121(0x5A)
    ic.set_input(2, COVERED, 0)
    driver = peers["adafruit_mpr121"].MPR121(BoardI2C(clock, ic))
    clock.sleep(SAMPLES_S)
    assert not driver[2].value


def test_no_sensing_ic_is_no_driver(peers: dict[str, ModuleType], clock: Clock) -> None:
    with pytest.raises(ValueError, match="No I2C device at address: 0x5b"):
        peers["adafruit_mpr121"].MPR121(BoardI2C(clock, Mpr121(0x5A)), 0x5B)


# -- PCA9685 ---------------------------------------------------------------------------------


class Lamps:
    """One lamp IC under a driver of theirs, and what shines."""

    def __init__(self, peers: dict[str, ModuleType], clock: Clock) -> None:
        self.ic = Pca9685(0x40)
        self.clock = clock
        self.shown: dict[int, int] = {}
        self.ic.on_output = self._see
        self.driver: Any = peers["adafruit_pca9685"].PCA9685(BoardI2C(clock, self.ic))

    def _see(self, _at_ns: int, channel: int, level: int) -> None:
        self.shown[channel] = level


@pytest.fixture
def lamps(peers: dict[str, ModuleType], clock: Clock) -> Lamps:
    return Lamps(peers, clock)


def test_the_frequency_is_prescaled_asleep_and_reads_back(lamps: Lamps) -> None:
    assert lamps.driver.frequency == pytest.approx(200, rel=0.02)
    lamps.driver.frequency = 1526
    assert lamps.driver.prescale_reg == 3
    assert lamps.driver.frequency == pytest.approx(1526, rel=0.01)
    lamps.driver.prescale_reg = 77
    assert lamps.driver.prescale_reg == 3, "an awake IC must not take a prescaler"


@pytest.mark.parametrize("channel", [0, 7, 15])
@pytest.mark.parametrize("duty", [0x0000, 0x0010, 0x2660, 0x7FF0, 0xFFF0, 0xFFFF])
def test_a_duty_reads_back_and_shines(lamps: Lamps, channel: int, duty: int) -> None:
    lamps.driver.frequency = 1526
    lamps.driver.channels[channel].duty_cycle = 0x1230
    lamps.driver.channels[channel].duty_cycle = duty
    assert lamps.driver.channels[channel].duty_cycle == duty
    assert lamps.shown == {channel: LEVEL_MAX if duty == 0xFFFF else duty >> 4}


def test_each_channel_is_its_own(lamps: Lamps) -> None:
    lamps.driver.frequency = 1526
    for channel in range(16):
        lamps.driver.channels[channel].duty_cycle = (channel + 1) << 8
    found = [lamps.driver.channels[channel].duty_cycle for channel in range(16)]
    assert found == [(channel + 1) << 8 for channel in range(16)]
    assert lamps.shown == {channel: (channel + 1) << 4 for channel in range(16)}


def test_without_auto_increment_a_long_write_lands_in_one_register(lamps: Lamps) -> None:
    """Their driver switches it on with the frequency; before that a duty goes wrong, as it must."""
    lamps.driver.channels[0].duty_cycle = 0x7FF0
    assert lamps.driver.channels[0].duty_cycle != 0x7FF0


def test_their_start_lets_go_of_the_shared_address(lamps: Lamps) -> None:
    assert not lamps.ic.responds_to(0x70)
    assert Pca9685(0x41).responds_to(0x70)


def test_no_lamp_ic_is_no_driver(peers: dict[str, ModuleType], clock: Clock) -> None:
    with pytest.raises(ValueError, match="No I2C device at address: 0x55"):
        peers["adafruit_pca9685"].PCA9685(BoardI2C(clock, Pca9685(0x40)), address=0x55)
