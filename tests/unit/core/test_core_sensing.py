"""Presence of a chip: fast, confirmed, rested, or a fault; never guessed."""

from __future__ import annotations

import pytest

from controller.core import sensing
from controller.core.sensing import ABSENT, ACCEPT, EMPTY, FAULT, LEFT, PRESENT, REFUSE, Spot
from hal.aio import ticks_add

REFERENCE = 700
EMPTY_RAW = 699
CHIP_RAW = 670


def empty_spot(now_ms: int = 0) -> Spot:
    spot = Spot("3A")
    spot.reading(EMPTY_RAW, REFERENCE, False, None, now_ms)
    return spot


def spot_with_chip(now_ms: int = 0) -> Spot:
    spot = empty_spot(now_ms)
    spot.touched(True, now_ms)
    spot.reading(CHIP_RAW, REFERENCE, True, None, now_ms)
    return spot


def test_a_spot_that_was_never_read_is_a_fault_and_no_empty_spot():
    spot = Spot("3A")
    assert (spot.presence, spot.reason) == (FAULT, "not read yet")
    assert spot.verdict_at_lock(10_000) == REFUSE


def test_the_touch_bit_moves_the_presence_at_once():
    spot = empty_spot()
    assert spot.touched(True, 1_000)
    assert spot.presence == PRESENT
    assert not spot.confirmed
    assert not spot.touched(True, 1_001), "nothing new"
    assert spot.touched(False, 1_002)
    assert spot.presence == ABSENT


def test_the_touch_bit_alone_never_makes_a_bet():
    """Catches: accepting without the raw measure (drop `confirmed` in verdict_at_lock)."""
    spot = empty_spot()
    spot.touched(True, 1_000)
    assert spot.stable(1_500)
    assert spot.verdict_at_lock(1_500) == REFUSE


def test_a_confirmed_and_rested_chip_is_accepted():
    spot = spot_with_chip(1_000)
    assert spot.verdict_at_lock(1_149) == REFUSE
    assert spot.verdict_at_lock(1_150) == ACCEPT


def test_a_confirmed_and_rested_empty_spot_is_empty():
    assert empty_spot(1_000).verdict_at_lock(1_150) == EMPTY


def test_a_chip_taken_just_before_the_lock_is_in_transition():
    spot = spot_with_chip(0)
    spot.touched(False, 1_000)
    assert spot.verdict_at_lock(1_001) == REFUSE, "not confirmed yet"
    spot.reading(EMPTY_RAW, REFERENCE, False, None, 1_002)
    assert spot.verdict_at_lock(1_149) == LEFT
    assert spot.verdict_at_lock(1_150) == EMPTY


def test_confirmation_tells_that_it_changed_something():
    spot = empty_spot()
    spot.touched(True, 1_000)
    assert spot.reading(CHIP_RAW, REFERENCE, True, None, 1_001)
    assert not spot.reading(CHIP_RAW, REFERENCE, True, None, 1_020)


def test_a_bouncing_chip_starts_its_rest_anew():
    spot = spot_with_chip(0)
    for now_ms in (1_000, 1_060, 1_120):
        spot.touched(False, now_ms)
        spot.touched(True, now_ms + 5)
    spot.reading(CHIP_RAW, REFERENCE, True, None, 1_130)
    assert spot.verdict_at_lock(1_274) == REFUSE
    assert spot.verdict_at_lock(1_275) == ACCEPT


def test_between_the_thresholds_what_was_confirmed_stays():
    chip, empty = spot_with_chip(), empty_spot()
    chip.reading(REFERENCE - 10, REFERENCE, True, None, 1_000)
    empty.reading(REFERENCE - 10, REFERENCE, False, None, 1_000)
    assert (chip.presence, chip.confirmed) == (PRESENT, True)
    assert (empty.presence, empty.confirmed) == (ABSENT, True)


def test_between_the_thresholds_a_new_touch_is_not_confirmed_and_becomes_a_fault():
    spot = empty_spot()
    spot.touched(True, 1_000)
    spot.reading(REFERENCE - 10, REFERENCE, True, None, 1_001)
    assert spot.verdict_at_lock(1_160) == REFUSE
    spot.reading(REFERENCE - 10, REFERENCE, True, None, 1_201)
    assert spot.presence == FAULT


