"""What the spots of a table have in common: liquid that spreads, and drift that is followed."""

from __future__ import annotations

import pytest

from controller.core.felt import surface, tuning
from controller.core.felt.calibration import Calibration
from controller.core.felt.reasons import NEAR_LIQUID
from controller.core.felt.spot import ACCEPT, EMPTY, REFUSE, Spot
from controller.core.felt.surface import Surface
from controller.core.felt.zero_proof import HELD, SURE, WAITING

CHIP_COUNTS = 600
REFERENCE = 800
READ_EVERY_MS = 20
SEATS = range(1, 8)


class Table:
    """Seven spots that are read together, by seat; levels are in chips."""

    def __init__(self) -> None:
        self.surface = Surface()
        self.spots = {seat: Spot(f"{seat}A", Calibration(CHIP_COUNTS, 1.0)) for seat in SEATS}
        self.levels = dict.fromkeys(SEATS, 0.0)
        self.now_ms = 1_000_000
        self.may_learn = True
        for spot in self.spots.values():
            self.surface.add(spot)

    def pass_ms(self, duration_ms: int) -> None:
        for _ in range(duration_ms // READ_EVERY_MS):
            self.now_ms += READ_EVERY_MS
            for seat, spot in self.spots.items():
                raw = REFERENCE - round(self.levels[seat] * CHIP_COUNTS)
                is_touched = self.levels[seat] - spot.zero > 0.2
                spot.reading(raw, REFERENCE, is_touched, None, self.now_ms)
            self.surface.look(self.now_ms, self.may_learn)

    def rises(self, seat: int) -> None:
        """Something came to this spot that no hand put there."""
        doubt = self.spots[seat].classifier.doubt
        doubt.taint()
        doubt.begin()
        doubt.tell_rise(self.now_ms)

    def falls(self, seat: int) -> None:
        self.spots[seat].classifier.doubt.tell_fall(self.now_ms)

    def near_liquid(self) -> list[int]:
        return [s for s, spot in self.spots.items() if spot.classifier.doubt.near_liquid]


@pytest.fixture
def table() -> Table:
    """All empty and sure of it."""
    table = Table()
    table.pass_ms(600)
    assert table.surface._anchor.state == SURE
    return table


# -- liquid --------------------------------------------------------------------------------------


def test_one_spot_that_rises_alone_is_no_spill(table: Table) -> None:
    table.rises(3)
    assert not table.surface.is_wet
    assert table.near_liquid() == []


@pytest.mark.parametrize(
    ("seats", "near"),
    [
        ((3, 4), [2, 3, 4, 5]),
        ((3, 5), [2, 3, 4, 5, 6]),  # the one between may be hidden under a hand
        ((1, 4), []),
        ((1, 4, 7), [1, 2, 3, 4, 5, 6, 7]),  # three are a spill wherever they are
    ],
)
def test_neighbours_that_rise_together_are_a_spill(
    table: Table, seats: tuple[int, ...], near: list[int]
) -> None:
    for seat in seats:
        table.rises(seat)
    assert table.near_liquid() == near
    assert table.surface.is_wet == bool(near)


def test_a_spot_that_never_told_of_liquid_did_not_rise_when_the_clock_began() -> None:
    """Catches: no time taken for time 0, which is a few seconds ago whenever ticks begin anew."""
    table = Table()
    table.now_ms = 0
    table.pass_ms(600)
    table.spots[4].classifier.doubt.taint()
    table.rises(3)
    assert not table.surface.is_wet


def test_spots_that_rise_long_after_each_other_are_no_spill(table: Table) -> None:
    table.rises(3)
    table.now_ms += tuning.SPILL_MS
    table.rises(4)
    assert table.surface.is_wet
    late = Table()
    late.pass_ms(600)
    late.rises(3)
    late.now_ms += tuning.SPILL_MS + 1
    late.rises(4)
    assert not late.surface.is_wet


def test_a_spot_that_is_dry_again_is_no_part_of_a_spill(table: Table) -> None:
    table.rises(3)
    table.spots[3].classifier.doubt.tainted = False
    table.rises(4)
    assert not table.surface.is_wet


def test_once_the_felt_is_wet_one_more_spot_is_enough(table: Table) -> None:
    table.rises(1)
    table.rises(2)
    assert table.near_liquid() == [1, 2, 3]
    table.now_ms += tuning.SPILL_MS + 1
    table.rises(6)
    assert table.near_liquid() == [1, 2, 3, 5, 6, 7]


def test_against_a_zero_that_may_be_wrong_nothing_is_a_spill(table: Table) -> None:
    for state in (WAITING, HELD):
        table.surface._anchor.state = state
        table.rises(3)
        table.rises(4)
        assert not table.surface.is_wet


def test_a_chip_that_goes_without_a_hand_beside_a_wet_spot_lies_under_water(table: Table) -> None:
    table.falls(4)
    assert not table.surface.is_wet
    table.rises(7)
    table.falls(4)
    assert not table.surface.is_wet, "seat 7 is too far away"
    table.rises(2)
    table.spots[7].classifier.doubt.tainted = False
    table.falls(4)
    assert table.near_liquid() == [1, 2, 3, 4, 5]


def test_a_chip_beside_a_spill_is_refused_until_the_felt_was_dry_long_enough(table: Table) -> None:
    table.levels[5] = 1.0
    table.pass_ms(1_000)
    assert table.spots[5].verdict_at_lock(table.now_ms) == ACCEPT
    table.rises(3)
    table.rises(4)
    assert table.spots[5].classifier.reason == NEAR_LIQUID
    table.pass_ms(200)
    assert table.spots[5].verdict_at_lock(table.now_ms) == REFUSE
    table.pass_ms(tuning.SPILL_DRY_MS - 400)
    assert table.near_liquid() == [2, 3, 4, 5]
    table.pass_ms(400)
    assert table.near_liquid() == []
    assert not table.surface.is_wet


def test_a_chip_that_was_taken_for_one_long_before_the_spill_stays_one(table: Table) -> None:
    table.levels[5] = 1.0
    table.pass_ms(tuning.REVOKE_MS + 1_000)
    table.rises(3)
    table.rises(4)
    table.pass_ms(200)
    assert table.spots[5].verdict_at_lock(table.now_ms) == ACCEPT


def test_the_felt_is_dry_when_all_wet_spots_were_empty_at_the_same_time(table: Table) -> None:
    table.rises(3)
    table.rises(4)
    table.pass_ms(tuning.SPILL_DRY_MS - 1_000)
    table.levels[4] = 0.4
    table.pass_ms(400)
    table.levels[4] = 0.0
    table.pass_ms(tuning.SPILL_DRY_MS - 1_000)
    assert table.surface.is_wet
    table.pass_ms(2_000)
    assert not table.surface.is_wet
    assert table.near_liquid() == []


# -- drift ---------------------------------------------------------------------------------------


def drift(table: Table, level: float, seconds: int, *seats: int) -> None:
    for _ in range(seconds):
        for seat in seats or SEATS:
            table.levels[seat] = level
        table.pass_ms(1_000)


def test_a_drift_that_all_share_is_followed_at_its_own_pace(table: Table) -> None:
    table.pass_ms(tuning.EMPTY_BEFORE_LEARNING_MS)
    drift(table, 0.05, 20)
    followed = table.surface.zero_of(table.spots[1])
    assert 0.015 <= followed <= 1.3 * 20 * tuning.LEARN_CHIPS_PER_S
    drift(table, 0.05, 60)
    assert table.surface.zero_of(table.spots[1]) == pytest.approx(0.05, abs=0.005)
    assert table.spots[1].zero == table.surface.zero_of(table.spots[1])
    drift(table, -0.02, 120)
    assert table.surface.zero_of(table.spots[1]) == pytest.approx(-0.02, abs=0.01)


def test_nothing_is_followed_in_a_round_on_wet_felt_or_against_an_unproven_zero(
    table: Table,
) -> None:
    table.pass_ms(tuning.EMPTY_BEFORE_LEARNING_MS)
    table.may_learn = False
    drift(table, 0.05, 5)
    assert table.surface.zero_of(table.spots[1]) == 0.0
    table.may_learn = True
    table.rises(3)
    table.rises(4)
    drift(table, 0.05, 5)
    assert table.surface.zero_of(table.spots[1]) == 0.0


def test_the_time_of_a_round_is_not_made_up_for_afterwards(table: Table) -> None:
    """Catches: a leap of the zero at the first look after a round."""
    table.pass_ms(tuning.EMPTY_BEFORE_LEARNING_MS + tuning.LEARN_EVERY_MS)
    table.may_learn = False
    drift(table, 0.05, 20)
    table.may_learn = True
    table.pass_ms(READ_EVERY_MS)
    assert table.surface.zero_of(table.spots[1]) == 0.0
    table.pass_ms(2 * tuning.LEARN_EVERY_MS)
    assert 0.0 < table.surface.zero_of(table.spots[1]) < 0.05


def test_one_damp_spot_is_followed_more_slowly_and_only_upwards(table: Table) -> None:
    table.pass_ms(tuning.EMPTY_BEFORE_LEARNING_MS)
    drift(table, 0.05, 40, 2)
    damp = table.surface.damp_of(table.spots[2])
    assert 0.005 <= damp <= 1.3 * 40 * tuning.LEARN_CHIPS_PER_S * tuning.LOCAL_PART
    assert table.surface.damp_of(table.spots[1]) == 0.0
    drift(table, -0.03, 60, 2)
    assert table.surface.damp_of(table.spots[2]) == 0.0, "what water lowers is not followed"
    assert table.surface.zero_of(table.spots[1]) == pytest.approx(0.0, abs=0.002)


def test_two_empty_spots_share_nothing(table: Table) -> None:
    for seat in (1, 2, 3, 4, 5):
        table.levels[seat] = 1.0
    table.pass_ms(3_000)
    drift(table, 0.05, 10, 6, 7)
    assert table.surface._shared == 0.0
    assert table.surface.damp_of(table.spots[6]) > 0


def test_a_gap_in_the_readings_is_not_made_up_for(table: Table) -> None:
    table.pass_ms(tuning.EMPTY_BEFORE_LEARNING_MS + 1_000)
    for seat in SEATS:
        table.levels[seat] = 0.05
    table.now_ms += 60_000
    table.pass_ms(READ_EVERY_MS)
    step = tuning.LEARN_CHIPS_PER_S * tuning.LEARN_STEP_MAX_MS / 1000
    assert 0 < table.surface._shared <= step


# -- memory --------------------------------------------------------------------------------------


def test_what_is_remembered_is_bounded_and_goes_to_its_own_spot() -> None:
    table = Table()
    rows = [("1A", 0.1, None), ("2A", 9.0, 0.9), ("3A", -1.0, None), ("9A", 0.2, 1.0)]
    table.surface.remember(9.0, rows)
    assert table.surface._shared == tuning.SHARED_MAX_CHIPS
    assert [table.surface.damp_of(table.spots[seat]) for seat in (1, 2, 3, 4)] == [
        0.1,
        tuning.LOCAL_MAX_CHIPS,
        0.0,
        0.0,
    ]
    assert table.spots[2].zero == tuning.SHARED_MAX_CHIPS + tuning.LOCAL_MAX_CHIPS
    known = [table.spots[seat].classifier.thing.known_level() for seat in (1, 2, 3)]
    assert known == [None, 0.9, None]
    table.surface.remember(-9.0, [])
    assert table.surface._shared == tuning.SHARED_MIN_CHIPS


def test_there_is_a_memory_only_of_what_is_sure(table: Table) -> None:
    table.levels[5] = 1.0
    table.pass_ms(1_000)
    memory = table.surface.memory()
    assert memory is not None
    shared, rows = memory
    assert shared == pytest.approx(0.0, abs=0.001)
    assert [sensor for sensor, _, level in rows if level is not None] == ["5A"]
    assert table.spots[1].verdict_at_lock(table.now_ms) == EMPTY
    table.surface._anchor.state = HELD
    assert table.surface.memory() is None
    assert table.surface.is_held


def test_a_look_before_anything_was_read_moves_nothing() -> None:
    """Catches: a table that falls over at its first look, because nothing was learned yet."""
    surface = Surface()
    surface.look(0, True)
    surface.look(tuning.LEARN_EVERY_MS, True)
    assert surface.memory() == (0.0, [])


def test_a_spot_that_nobody_has_read_teaches_nothing() -> None:
    """Catches: a dead pad that holds the zero of all others where it was."""
    table = Table()
    assert not any(surface._is_learnable(each, table.now_ms) for each in table.spots.values())


def test_a_clock_that_went_back_teaches_nothing() -> None:
    """Catches: felt that is followed for time that has not passed."""
    empty = Surface()
    empty.look(10_000, True)
    assert empty._learning_step(9_000, True) == 0.0
    assert empty._learning_step(9_000 + tuning.LEARN_EVERY_MS, True) > 0.0
