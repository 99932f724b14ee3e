"""Presence of a chip: fast, confirmed, rested, unsure, or a fault; never guessed."""

from __future__ import annotations

import pytest

from controller.core.felt import spot as sensing
from controller.core.felt import tuning
from controller.core.felt.arrival import SEEN
from controller.core.felt.spot import (
    ABSENT,
    ACCEPT,
    EMPTY,
    FAULT,
    LEFT,
    PRESENT,
    REFUSE,
    UNSURE,
    Calibration,
    Spot,
)
from hal.aio import ticks_add
from hal.ics.kinds import MPR121
from tests.kit.watched_spot import (
    CHIP,
    EDGE,
    FELT,
    HAND,
    READ_EVERY_MS,
    SCALES,
    Watched,
    with_chip,
)

REFERENCE = SCALES[MPR121].reference
CHIP_RAW, FELT_RAW = SCALES[MPR121].raw(CHIP), SCALES[MPR121].raw(FELT)


def test_a_spot_that_was_never_read_is_a_fault_and_no_empty_spot():
    spot = Spot("3A")
    assert (spot.presence, spot.reason) == (FAULT, "not read yet")
    assert not spot.confirmed
    assert spot.verdict_at_lock(10_000) == REFUSE


def test_the_touch_bit_moves_the_presence_at_once():
    spot = Watched().spot
    assert spot.touched(True, 1_000)
    assert spot.presence == PRESENT
    assert not spot.confirmed
    assert not spot.touched(True, 1_001), "nothing new"
    assert spot.touched(False, 1_002)
    assert spot.presence == ABSENT


def test_the_touch_bit_alone_never_makes_a_bet():
    """Catches: accepting without the raw measure (drop `confirmed` in verdict_at_lock)."""
    spot = Watched().spot
    spot.touched(True, 1_000)
    assert spot.stable(1_400)
    assert spot.verdict_at_lock(1_400) == REFUSE


def test_the_touch_bit_alone_never_makes_a_spot_empty():
    watched = with_chip()
    watched.spot.touched(False, watched.now_ms)
    assert watched.seen() == (ABSENT, False)
    assert watched.verdict() == REFUSE


def test_a_chip_is_accepted_when_it_has_rested():
    watched = Watched()
    watched.pass_ms(1_000)
    watched.put(CHIP)
    assert watched.seen() == (PRESENT, False)
    watched.pass_ms(140)
    assert watched.verdict() == REFUSE
    watched.pass_ms(40)
    assert watched.seen() == (PRESENT, True)
    assert watched.verdict() == ACCEPT


def test_one_or_two_readings_make_no_bet_however_far_apart():
    """Catches: single-sample acceptance (READINGS_MIN of the trace)."""
    spot = Watched().spot
    spot.touched(True, 1_000)
    for now_ms in (1_002, 1_400, 1_800):
        spot.reading(CHIP_RAW, REFERENCE, True, None, now_ms)
        assert spot.verdict_at_lock(now_ms) == REFUSE


def test_a_rested_empty_spot_is_empty():
    watched = Watched(1_000)
    assert watched.verdict() == REFUSE, "one reading proves nothing"
    watched.pass_ms(120)
    assert watched.verdict() == LEFT
    watched.pass_ms(30)
    assert watched.verdict() == EMPTY


def test_a_chip_taken_just_before_the_lock_is_in_transition():
    watched = with_chip()
    watched.spot.touched(False, watched.now_ms)
    assert watched.verdict() == REFUSE, "not confirmed yet"
    watched.put(FELT)
    assert watched.verdict() == REFUSE, "one reading proves nothing"
    watched.pass_ms(120)
    assert watched.verdict() == LEFT
    watched.pass_ms(30)
    assert watched.verdict() == EMPTY


def test_confirmation_tells_that_it_changed_something():
    watched = Watched()
    watched.pass_ms(1_000)
    watched.put(CHIP)
    changes = []
    for _ in range(50):
        watched.now_ms += READ_EVERY_MS
        changes.append(watched.read())
    assert changes.count(True) == 1


def test_a_bouncing_chip_starts_its_rest_anew():
    watched = with_chip()
    for _ in range(3):
        watched.put(FELT)
        watched.pass_ms(20)
        watched.put(CHIP)
        watched.pass_ms(60)
        assert watched.verdict() == REFUSE
    watched.pass_ms(400)
    assert watched.verdict() == ACCEPT


