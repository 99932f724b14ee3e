"""What makes a chip of a thing: its weight, its rest and how it came, each asked alone."""

from __future__ import annotations

import pytest

from controller.core.felt import tuning
from controller.core.felt.arrival import JUMPED, SEEN, STEPPED, UNSEEN
from controller.core.felt.evidence import Evidence
from controller.core.felt.reasons import RESTLESS, TOO_LARGE, TOO_LITTLE

NOISE = 0.005
EVERY_MS = 10
HAND = 4.0


class Seen:
    """One thing from its first reading on."""

    def __init__(self, origin: int, level: float = 1.0) -> None:
        self.evidence = Evidence(NOISE)
        self.now_ms = 500
        self.evidence.begin(self.now_ms)
        self.evidence.arrival.begin(level, origin)

    def rest(self, level: float, duration_ms: int) -> Seen:
        for _ in range(duration_ms // EVERY_MS):
            self.evidence.see(level, self.now_ms, False)
            self.evidence.trace.add(level, self.now_ms)
            self.now_ms += EVERY_MS
        return self

    def is_new_chip(self, level: float = 1.0) -> bool:
        return self.evidence.is_new_chip(level, self.now_ms)

    def no_hand(self, level: float) -> bool:
        return self.evidence.no_hand_put_it(level, self.now_ms)


# -- a new chip ----------------------------------------------------------------------------------


def test_what_fell_is_a_chip_as_soon_as_it_has_rested() -> None:
    drop = Seen(STEPPED).rest(1.0, tuning.DROP_REST_MS - 20)
    assert not drop.is_new_chip()
    assert drop.rest(1.0, 80).is_new_chip()


def test_the_lightest_drop_that_is_a_chip() -> None:
    level = tuning.DROP_MIN_CHIPS
    assert Seen(STEPPED, level).rest(level, 800).is_new_chip(level)
    light = level - 0.01
    assert not Seen(STEPPED, light).rest(light, 800).is_new_chip(light)


@pytest.mark.parametrize("level", [tuning.WEIGHT_MIN_CHIPS - 0.01, tuning.STACK_MAX_CHIPS + 0.01])
def test_what_weighs_too_little_or_too_much_is_no_chip_however_it_rests(level: float) -> None:
    assert not Seen(STEPPED, level).rest(level, 2_000).is_new_chip(level)
    assert not Seen(UNSEEN, level).rest(level, 2_000).is_new_chip(level)


def test_what_lay_there_before_anybody_looked_rests_a_little_longer() -> None:
    unseen = Seen(UNSEEN).rest(1.0, tuning.UNSEEN_REST_MS - 50)
    assert not unseen.is_new_chip()
    assert unseen.rest(1.0, 100).is_new_chip()


def test_what_came_in_several_steps_is_a_chip_only_when_a_hand_left_it() -> None:
    alone = Seen(SEEN).rest(1.0, 3_000)
    assert not alone.is_new_chip()
    left = Seen(SEEN, HAND).rest(HAND, 200).rest(1.0, tuning.LEFT_BEHIND_REST_MS - 50)
    assert not left.is_new_chip()
    assert left.rest(1.0, 150).is_new_chip()


def test_an_unusual_weight_that_a_hand_left_rests_longer() -> None:
    level = tuning.USUAL_MAX_CHIPS + 0.02
    left = Seen(SEEN, HAND).rest(HAND, 200).rest(level, tuning.LEFT_BEHIND_REST_MS + 150)
    assert not left.is_new_chip(level)
    assert left.rest(level, tuning.STACK_REST_MS - tuning.LEFT_BEHIND_REST_MS).is_new_chip(level)


def test_after_a_long_time_with_a_hand_over_it_it_rests_longest() -> None:
    slow = Seen(SEEN, HAND).rest(HAND, tuning.DECIDE_MAX_MS)
    slow.rest(1.0, tuning.STACK_REST_MS + 100)
    assert not slow.is_new_chip()
    slow.rest(1.0, tuning.LINGERED_REST_MS - tuning.STACK_REST_MS)
    assert slow.is_new_chip()


def test_a_stack_needs_a_hand_that_left_it_or_to_have_lain_there() -> None:
    level = tuning.WEIGHT_MAX_CHIPS + 0.3
    assert not Seen(STEPPED, level).rest(level, 2_000).is_new_chip(level)
    assert Seen(UNSEEN, level).rest(level, tuning.STACK_REST_MS + 50).is_new_chip(level)
    assert not Seen(UNSEEN, level).rest(level, tuning.STACK_REST_MS - 100).is_new_chip(level)
    left = Seen(SEEN, HAND).rest(HAND, 200).rest(level, tuning.STACK_REST_MS + 100)
    assert left.is_new_chip(level)


def test_a_drop_that_was_not_judged_in_time_is_no_drop_any_more() -> None:
    late = Seen(STEPPED).rest(1.0, tuning.DROP_AGE_MAX_MS)
    assert late.is_new_chip()
    assert not late.rest(1.0, 50).is_new_chip()


def test_just_rested_is_worth_a_judgement_between_two_blocks() -> None:
    for origin, is_due in ((STEPPED, True), (JUMPED, False)):
        thing = Seen(origin)
        begin_ms = thing.now_ms
        asked = {
            age_ms: thing.evidence.is_rested_drop(begin_ms + age_ms)
            for age_ms in (
                tuning.DROP_REST_MS - 1,
                tuning.DROP_REST_MS,
                tuning.DROP_REST_MS + tuning.BLOCK_MS - 1,
                tuning.DROP_REST_MS + tuning.BLOCK_MS,
            )
        }
        assert list(asked.values()) == [False, is_due, is_due, False]


# -- a chip that is known ------------------------------------------------------------------------


def test_a_known_chip_is_known_again_by_its_level_and_a_short_rest() -> None:
    thing = Seen(UNSEEN).rest(1.0, tuning.KNOWN_REST_MS - 50)
    assert not thing.evidence.is_known_chip(1.0, 1.0, thing.now_ms)
    thing.rest(1.0, 100)
    for known, is_known in (
        (1.0, True),
        (1.0 + tuning.KNOWN_BELOW_CHIPS - 0.001, True),
        (1.0 + tuning.KNOWN_BELOW_CHIPS + 0.001, False),
        (1.0 - tuning.KNOWN_ABOVE_CHIPS + 0.001, True),
        (1.0 - tuning.KNOWN_ABOVE_CHIPS - 0.001, False),
    ):
        assert thing.evidence.is_known_chip(1.0, known, thing.now_ms) is is_known


def test_a_known_chip_that_a_hand_touched_rests_as_what_a_hand_left() -> None:
    thing = Seen(SEEN, HAND).rest(HAND, 200).rest(1.0, tuning.KNOWN_REST_MS + 100)
    assert not thing.evidence.is_known_chip(1.0, 1.0, thing.now_ms)
    thing.rest(1.0, tuning.LEFT_BEHIND_REST_MS - tuning.KNOWN_REST_MS)
    assert thing.evidence.is_known_chip(1.0, 1.0, thing.now_ms)


# -- liquid --------------------------------------------------------------------------------------


def test_what_rests_though_nothing_brought_it_came_as_liquid_does() -> None:
    """Catches: `_placed` asked the wrong way round. Every light thing that fell would be liquid."""
    for origin, is_liquid in ((SEEN, True), (STEPPED, False), (UNSEEN, False)):
        thing = Seen(origin, 0.4).rest(0.4, tuning.STILL_MS + 50)
        assert not thing.no_hand(0.4), "too early to say"
        thing.rest(0.4, tuning.UNKNOWN_STILL_MS - tuning.STILL_MS)
        assert thing.no_hand(0.4) is is_liquid


def test_what_a_hand_left_is_no_liquid_also_when_the_hand_is_long_gone() -> None:
    thing = Seen(SEEN, HAND).rest(HAND, 200).rest(0.4, tuning.STILL_MS + 50)
    assert not thing.no_hand(0.4)
    thing.rest(0.4, 3_000)
    assert not thing.no_hand(0.4)


def test_felt_that_soaks_under_a_hand_goes_on_rising_without_it() -> None:
    thing = Seen(STEPPED, 0.4).rest(0.4, 400)
    assert not thing.no_hand(0.4)
    for step in range(tuning.SLOW_BLOCKS + 2):
        thing.rest(0.4 + 0.006 * step, tuning.BLOCK_MS)
    assert thing.no_hand(thing.evidence.trace.level())


def test_an_accepted_chip_was_placed() -> None:
    thing = Seen(SEEN, 0.4).rest(0.4, 1_500)
    assert thing.evidence.accept() == pytest.approx(0.4)
    assert thing.evidence.trace.level() == 0.0, "only what moves it from here on counts"
    thing.rest(0.4, 1_500)
    assert not thing.no_hand(0.4)


def test_that_one_thing_was_placed_says_nothing_of_the_next() -> None:
    """Catches: liquid on a spot where a chip lay before, taken for something that a hand left."""
    thing = Seen(STEPPED).rest(1.0, 500)
    thing.evidence.accept()
    thing.evidence.begin(thing.now_ms)
    thing.evidence.arrival.begin(0.4, SEEN)
    assert thing.rest(0.4, tuning.UNKNOWN_STILL_MS + 100).no_hand(0.4)


# -- why not, and since when ---------------------------------------------------------------------


def test_the_likeliest_reason() -> None:
    large = Seen(SEEN, 5.0).rest(5.0, tuning.TOO_LARGE_MS - 10)
    assert large.evidence.why_no_chip(5.0, large.now_ms) == ""
    large.rest(5.0, 10)
    assert large.evidence.why_no_chip(5.0, large.now_ms) == TOO_LARGE
    light = Seen(SEEN, 0.3).rest(0.3, tuning.STILL_MS - 50)
    assert light.evidence.why_no_chip(0.3, light.now_ms) == ""
    light.rest(0.3, 100)
    assert light.evidence.why_no_chip(0.3, light.now_ms) == TOO_LITTLE
    long = Seen(SEEN).rest(1.0, tuning.DECIDE_MAX_MS - 10)
    assert long.evidence.why_no_chip(1.0, long.now_ms) == ""
    long.rest(1.0, 10)
    assert long.evidence.why_no_chip(1.0, long.now_ms) == RESTLESS


def test_a_drop_came_when_it_first_showed_and_anything_else_when_it_came_to_rest() -> None:
    drop = Seen(STEPPED)
    began_ms = drop.now_ms
    drop.rest(1.0, 400)
    assert drop.evidence.came_ms(drop.now_ms) == began_ms
    left = Seen(SEEN, HAND).rest(HAND, 200)
    rested_ms = left.now_ms
    left.rest(1.0, 400)
    assert left.evidence.came_ms(left.now_ms) == rested_ms


def test_a_hand_may_be_about_for_a_while_after_a_move() -> None:
    thing = Seen(SEEN)
    thing.evidence.note_move(1_000)
    assert thing.evidence.moved_lately(1_000 + tuning.HAND_LEFT_MAX_MS - 1)
    assert not thing.evidence.moved_lately(1_000 + tuning.HAND_LEFT_MAX_MS)


@pytest.mark.parametrize(
    ("level", "is_chip"),
    [
        (tuning.DROP_MIN_CHIPS - 0.01, False),
        (tuning.DROP_MIN_CHIPS, True),
        (tuning.DROP_MAX_CHIPS, True),
        (tuning.DROP_MAX_CHIPS + 0.01, False),
    ],
)
def test_a_drop_on_the_very_limit_is_one(level: float, is_chip: bool) -> None:
    """A pad without noise: after 160 ms the mean is the level to the last bit."""
    evidence = Evidence(0.0)
    evidence.begin(0)
    evidence.arrival.begin(level, STEPPED)
    for now_ms in range(0, 170, 10):
        evidence.see(level, now_ms, False)
        evidence.trace.add(level, now_ms)
    if is_chip:
        assert evidence.trace.mean_if_still(tuning.DROP_REST_MS, 160) == level
    assert evidence.is_new_chip(level, 160) is is_chip


# -- at the limits themselves --------------------------------------------------------------------


class Rests:
    """Stands for the trace: rests at `mean` for so long, and a hand has left it or not."""

    def __init__(self, mean: float, rests_ms: int, hand_left: bool = False) -> None:
        self.mean, self.rests_ms, self.hand_left = mean, rests_ms, hand_left
        self.asked_by: list[float] = []
        self.clears = 0

    def clear(self) -> None:
        self.clears += 1

    def level(self) -> float:
        return self.mean

    def rests_since_ms(self, level: float, now_ms: int) -> int:
        return now_ms - self.rests_ms

    def rose_slowly(self, count: int, by: float) -> bool:
        return False

    def mean_if_still(
        self, duration_ms: int, now_ms: int, spread_sigmas: float | None = None
    ) -> float | None:
        return self.mean if duration_ms <= self.rests_ms else None

    def fell_to(self, level: float, by: float, still_ms: int, before_ms: int, now_ms: int) -> bool:
        self.asked_by.append(by)
        return self.hand_left


def at_rest(
    mean: float, rests_ms: int, origin: int = UNSEEN, hand_left: bool = False
) -> tuple[Evidence, Rests]:
    evidence, trace = Evidence(NOISE), Rests(mean, rests_ms, hand_left)
    evidence.trace = trace  # type: ignore[assignment]
    evidence.begin(0)
    evidence.arrival.begin(mean, origin)
    return evidence, trace


@pytest.mark.parametrize(
    ("level", "rests_ms", "hand_left", "is_known"),
    [
        (-tuning.KNOWN_BELOW_CHIPS, tuning.KNOWN_REST_MS, False, True),
        (-tuning.KNOWN_BELOW_CHIPS - 0.01, tuning.KNOWN_REST_MS, False, False),
        (tuning.KNOWN_ABOVE_CHIPS, tuning.KNOWN_REST_MS, False, True),
        (tuning.KNOWN_ABOVE_CHIPS + 0.01, tuning.KNOWN_REST_MS, False, False),
        (0.0, tuning.KNOWN_REST_MS - 1, False, False),
        (0.0, tuning.LEFT_BEHIND_REST_MS - 1, True, False),
        (0.0, tuning.LEFT_BEHIND_REST_MS, True, True),
    ],
)
def test_how_far_a_known_chip_may_read_and_how_long_it_rests(
    level: float, rests_ms: int, hand_left: bool, is_known: bool
) -> None:
    evidence, trace = at_rest(level, rests_ms, hand_left=hand_left)
    assert evidence.is_known_chip(level, 0.0, 5_000) is is_known
    wanted = tuning.HAND_MIN_CHIPS + tuning.HAND_NOISES * NOISE
    assert set(trace.asked_by) <= {wanted}


LOW, HIGH, TOP = tuning.WEIGHT_MIN_CHIPS, tuning.WEIGHT_MAX_CHIPS, tuning.STACK_MAX_CHIPS


@pytest.mark.parametrize(
    ("level", "mean", "rests_ms", "is_chip"),
    [
        (LOW, LOW, tuning.UNSEEN_REST_MS, True),
        (LOW, LOW, tuning.UNSEEN_REST_MS - 1, False),
        (LOW - 0.01, LOW, 9_000, False),  # by its level now
        (LOW, LOW - 0.01, 9_000, False),  # and by all of its rest
        (HIGH, HIGH, tuning.UNSEEN_REST_MS, True),
        (HIGH, HIGH + 0.01, 9_000, False),
        (HIGH + 0.01, HIGH + 0.01, tuning.STACK_REST_MS - 1, False),
        (HIGH + 0.01, HIGH + 0.01, tuning.STACK_REST_MS, True),
        (TOP, TOP, tuning.STACK_REST_MS, True),
        (TOP, TOP + 0.01, 9_000, False),
        (TOP + 0.01, TOP, 9_000, False),
    ],
)
def test_what_lay_there_unseen_is_judged_by_weight_and_rest(
    level: float, mean: float, rests_ms: int, is_chip: bool
) -> None:
    assert at_rest(mean, rests_ms)[0].is_new_chip(level, 5_000) is is_chip


@pytest.mark.parametrize(
    ("level", "age_ms", "rests_ms", "is_chip"),
    [
        (tuning.USUAL_MIN_CHIPS, 2_000, tuning.LEFT_BEHIND_REST_MS, True),
        (tuning.USUAL_MIN_CHIPS - 0.01, 2_000, tuning.LEFT_BEHIND_REST_MS, False),
        (tuning.USUAL_MIN_CHIPS - 0.01, 2_000, tuning.STACK_REST_MS, True),
        (tuning.USUAL_MAX_CHIPS, 2_000, tuning.LEFT_BEHIND_REST_MS, True),
        (tuning.USUAL_MAX_CHIPS + 0.01, 2_000, tuning.LEFT_BEHIND_REST_MS, False),
        (1.0, tuning.DECIDE_MAX_MS - 1, tuning.LEFT_BEHIND_REST_MS, True),
        (1.0, tuning.DECIDE_MAX_MS, tuning.LINGERED_REST_MS - 1, False),
        (1.0, tuning.DECIDE_MAX_MS, tuning.LINGERED_REST_MS, True),
        (2.0, 2_000, tuning.STACK_REST_MS, True),
    ],
)
def test_what_a_hand_left_rests_the_longer_the_less_usual_it_is(
    level: float, age_ms: int, rests_ms: int, is_chip: bool
) -> None:
    assert at_rest(level, rests_ms, SEEN, True)[0].is_new_chip(level, age_ms) is is_chip
    assert not at_rest(level, 9_000, SEEN, False)[0].is_new_chip(level, age_ms), "nobody left it"


@pytest.mark.parametrize(
    ("level", "age_ms", "is_chip"),
    [
        (tuning.DROP_MIN_CHIPS, tuning.DROP_AGE_MAX_MS, True),
        (tuning.DROP_MIN_CHIPS, tuning.DROP_AGE_MAX_MS + 1, False),
        (tuning.DROP_MIN_CHIPS - 0.01, tuning.DROP_AGE_MAX_MS, False),
        (tuning.DROP_MAX_CHIPS, tuning.DROP_AGE_MAX_MS, True),
        (tuning.DROP_MAX_CHIPS + 0.01, tuning.DROP_AGE_MAX_MS, False),
    ],
)
def test_a_drop_has_to_be_young_and_of_a_chips_weight(
    level: float, age_ms: int, is_chip: bool
) -> None:
    drop = at_rest(level, tuning.DROP_REST_MS, STEPPED)[0]
    assert drop.is_new_chip(level, age_ms) is is_chip


@pytest.mark.parametrize(
    ("rests_ms", "is_chip"), [(tuning.LANDED_REST_MS - 1, False), (tuning.LANDED_REST_MS, True)]
)
def test_what_was_caught_on_its_way_rests_longer(rests_ms: int, is_chip: bool) -> None:
    drop = at_rest(1.0, rests_ms, STEPPED)[0]
    drop.arrival.begin(0.9, STEPPED)
    drop.arrival.see(1.0, 10, False)
    assert not drop.arrival.is_clean_drop(1.0)
    assert drop.is_new_chip(1.0, 500) is is_chip


def test_the_limits_of_what_is_no_chip() -> None:
    assert at_rest(TOP, 0)[0].why_no_chip(TOP, tuning.TOO_LARGE_MS) == ""
    assert at_rest(LOW, 9_000)[0].why_no_chip(LOW, 1_000) == ""
    assert at_rest(LOW - 0.01, tuning.STILL_MS)[0].why_no_chip(LOW - 0.01, 1_000) == TOO_LITTLE
    assert at_rest(1.0, 0)[0].why_no_chip(1.0, tuning.DECIDE_MAX_MS - 1) == ""
    assert at_rest(1.0, 0)[0].why_no_chip(1.0, tuning.DECIDE_MAX_MS) == RESTLESS


def test_a_rested_drop_is_one_for_the_length_of_a_block() -> None:
    drop = at_rest(1.0, 0, STEPPED)[0]
    rest_ms, block_ms = tuning.DROP_REST_MS, tuning.BLOCK_MS
    ages_ms = (rest_ms - 1, rest_ms, rest_ms + block_ms - 1, rest_ms + block_ms)
    assert [drop.is_rested_drop(age_ms) for age_ms in ages_ms] == [False, True, True, False]
    assert not at_rest(1.0, 0, JUMPED)[0].is_rested_drop(rest_ms)


def test_a_hand_may_be_about_for_a_while_after_it_moved() -> None:
    evidence = at_rest(1.0, 0)[0]
    evidence.note_move(1_000)
    assert evidence.moved_lately(1_000 + tuning.HAND_LEFT_MAX_MS - 1)
    assert not evidence.moved_lately(1_000 + tuning.HAND_LEFT_MAX_MS)


def test_a_drop_came_when_it_first_showed_and_what_was_left_since_it_rests() -> None:
    assert at_rest(1.0, 700, STEPPED)[0].came_ms(5_000) == 0
    assert at_rest(1.0, 700, SEEN)[0].came_ms(5_000) == 4_300


def test_what_was_seen_before_it_came_or_landed_does_not_count() -> None:
    evidence, trace = at_rest(0.5, 0, STEPPED)
    assert trace.clears == 1, "it begins with nothing"
    evidence.see(1.0, 10, False)
    assert trace.clears == 2, "it has landed only now"
    evidence.see(1.0, 20, False)
    assert trace.clears == 2
