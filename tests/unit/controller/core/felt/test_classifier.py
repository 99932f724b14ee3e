"""Single safeguards of one spot, which averages over many tables would hide."""

from __future__ import annotations

import pytest

from controller.core.felt import tuning
from controller.core.felt.reasons import BELOW_EMPTY, CREPT, DISTURBED, UNDECIDED
from controller.core.felt.spot import ACCEPT, EMPTY, FAULT, REFUSE, UNSURE
from tests.kit.watched_spot import CHIP, FELT, HAND, READ_EVERY_MS, Watched, with_chip

RISEN = 0.23  # drift that takes the felt out of its empty range


def emptied(ic: str) -> Watched:
    watched = Watched(ic=ic)
    watched.pass_ms(1_000)
    assert watched.verdict() == EMPTY
    return watched


def test_an_empty_spot_under_interference_is_not_called_empty(ic: str) -> None:
    """Catches: the question to `flutters` removed. Every reading is in the empty range here, so
    the spot would stay empty, and a chip under such noise would be missed without a word.
    """
    watched = emptied(ic)
    for reading in range(300):
        watched.now_ms += READ_EVERY_MS
        watched.read(noise=3 if reading % 2 else -3)
    assert watched.spot.reason == DISTURBED
    assert watched.verdict() == REFUSE
    pace_ms = watched.spot.read_again_ms(watched.now_ms)
    assert pace_ms == tuning.DECIDING_EVERY_MS, "it is looked at often as long as that lasts"
    watched.pass_ms(500)
    assert watched.verdict() == EMPTY


def test_felt_does_not_follow_what_flutters_or_sinks(ic: str) -> None:
    """Catches: a fall or a noise taken for drift. The felt's own level would creep after it."""
    watched = emptied(ic)
    felt = watched.spot.classifier._felt
    before = felt.level
    watched.glitch(before - 1.5 * felt._sink)
    assert watched.spot.classifier.kind == UNDECIDED
    assert felt.level == before
    watched = emptied(ic)
    felt = watched.spot.classifier._felt
    for reading in range(100):
        before = felt.level
        watched.now_ms += READ_EVERY_MS
        watched.read(noise=3 if reading % 2 else -3)
        if watched.spot.reason == DISTURBED:
            break
    assert (watched.spot.reason, felt.level) == (DISTURBED, before)


def test_one_jump_within_the_empty_range_is_no_interference(ic: str) -> None:
    watched = emptied(ic)
    watched.glitch(FELT + 3 / 60)
    watched.pass_ms(50)
    assert watched.verdict() == EMPTY


def test_a_chip_that_has_lain_from_the_start_is_measured_from_zero(ic: str) -> None:
    """Catches: a first `_base` other than zero."""
    watched = Watched(ic=ic)
    fresh = watched.scale.new_spot()
    watched.spot, watched.level = fresh, CHIP
    watched.pass_ms(3_000)
    assert watched.verdict() == ACCEPT
    assert fresh.classifier.chip_level() == pytest.approx(CHIP, abs=0.02)
    assert fresh.classifier.rest_level(watched.now_ms) == pytest.approx(CHIP, abs=0.02)


def test_water_that_stays_a_little_below_empty_is_no_loose_pad(ic: str) -> None:
    """Catches: `_base` not zero after the fall. The depth would be counted from a wrong felt."""
    watched = emptied(ic)
    watched.put(-0.3)
    watched.pass_ms(10_000)
    assert watched.spot.reason == BELOW_EMPTY
    assert watched.spot.presence != FAULT
    assert watched.spot.classifier.loose_for_ms(watched.now_ms) == 0


def test_a_pad_far_below_empty_is_loose_as_long_as_it_stays_there(ic: str) -> None:
    watched = emptied(ic)
    watched.put(-1.0)
    watched.pass_ms(1_200)
    loose_ms = watched.spot.classifier.loose_for_ms(watched.now_ms)
    assert 1_000 <= loose_ms <= 1_200
    watched.pass_ms(2_000)
    assert watched.spot.presence == FAULT


def test_a_thing_on_drifted_felt_is_known_by_what_the_pad_reads(ic: str) -> None:
    """Catches: the felt's drift taken off `rest_level` twice. The table's zero rests on it."""
    watched = emptied(ic)
    watched.creep(RISEN, 120_000)
    assert watched.spot.reason == CREPT
    watched.put(RISEN + 1)
    watched.pass_ms(2_000)
    classifier = watched.spot.classifier
    assert classifier.rest_level(watched.now_ms) == pytest.approx(RISEN + 1, abs=0.03)
    assert classifier.chip_level() == pytest.approx(1.0, abs=0.03)


def test_a_small_thing_on_sunk_felt_does_not_turn_into_bare_felt(ic: str) -> None:
    """Catches: whatever lies there for ten seconds called empty, wherever it reads."""
    watched = emptied(ic)
    watched.creep(-0.2, 120_000)
    watched.put(0.2)
    watched.pass_ms(tuning.WIPED_MS + 2_000)
    assert watched.verdict() == REFUSE
    wiped = emptied(ic)
    wiped.creep(-0.2, 120_000)
    wiped.put(HAND)
    wiped.pass_ms(600)
    wiped.put(0.0)
    wiped.pass_ms(tuning.WIPED_MS // 2)
    assert wiped.verdict() == REFUSE, "somebody may still be wiping"


def test_what_the_felt_had_drifted_by_is_forgotten_when_it_is_empty_again(ic: str) -> None:
    watched = emptied(ic)
    watched.creep(RISEN, 120_000)
    watched.put(RISEN + 1)
    watched.pass_ms(500)
    watched.put(FELT)
    watched.pass_ms(500)
    assert watched.verdict() == EMPTY
    watched.put(CHIP)
    watched.pass_ms(1_000)
    assert watched.spot.classifier.chip_level() == pytest.approx(CHIP, abs=0.03)


def test_a_chip_that_grew_heavier_with_the_damp_is_no_second_chip_when_it_is_touched(
    ic: str,
) -> None:
    """Catches: `pile.rest` not told while the chip rests. What the felt gained in an hour would
    count as a chip that was laid on after the lock.
    """
    watched = with_chip(ic)
    watched.creep(CHIP + 0.28, 120_000)
    assert watched.verdict() == ACCEPT
    watched.put(HAND)
    watched.pass_ms(300)
    watched.put(CHIP + 0.42)
    watched.pass_ms(3_000)
    assert watched.spot.classifier.pile.count == 0


def test_a_stack_on_a_spot_that_was_empty_is_no_second_chip(ic: str) -> None:
    """Catches: the pile not forgotten. What is laid down next would be told as added to a chip
    that is long gone.
    """
    watched = with_chip(ic)
    for level in (HAND, FELT, HAND):
        watched.put(level)
        watched.pass_ms(500)
    watched.put(CHIP + 0.6)
    watched.pass_ms(3_000)
    assert watched.verdict() == ACCEPT
    assert watched.spot.classifier.pile.count == 0


def test_a_second_chip_that_falls_on_a_bet_counts_once(ic: str) -> None:
    watched = with_chip(ic)
    watched.pass_ms(1_000)
    watched.put(CHIP + 0.7)
    watched.pass_ms(3_000)
    assert watched.spot.classifier.pile.count == 1
    assert watched.spot.presence == UNSURE or watched.verdict() == ACCEPT