@pytest.mark.parametrize("level", [EDGE, HAND])
def test_what_is_no_chip_is_unsure_and_refused_and_never_empty(level):
    watched = Watched()
    watched.pass_ms(1_000)
    watched.put(level)
    for _ in range(40):
        watched.pass_ms(100)
        assert watched.verdict() == REFUSE
    assert watched.seen() == (UNSURE, False)
    assert watched.spot.reason


def test_an_unsure_spot_does_not_flicker_with_its_touch_bit():
    watched = Watched()
    watched.pass_ms(1_000)
    watched.put(EDGE)
    watched.pass_ms(1_000)
    for is_touched in (False, True, False, True):
        assert not watched.spot.touched(is_touched, watched.now_ms)
        assert watched.spot.presence == UNSURE


def test_a_touch_bit_that_contradicts_the_measure_does_not_matter():
    """The raw data decide; a bit that is stuck only costs the fast wake-up."""
    for raw, verdict in ((FELT_RAW, EMPTY), (CHIP_RAW, ACCEPT)):
        spot = Spot("3A")
        for now_ms in range(0, 1_000, READ_EVERY_MS):
            spot.reading(raw, REFERENCE, raw == FELT_RAW, None, now_ms)
        assert spot.verdict_at_lock(1_000) == verdict


def test_a_fault_ends_only_with_a_reading():
    watched = with_chip()
    now_ms = watched.now_ms
    assert watched.spot.fault("the bus is stuck", now_ms)
    assert not watched.spot.fault("the bus is stuck", now_ms)
    assert not watched.spot.touched(False, now_ms)
    assert (watched.spot.presence, watched.spot.reason) == (FAULT, "the bus is stuck")
    watched.pass_ms(10)
    assert watched.spot.presence == PRESENT
    assert watched.verdict() == REFUSE, "it has not rested since the fault"
    watched.pass_ms(400)
    assert watched.verdict() == ACCEPT, "the chip that lay there is not lost"


def test_a_faulty_reading_is_a_fault_whatever_its_numbers():
    watched = with_chip()
    watched.spot.reading(CHIP_RAW, REFERENCE, True, "out of range", watched.now_ms)
    assert (watched.spot.presence, watched.spot.reason) == (FAULT, "out of range")
    assert watched.verdict() == REFUSE


@pytest.mark.parametrize("raw", [0, -1, 1023])
def test_a_reading_at_the_end_of_the_scale_is_a_fault(raw):
    """A stopped chip reads 0, which would look like the largest chip ever."""
    spot = Watched().spot
    spot.reading(raw, REFERENCE, True, None, 1_000)
    assert spot.presence == FAULT


def test_the_end_of_the_scale_is_the_sensing_ics_own():
    spot = Spot("3A", Calibration(chip_delta=300_000, noise=2_000, raw_max=1 << 24))
    for now_ms in range(0, 1_000, READ_EVERY_MS):
        spot.reading(6_700_000, 7_000_000, False, None, now_ms)
    assert spot.verdict_at_lock(1_000) == ACCEPT


def test_a_pad_that_reads_far_below_empty_is_a_fault_when_it_stays_so():
    watched = Watched()
    watched.pass_ms(1_000)
    watched.put(-0.75)
    assert watched.seen() == (UNSURE, False)
    watched.pass_ms(tuning.LOOSE_PAD_MS + 100)
    assert (watched.spot.presence, watched.spot.reason) == (FAULT, sensing.LOOSE_PAD)
    watched.put(FELT)
    watched.pass_ms(150)
    assert watched.seen() == (ABSENT, True)


def test_an_old_reading_makes_no_bet_and_no_empty_spot():
    watched = with_chip()
    watched.now_ms += tuning.READING_AGE_MAX_MS
    assert watched.verdict() == ACCEPT
    watched.now_ms += 1
    assert watched.verdict() == REFUSE


def test_a_chip_that_lies_longer_than_the_ticks_reach_stays_rested():
    """Catches: comparing with the time of the change for ever (drop the latch in _rest)."""
    watched = with_chip()
    for _hour in range(24 * 9):
        watched.now_ms = ticks_add(watched.now_ms, 3_600_000)
        watched.read()
        assert watched.verdict() == ACCEPT


def test_a_spot_that_is_empty_longer_than_the_ticks_reach_stays_long_empty():
    watched = Watched()
    watched.pass_ms(1_000)
    for _hour in range(24 * 9):
        watched.now_ms = ticks_add(watched.now_ms, 3_600_000)
        watched.read()
        assert watched.spot.classifier.empty_for_ms(watched.now_ms) >= tuning.EMPTY_LONG_MS


