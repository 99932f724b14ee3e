"""Glitches, drift and disturbance: no chip is forgotten, and no spot is called empty too soon."""

from __future__ import annotations

import pytest

from controller.core.felt.doubt import Doubt
from controller.core.felt.reasons import BELOW_EMPTY, CREPT, DISTURBED
from controller.core.felt.spot import ABSENT, ACCEPT, EMPTY, LEFT, PRESENT, REFUSE, UNSURE
from controller.core.felt.tuning import SPOT_DRY_MS, SUNK_DRY_MS
from tests.kit.watched_spot import CHIP, FELT, HAND, Watched, with_chip

RISEN = 0.23  # out of the empty range
SUNK = -0.23
FAR_BELOW = -1.5


@pytest.mark.parametrize(
    ("level", "doubt_ms"),
    [(FAR_BELOW, 450), (-0.33, 450), (FELT, 450), (HAND, 850)],  # what a hand left rests for longer
)
def test_one_wrong_reading_makes_no_spot_forget_its_chip(
    level: float, doubt_ms: int, ic: str
) -> None:
    """Catches: dropping the known chip at the first reading below empty, or at the first empty."""
    watched = with_chip(ic)
    watched.glitch(level)
    assert watched.verdict() == REFUSE, "in doubt, and therefore neither a bet nor no bet"
    watched.pass_ms(doubt_ms)
    assert watched.verdict() == ACCEPT


def test_one_wrong_reading_does_not_spoil_an_empty_spot(ic: str) -> None:
    watched = Watched(ic=ic)
    watched.pass_ms(1_000)
    watched.glitch(FAR_BELOW)
    assert watched.verdict() == REFUSE
    watched.pass_ms(200)
    assert watched.verdict() == EMPTY
    watched.put(CHIP)
    watched.pass_ms(400)
    assert watched.verdict() == ACCEPT


def test_what_stays_below_the_empty_felt_is_no_chip_any_more(ic: str) -> None:
    """Water that runs over a chip: what it leaves behind has to prove itself anew."""
    watched = with_chip(ic)
    watched.put(-0.5)
    watched.pass_ms(200)
    assert watched.spot.reason == BELOW_EMPTY
    watched.put(CHIP)
    watched.pass_ms(3_000)
    assert watched.verdict() == REFUSE


def test_a_spot_is_left_only_when_it_rests_as_empty_felt_does(ic: str) -> None:
    """Catches: calling a spot empty at the first reading in range (drop the rest in _see_empty)."""
    watched = with_chip(ic)
    for swing in (3, -6, 8, 1, -5, 7, -8, 4) * 5:
        watched.put(swing / 60)
        watched.pass_ms(10)
        assert watched.verdict() == REFUSE
    assert watched.seen() == (UNSURE, False)
    assert watched.spot.reason == DISTURBED
    watched.put(FELT)
    watched.pass_ms(150)
    assert watched.verdict() == LEFT
    watched.pass_ms(150)
    assert watched.verdict() == EMPTY


def test_a_chip_that_was_taken_is_dark_at_once_and_gone_in_150_ms(ic: str) -> None:
    watched = with_chip(ic)
    watched.put(FELT)
    assert watched.seen() == (ABSENT, False)
    watched.pass_ms(160)
    assert watched.seen() == (ABSENT, True)
    assert watched.verdict() == EMPTY


@pytest.mark.parametrize("felt", [RISEN, SUNK])
def test_a_chip_that_falls_on_drifted_felt_is_judged_by_itself(felt: float, ic: str) -> None:
    """Catches: judging the sum of drift and chip, or calling a drop on drifted felt a slow rise."""
    watched = Watched(ic=ic)
    watched.pass_ms(1_000)
    watched.creep(felt, 120_000)
    assert watched.spot.reason == CREPT
    assert watched.verdict() == REFUSE, "nothing lies there, but the spot cannot be sure"
    watched.put(felt + 1)
    watched.pass_ms(400)
    assert watched.seen() == (PRESENT, True)
    assert watched.verdict() == ACCEPT
    watched.put(felt)
    watched.pass_ms(500)
    assert watched.spot.reason == CREPT, "the felt is where it was before the chip"
    assert watched.spot.classifier.crept


