"""What lies on a spot, from what the evidence says of it: which answer wins, and what is kept."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from controller.core.felt import tuning
from controller.core.felt.arrival import STEPPED, UNSEEN
from controller.core.felt.doubt import Doubt
from controller.core.felt.reasons import (
    CHIP,
    FOREIGN,
    NEAR_LIQUID,
    RESTLESS,
    TOO_LARGE,
    TOO_LITTLE,
    UNDECIDED,
    UNKNOWN,
)
from controller.core.felt.thing import Thing


class Said:
    """Stands for the evidence and its trace: says what a test tells it to."""

    def __init__(self) -> None:
        self.trace = self
        self.arrival = SimpleNamespace(origin=STEPPED)
        self.is_due = True
        self.rested_drop = False
        self.restless = False
        self.has_moved = False
        self.still = True
        self.new_chip = False
        self.known_chip = False
        self.no_hand = False
        self.why = ""
        self.came = 0
        self.seen = 0.0
        self.moves: list[int] = []
        self.clears = 0

    def add(self, level: float, now_ms: int) -> bool:
        self.seen = level
        return self.is_due

    def clear(self) -> None:
        self.clears += 1

    def level(self) -> float:
        return self.seen

    def moved(self) -> bool:
        return self.has_moved

    def is_restless(self, for_ms: int, now_ms: int) -> bool:
        return self.restless

    def mean_if_still(self, for_ms: int, now_ms: int) -> float | None:
        return self.seen if self.still else None

    def note_move(self, now_ms: int) -> None:
        self.moves.append(now_ms)

    def is_rested_drop(self, now_ms: int) -> bool:
        return self.rested_drop

    def is_new_chip(self, level: float, now_ms: int) -> bool:
        return self.new_chip

    def is_known_chip(self, level: float, known: float, now_ms: int) -> bool:
        return self.known_chip

    def no_hand_put_it(self, level: float, now_ms: int) -> bool:
        return self.no_hand

    def why_no_chip(self, level: float, now_ms: int) -> str:
        return self.why

    def came_ms(self, now_ms: int) -> int:
        return self.came

    def accept(self) -> float:
        return self.seen


class Spot:
    def __init__(self) -> None:
        self.said, self.doubt = Said(), Doubt()
        self.thing = Thing(0.005, self.said, self.doubt)  # type: ignore[arg-type]
        self.now_ms = 1_000
        self.rises: list[int] = []
        self.doubt.report_to(self.rises.append, self.rises.append)

    def sees(self, level: float = 1.0, passed_ms: int = 10) -> tuple[int, str]:
        self.now_ms += passed_ms
        self.thing.see(level, self.now_ms, passed_ms)
        return self.thing.kind, self.thing.reason

    def has_chip(self, level: float = 1.0) -> Spot:
        self.said.new_chip = True
        assert self.sees(level) == (CHIP, "")
        self.said.new_chip = False
        return self


@pytest.fixture
def spot() -> Spot:
    return Spot()


# -- becoming a chip -----------------------------------------------------------------------------


def test_a_new_thing_is_undecided_until_a_block_is_complete(spot: Spot) -> None:
    assert (spot.thing.kind, spot.thing.reason, spot.thing.began_ms) == (UNDECIDED, "", 0)
    spot.said.is_due, spot.said.new_chip = False, True
    assert spot.sees() == (UNDECIDED, "")
    spot.said.is_due = True
    assert spot.sees() == (CHIP, "")


def test_a_rested_drop_is_judged_between_two_blocks(spot: Spot) -> None:
    """Catches: a dealer who presses START and waits for a block that is not complete yet."""
    spot.said.is_due, spot.said.new_chip, spot.said.rested_drop = False, True, True
    assert spot.sees() == (CHIP, "")


def test_a_foreign_thing_is_judged_only_when_a_block_is_complete(spot: Spot) -> None:
    spot.said.why = TOO_LARGE
    assert spot.sees(3.0) == (FOREIGN, TOO_LARGE)
    spot.said.is_due, spot.said.new_chip, spot.said.rested_drop = False, True, True
    assert spot.sees() == (FOREIGN, TOO_LARGE)


def test_a_chip_lies_there_since_it_came_and_its_level_is_known(spot: Spot) -> None:
    spot.said.came = 700
    spot.has_chip(0.9)
    assert (spot.thing.began_ms, spot.thing.known_level()) == (700, 0.9)
    assert not spot.thing.is_remembered()


@pytest.mark.parametrize("doubted", ["taint", "liquid_is_near"])
def test_beside_water_nothing_new_is_believed(spot: Spot, doubted: str) -> None:
    getattr(spot.doubt, doubted)()
    spot.said.new_chip = True
    assert spot.sees()[0] == FOREIGN


def test_what_lay_there_unseen_is_no_chip_while_the_zero_is_not_proven(spot: Spot) -> None:
    spot.said.new_chip = True
    spot.doubt.trust_zero(False)
    spot.said.arrival.origin = UNSEEN
    assert spot.sees() == (UNDECIDED, "")
    spot.said.arrival.origin = STEPPED
    assert spot.sees() == (CHIP, ""), "this one was seen to come"


def test_what_lay_there_unseen_is_a_chip_on_a_proven_zero(spot: Spot) -> None:
    spot.said.new_chip, spot.said.arrival.origin = True, UNSEEN
    assert spot.sees() == (CHIP, "")


def test_a_remembered_chip_is_known_again_and_keeps_its_level(spot: Spot) -> None:
    """Catches: felt that soaks under a chip and in the end weighs as one."""
    spot.thing.remember(1.0)
    spot.doubt.trust_zero(False)
    spot.said.arrival.origin, spot.said.known_chip = UNSEEN, True
    assert spot.sees(1.05) == (CHIP, "")
    assert spot.thing.is_remembered()
    assert spot.thing.known_level() == 1.0


def test_nobody_is_asked_for_a_known_chip_where_none_is_known(spot: Spot) -> None:
    spot.said.known_chip = True
    assert spot.sees() == (UNDECIDED, "")


def test_a_forgotten_chip_is_not_known_again(spot: Spot) -> None:
    spot.has_chip()
    spot.thing.end()
    assert spot.thing.kind == UNDECIDED
    assert spot.thing.known_level() == 1.0, "its end alone forgets no chip"
    spot.thing.forget_chip()
    spot.said.known_chip = True
    assert spot.sees() == (UNDECIDED, "")


def test_only_what_lies_there_now_is_remembered(spot: Spot) -> None:
    spot.thing.remember(1.0)
    spot.said.known_chip = True
    spot.sees()
    spot.thing.end()
    assert not spot.thing.is_remembered()


# -- a chip that lies there ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "kind"),
    [
        (1.0 - tuning.HELD_BELOW_CHIPS, CHIP),
        (1.0 - tuning.HELD_BELOW_CHIPS - 0.01, UNDECIDED),
        (1.0 + tuning.HELD_ABOVE_CHIPS, CHIP),
        (1.0 + tuning.HELD_ABOVE_CHIPS + 0.01, UNDECIDED),
    ],
)
def test_a_chip_stays_one_within_its_range_and_rests_anew_beyond_it(
    spot: Spot, level: float, kind: int
) -> None:
    spot.has_chip()
    spot.said.is_due = False
    clears = spot.said.clears
    assert spot.sees(level) == (kind, "")
    moved = [spot.now_ms] if kind == UNDECIDED else []
    assert (spot.said.moves, spot.said.clears - clears) == (moved, len(moved))


def test_a_chip_that_certainly_moves_has_to_rest_anew(spot: Spot) -> None:
    spot.has_chip()
    assert spot.sees() == (CHIP, "")
    assert spot.said.moves == []
    spot.said.restless = True
    assert spot.sees() == (UNDECIDED, "")
    assert spot.said.moves == [spot.now_ms]
    assert spot.thing.known_level() == 1.0, "on dry felt it is the same chip"
    assert not spot.doubt.tainted


def test_a_chip_that_moves_beside_water_is_known_no_longer(spot: Spot) -> None:
    """Catches: wet felt that is taken for the chip that somebody has taken from it."""
    spot.has_chip()
    spot.doubt.liquid_is_near()
    spot.said.is_due = False
    assert spot.sees(2.0) == (UNDECIDED, "")
    assert spot.thing.known_level() is None
    assert spot.doubt.tainted


def test_liquid_beside_a_chip_of_just_now_takes_it_back(spot: Spot) -> None:
    spot.has_chip()
    assert spot.thing.revoke(spot.now_ms + tuning.REVOKE_MS - 1) is True
    assert (spot.thing.kind, spot.thing.reason) == (FOREIGN, NEAR_LIQUID)
    assert spot.thing.known_level() is None
    assert spot.doubt.tainted


def test_a_chip_that_has_lain_for_long_stays_one_beside_liquid(spot: Spot) -> None:
    spot.has_chip()
    assert spot.thing.revoke(spot.now_ms + tuning.REVOKE_MS) is False
    assert (spot.thing.kind, spot.doubt.tainted) == (CHIP, False)


def test_what_is_no_chip_cannot_be_taken_back(spot: Spot) -> None:
    assert spot.thing.revoke(spot.now_ms) is False
    assert spot.thing.kind == UNDECIDED


def test_a_hand_over_a_known_chip_is_remembered_until_the_next_is_accepted(spot: Spot) -> None:
    assert not spot.thing.went_without_hand(), "no chip was known that could go"
    spot.thing.remember(1.0)
    assert spot.thing.went_without_hand(), "nobody was seen over it yet"
    spot.has_chip()
    spot.said.is_due = False
    spot.sees(1.0 + tuning.HAND_MIN_CHIPS)
    assert spot.thing.went_without_hand()
    spot.sees(1.0 + tuning.HAND_MIN_CHIPS + 0.01)
    assert not spot.thing.went_without_hand()
    spot.thing.end()
    spot.said.is_due = True
    spot.has_chip()
    assert spot.thing.went_without_hand()


# -- what is no chip -----------------------------------------------------------------------------


def test_the_evidences_reason_is_told(spot: Spot) -> None:
    assert spot.thing.see(0.4, spot.now_ms, 10) is False
    assert spot.thing.kind == UNDECIDED
    spot.said.why = TOO_LITTLE
    assert spot.thing.see(0.4, spot.now_ms, 10) is True
    assert (spot.thing.kind, spot.thing.reason) == (FOREIGN, TOO_LITTLE)


def test_only_what_was_just_judged_foreign_is_told_as_such(spot: Spot) -> None:
    def told() -> bool:
        return spot.thing.see(1.0, spot.now_ms, 10)

    spot.said.is_due = False
    assert told() is False
    spot.said.is_due, spot.said.new_chip = True, True
    assert told() is False
    assert told() is False, "a chip that lies there"


def test_the_name_of_one_thing_is_not_the_next_ones(spot: Spot) -> None:
    spot.said.why = TOO_LARGE
    spot.sees(3.0)
    spot.thing.end()
    assert (spot.thing.kind, spot.thing.reason) == (UNDECIDED, "")


def test_what_was_named_before_it_moved_keeps_its_name(spot: Spot) -> None:
    spot.said.why = TOO_LITTLE
    spot.sees(0.4)
    spot.said.why = RESTLESS
    assert spot.sees(0.4) == (FOREIGN, TOO_LITTLE)
    spot.said.why = TOO_LARGE
    assert spot.sees(3.0) == (FOREIGN, TOO_LARGE)


def test_what_only_moves_is_called_restless(spot: Spot) -> None:
    spot.said.why = RESTLESS
    assert spot.sees() == (FOREIGN, RESTLESS)


def test_what_no_hand_put_there_taints_the_spot_and_is_told_once(spot: Spot) -> None:
    spot.said.no_hand = True
    assert spot.sees() == (FOREIGN, UNKNOWN)
    assert spot.doubt.tainted
    told = list(spot.rises)
    assert told == [spot.now_ms]
    spot.doubt.begin()
    spot.sees()
    assert spot.rises == told, "a tainted spot has told of it already"


def test_liquid_beside_it_is_the_likelier_reason(spot: Spot) -> None:
    spot.doubt.taint()
    spot.said.why = TOO_LITTLE
    assert spot.sees(0.4) == (FOREIGN, UNKNOWN)
    spot.doubt.liquid_is_near()
    assert spot.sees(0.4) == (FOREIGN, NEAR_LIQUID)


def test_what_moves_between_two_blocks_is_noted_as_a_move(spot: Spot) -> None:
    spot.sees()
    assert spot.said.moves == []
    spot.said.has_moved = True
    spot.sees()
    assert spot.said.moves == [spot.now_ms]


# -- a second chip -------------------------------------------------------------------------------


def lay_second(spot: Spot) -> None:
    """It falls on the chip and rests: half a chip more than before."""
    spot.sees(1.0)
    spot.said.is_due = False
    for _ in range(20):
        spot.sees(1.5)
        spot.thing.pile.see(1.5, spot.now_ms)
    spot.said.is_due = True
    spot.sees(1.5)


def test_a_second_chip_that_fell_and_rests_is_counted_once(spot: Spot) -> None:
    spot.has_chip()
    fell_ms = spot.now_ms + 20
    lay_second(spot)
    assert (spot.thing.pile.count, spot.thing.pile.began_ms) == (1, fell_ms)
    spot.sees(1.5)
    assert spot.thing.pile.count == 1


@pytest.mark.parametrize("doubted", ["taint", "liquid_is_near", "still"])
def test_nothing_is_counted_on_wet_felt_or_before_it_rests(spot: Spot, doubted: str) -> None:
    spot.has_chip()
    if doubted == "still":
        spot.said.still = False
    else:
        getattr(spot.doubt, doubted)()
    lay_second(spot)
    assert spot.thing.pile.count == 0


def test_a_pile_that_a_hand_left_behind_is_counted_when_it_is_accepted(spot: Spot) -> None:
    spot.has_chip()
    spot.sees(1.0)
    spot.said.came = 1_234
    spot.sees(3.0)  # a hand
    assert spot.thing.kind == UNDECIDED
    spot.has_chip(1.6)
    assert (spot.thing.pile.count, spot.thing.pile.began_ms) == (1, 1_234)