@pytest.mark.parametrize(("raw", "is_touched"), [(EMPTY_RAW, True), (CHIP_RAW, False)])
def test_touch_and_measure_that_disagree_too_long_are_a_fault(raw, is_touched):
    spot = empty_spot()
    spot.reading(raw, REFERENCE, is_touched, None, 1_000)
    assert spot.presence == (PRESENT if is_touched else ABSENT)
    assert spot.verdict_at_lock(1_000) == REFUSE
    spot.reading(raw, REFERENCE, is_touched, None, 1_199)
    assert spot.presence != FAULT
    spot.reading(raw, REFERENCE, is_touched, None, 1_200)
    assert (spot.presence, spot.reason) == (FAULT, "touch and measurement disagree")


def test_a_short_disagreement_is_forgiven():
    spot = empty_spot()
    spot.touched(True, 1_000)
    spot.reading(EMPTY_RAW, REFERENCE, True, None, 1_001)
    spot.reading(CHIP_RAW, REFERENCE, True, None, 1_100)
    spot.reading(EMPTY_RAW, REFERENCE, True, None, 1_250)
    spot.reading(CHIP_RAW, REFERENCE, True, None, 1_300)
    assert spot.verdict_at_lock(1_300) == ACCEPT


def test_a_fault_ends_only_with_a_reading_that_agrees():
    spot = spot_with_chip()
    assert spot.fault("the bus is stuck", 1_000)
    assert not spot.fault("the bus is stuck", 1_001)
    assert not spot.touched(False, 1_002)
    assert (spot.presence, spot.reason) == (FAULT, "the bus is stuck")
    spot.reading(EMPTY_RAW, REFERENCE, True, None, 1_003)
    assert spot.presence == FAULT
    spot.reading(CHIP_RAW, REFERENCE, True, None, 1_004)
    assert (spot.presence, spot.reason) == (PRESENT, "")
    assert spot.verdict_at_lock(1_100) == REFUSE, "it has not rested since the fault"


def test_a_faulty_reading_is_a_fault_whatever_its_numbers():
    spot = spot_with_chip()
    spot.reading(CHIP_RAW, REFERENCE, True, "out of range", 1_000)
    assert (spot.presence, spot.reason) == (FAULT, "out of range")
    assert spot.verdict_at_lock(5_000) == REFUSE


@pytest.mark.parametrize("raw", [0, -1, 1023])
def test_a_reading_at_the_end_of_the_scale_is_a_fault(raw):
    """A stopped chip reads 0, which would look like the largest chip ever."""
    spot = empty_spot()
    spot.reading(raw, REFERENCE, True, None, 1_000)
    assert spot.presence == FAULT


def test_an_old_reading_makes_no_bet_and_no_empty_spot():
    spot = spot_with_chip(0)
    assert spot.verdict_at_lock(sensing.READING_AGE_MAX_MS) == ACCEPT
    assert spot.verdict_at_lock(sensing.READING_AGE_MAX_MS + 1) == REFUSE


def test_a_chip_that_lies_longer_than_the_ticks_reach_stays_rested():
    """Catches: comparing with the time of the change for ever (drop the latch in _rest)."""
    spot = spot_with_chip(0)
    now_ms = 0
    for _hour in range(24 * 9):
        now_ms = ticks_add(now_ms, 3_600_000)
        spot.reading(CHIP_RAW, REFERENCE, True, None, now_ms)
    assert spot.verdict_at_lock(now_ms) == ACCEPT


def test_a_rest_across_the_wrap_of_the_ticks():
    spot = spot_with_chip((1 << 30) - 100)
    assert spot.verdict_at_lock(49) == REFUSE
    assert spot.verdict_at_lock(50) == ACCEPT


def test_another_classifier_can_take_the_place():
    class SeesLiquid:
        def classify(self, raw: int, reference: int, now_ms: int) -> int:
            return sensing.FOREIGN

    spot = Spot("3A", SeesLiquid())
    spot.reading(CHIP_RAW, REFERENCE, True, None, 0)
    assert spot.presence == FAULT
    assert "other than a chip" in spot.reason


def test_thresholds_without_a_gap_are_refused():
    with pytest.raises(ValueError, match="flicker"):
        sensing.DeltaClassifier(8, 8)