def test_drifted_felt_that_is_wiped_is_empty_again(ic: str) -> None:
    for felt in (RISEN, SUNK):
        watched = Watched(ic=ic)
        watched.pass_ms(1_000)
        watched.creep(felt, 120_000)
        watched.put(felt + 3)
        watched.pass_ms(600)
        watched.put(FELT)
        watched.pass_ms(12_000)
        assert watched.verdict() == EMPTY
        watched.put(CHIP)
        watched.pass_ms(400)
        assert watched.verdict() == ACCEPT


def test_felt_that_sinks_slowly_is_drift_and_a_sudden_fall_is_not(ic: str) -> None:
    """Else a cold evening during one long round would leave every spot refused for good."""
    slow, sudden = Watched(ic=ic), Watched(ic=ic)
    for watched in (slow, sudden):
        watched.pass_ms(1_000)
    slow.creep(SUNK, 120_000)
    sudden.put(SUNK)
    sudden.pass_ms(1_000)
    assert slow.spot.classifier.crept
    assert not sudden.spot.classifier.crept
    assert sudden.spot.reason == BELOW_EMPTY


def test_a_sudden_fall_taints_the_spot_until_it_was_dry_for_longer() -> None:
    """Catches: the taint of a sudden fall dropped, or its longer time to dry."""
    doubt = Doubt()
    doubt.become_empty(is_sunk=True)
    assert doubt.tainted
    doubt.stay_empty(SUNK_DRY_MS - 1)
    assert doubt.tainted
    doubt.stay_empty(SUNK_DRY_MS)
    assert not doubt.tainted


def test_a_tainted_spot_stays_so_when_it_turns_empty_and_dries_in_its_time() -> None:
    doubt = Doubt()
    doubt.taint()
    doubt.become_empty(is_sunk=False)
    doubt.stay_empty(SPOT_DRY_MS - 1)
    assert doubt.tainted
    doubt.stay_empty(SPOT_DRY_MS)
    assert not doubt.tainted


def test_a_rise_is_told_once_for_each_thing_and_a_fall_each_time() -> None:
    told: list[tuple[str, int]] = []
    doubt = Doubt()
    doubt.tell_rise(1)
    doubt.tell_fall(1)
    doubt.report_to(lambda at: told.append(("rose", at)), lambda at: told.append(("fell", at)))
    doubt.tell_rise(2)
    doubt.tell_rise(3)
    doubt.begin()
    doubt.tell_rise(4)
    doubt.tell_fall(5)
    doubt.tell_fall(6)
    assert told == [("rose", 2), ("rose", 4), ("fell", 5), ("fell", 6)]


def test_what_a_wrong_zero_seemed_to_show_is_forgotten() -> None:
    doubt = Doubt()
    doubt.taint()
    doubt.liquid_is_near()
    doubt.start_over()
    assert (doubt.tainted, doubt.near_liquid) == (False, False)
    doubt.stand_as(tainted=True, near_liquid=True)
    assert (doubt.tainted, doubt.near_liquid) == (True, True)
    doubt.liquid_is_gone()
    assert (doubt.tainted, doubt.near_liquid) == (True, False)


# -- the doubt itself ----------------------------------------------------------------------------


def test_a_new_spot_is_dry_and_its_zero_holds_until_the_table_says_otherwise() -> None:
    doubt = Doubt()
    assert (doubt.tainted, doubt.near_liquid, doubt.zero_is_proven) == (False, False, True)
    doubt.trust_zero(False)
    assert doubt.zero_is_proven is False
    doubt.trust_zero(True)
    assert doubt.zero_is_proven is True


def test_liquid_beside_it_comes_and_goes() -> None:
    doubt = Doubt()
    doubt.liquid_is_near()
    assert (doubt.near_liquid, doubt.tainted) == (True, False)
    doubt.liquid_is_gone()
    assert doubt.near_liquid is False


def test_a_new_spots_taint_ends_as_any_others_does() -> None:
    doubt = Doubt()
    doubt.taint()
    doubt.stay_empty(SPOT_DRY_MS - 1)
    assert doubt.tainted
    doubt.stay_empty(SPOT_DRY_MS)
    assert not doubt.tainted