def test_a_rest_across_the_wrap_of_the_ticks():
    watched = Watched((1 << 30) - 1_200)
    watched.pass_ms(1_000)
    watched.put(CHIP)
    watched.pass_ms(140)
    assert watched.verdict() == REFUSE
    watched.pass_ms(100)
    assert watched.now_ms < 1_000, "the ticks have wrapped"
    assert watched.verdict() == ACCEPT


def test_a_calibration_without_a_chip_or_scale_is_refused():
    for figures in ((0, 1.0, 1023), (60, -1.0, 1023), (60, 1.0, 0)):
        with pytest.raises(ValueError, match="calibration"):
            Calibration(*figures)


def test_a_touch_bit_that_a_late_reading_finds_is_no_news():
    """Catches: a hand that came slowly between two polls, taken for something that fell."""
    watched = Watched()
    watched.pass_ms(1_000)
    watched.now_ms += tuning.QUIET_EVERY_MS
    watched.level = tuning.JUMPED_MIN_CHIPS - 0.05
    watched.read()
    assert watched._is_touched
    assert watched.spot.classifier._evidence.arrival.origin == SEEN


def test_the_reference_moves_with_the_felt():
    """Catches: an IC started anew on a wrong reference, whose touch bit speaks too late."""
    spot = Spot("3A", Calibration(60, 1.0, 1023))
    assert spot.reference_now(700) == 700
    spot.move_zero(0.5)
    assert spot.reference_now(700) == 670


def test_the_pace_follows_what_is_at_stake():
    watched = Watched()
    watched.pass_ms(1_000)
    assert watched.spot.read_again_ms(watched.now_ms) == tuning.QUIET_EVERY_MS
    watched.put(CHIP)
    assert watched.spot.read_again_ms(watched.now_ms) == tuning.DECIDING_EVERY_MS
    watched.pass_ms(500)
    assert watched.spot.read_again_ms(watched.now_ms) == tuning.WATCHING_EVERY_MS
    watched.put(FELT)
    assert watched.spot.read_again_ms(watched.now_ms) == tuning.DECIDING_EVERY_MS
    watched.pass_ms(120)
    assert watched.spot.read_again_ms(watched.now_ms) == tuning.SETTLING_EVERY_MS
    watched.put(EDGE)
    watched.pass_ms(5_000)
    assert watched.spot.presence == UNSURE
    assert watched.spot.read_again_ms(watched.now_ms) == tuning.CALM_EVERY_MS


@pytest.mark.parametrize(
    ("later_ms", "is_prompt"),
    [(0, True), (tuning.PROMPT_MS, True), (tuning.PROMPT_MS + 1, False), (-1, False)],
)
def test_a_reading_is_prompt_from_the_very_edge_on_and_not_for_long(
    later_ms: int, is_prompt: bool
) -> None:
    """Catches: a reading in the same millisecond as its touch taken for a late one."""
    spot = Spot("3A")
    spot.touched(True, 1_000)
    assert spot._is_prompt(1_000 + later_ms) is is_prompt
    assert spot._edge_is_news is is_prompt, "once it was late, it is no news any more"
    spot.touched(False, 1_002)
    assert not spot._is_prompt(1_002)


@pytest.mark.parametrize(
    ("told_at_once", "later_ms", "is_prompt"),
    [
        (True, 1, True),
        (True, tuning.PROMPT_MS + 1, False),  # told at once, and read long after
        (False, 1, False),  # found at a look: nobody knows since when
    ],
)
def test_only_news_that_is_read_at_once_tells_how_a_thing_came(
    monkeypatch: pytest.MonkeyPatch, told_at_once: bool, later_ms: int, is_prompt: bool
) -> None:
    """Catches: a chip that was laid slowly, and found late, taken for one that dropped."""
    watched = Watched()
    watched.pass_ms(1_000)
    spot, now_ms, taken = watched.spot, watched.now_ms + 10 * tuning.PROMPT_MS, list[bool]()
    judge = spot.classifier.take

    def take(level: float, at_ms: int, prompt: bool) -> int:
        taken.append(prompt)
        return judge(level, at_ms, prompt)

    monkeypatch.setattr(type(spot.classifier), "take", lambda _, *told: take(*told))
    spot.touched(True, now_ms, told_at_once)
    spot.reading(CHIP_RAW, REFERENCE, True, None, now_ms + later_ms)
    assert taken == [is_prompt]
