"""START, END and chips that move after the lock."""

from __future__ import annotations

import pytest

from controller.core.felt import spot
from controller.core.round import commands, events, lock
from controller.core.round.state import OPEN, table_state
from hal.aio import ticks_add
from protocol import numbers


def test_start_locks_the_accepted_bets_and_names_the_refused(touch):
    started = touch.accept(commands.start(touch.verdicts("2A", "5A", refused=("7A",))))
    assert started == [(numbers.ROUND_START, {1: 1, 2: ["2A", "5A"], 3: ["7A"], 4: [], 5: 200})]
    assert touch.state.phase() == "locked"
    assert touch.state.blinking == ["7A"]


def test_a_spot_left_just_before_the_lock_is_refused_too(touch):
    verdicts = [*touch.verdicts("2A")[:6], ("7A", spot.LEFT)]
    assert touch.accept(commands.start(verdicts))[0][1][3] == ["7A"]
    assert touch.state.blinking == ["7A"]


def test_a_spot_left_just_before_a_refused_start_does_not_blink(touch):
    assert "No bets" in touch.refuse(commands.start([("7A", spot.LEFT)]))
    assert touch.state.blinking == []


def test_round_numbers_count_up(touch):
    for number in (1, 2, 3):
        touch.start("1A")
        assert touch.state.round_number == number
        touch.accept(commands.end())
        assert touch.state.phase() == OPEN


def test_start_twice_is_refused(touch):
    touch.start("2A")
    assert "bets stand" in touch.refuse(commands.start(touch.verdicts("2A")))


def test_start_without_bets_is_refused(touch):
    assert "No bets" in touch.refuse(commands.start(touch.verdicts()))
    assert touch.state.blinking == []


def test_start_with_only_refused_spots_is_refused_and_they_blink(touch):
    sentence = touch.refuse(commands.start(touch.verdicts(refused=("3A", "4A"))))
    assert "No bet was accepted" in sentence
    assert touch.state.blinking == ["3A", "4A"]
    assert touch.state.refused == []


def test_a_spot_that_blinks_on_an_open_table_stops_when_its_chip_is_taken(touch):
    touch.refuse(commands.start(touch.verdicts(refused=("3A", "4A"))))
    assert touch.accept(commands.late("3A", True, 0)) == []
    assert touch.accept(commands.late("3A", False, 0)) == [events.blink(["4A"])]
    assert touch.accept(commands.late("3A", False, 0)) == []
    assert touch.state.blinking == ["4A"]


def test_the_next_start_forgets_what_blinked(touch):
    touch.refuse(commands.start(touch.verdicts(refused=("3A",))))
    touch.refuse(commands.start(touch.verdicts()))
    assert touch.state.blinking == []


def test_start_is_refused_without_a_link(touch):
    touch.rules.link_up = False
    assert "connection" in touch.refuse(commands.start(touch.verdicts("2A")))


def test_start_is_refused_with_stale_meters(touch):
    touch.rules.meters_fresh = False
    assert "out of date" in touch.refuse(commands.start(touch.verdicts("2A")))


def test_start_is_refused_with_a_stopping_fault(touch):
    touch.rules.stopping_faults = ["The cover is open."]
    assert touch.refuse(commands.start(touch.verdicts("2A"))) == "The cover is open."


@pytest.mark.parametrize(
    ("position", "word"), [("JPH", "RUN"), ("FAULT", "service"), ("", "service")]
)
def test_start_needs_the_key_at_run_on_a_keypad_table(keypad, position, word):
    keypad.rules.key = position
    assert word in keypad.refuse(commands.start(keypad.verdicts("2A")))


def test_a_touch_table_needs_no_key(touch):
    touch.rules.key = ""
    touch.start("2A")


def test_end_without_a_game_is_refused(touch):
    assert "no game" in touch.refuse(commands.end())


def test_end_with_a_selected_hand_is_refused(touch):
    touch.start("5A")
    touch.select(5, "four-aces")
    assert "A hand is entered" in touch.refuse(commands.end())


def test_end_with_a_hand_that_waits_for_its_seat_is_refused(keypad):
    keypad.start("2A", "5A")
    keypad.accept(commands.hand("four-aces"))
    assert "Four Aces waits for its seat" in keypad.refuse(commands.end())
    keypad.accept(commands.hand("four-aces"))
    keypad.accept(commands.end())


def test_end_is_refused_at_every_stage_of_a_claim(touch):
    touch.start("5A")
    touch.select(5, "four-aces")
    touch.accept(commands.confirm())
    assert "not priced" in touch.refuse(commands.end())
    touch.award(100_000, role=2)
    assert "card" in touch.refuse(commands.end())
    touch.accept(commands.card(2, bytes(16)))
    assert "recorded" in touch.refuse(commands.end())
    touch.settle()
    touch.accept(commands.tick(5, 0))
    assert touch.accept(commands.end()) == [(numbers.ROUND_END, {1: 1})]


def test_end_is_refused_while_the_key_must_return(keypad):
    keypad.start("5A")
    keypad.select(5, "four-aces")
    keypad.rules.key = "JPH"
    keypad.accept(commands.jpot("JPH"))
    keypad.award(100_000, role=2, frozen=True)
    assert "RUN" in keypad.refuse(commands.end())


def test_a_chip_taken_or_added_after_the_lock_is_recorded_and_changes_no_bet(touch):
    touch.start("2A", "5A")
    assert touch.accept(commands.late("2A", False, 900)) == [
        (numbers.LATE_CHANGE, {1: 1, 2: "2A", 3: False, 4: 900})
    ]
    touch.accept(commands.late("3A", True, 1200))
    assert touch.state.accepted == ["2A", "5A"]
    assert touch.state.late == {"2A": (False, 900), "3A": (True, 1200)}


@pytest.mark.parametrize(("sensor", "present"), [("2A", True), ("3A", False)])
def test_a_presence_that_is_no_change_is_not_recorded(touch, sensor, present):
    touch.start("2A")
    assert touch.accept(commands.late(sensor, present, 10)) == []


def test_a_chip_laid_on_a_bet_is_recorded_and_changes_no_bet(touch):
    touch.start("2A", refused=("4A",))
    assert touch.accept(commands.added("2A", 900)) == [
        (numbers.LATE_CHANGE, {1: 1, 2: "2A", 3: True, 4: 900})
    ]
    assert touch.state.accepted == ["2A"]
    assert touch.accept(commands.late("2A", True, 950)) == [], "that a chip lies there is no news"
    assert len(touch.accept(commands.added("2A", 1500))) == 1, "a third chip is"
    for sensor in ("3A", "4A"):
        assert touch.accept(commands.added(sensor, 900)) == [], "no bet lies there"
    assert len(touch.accept(commands.late("2A", False, 2000))) == 1
    assert touch.accept(commands.added("2A", 2100)) == [], "and none here any more"


def test_a_pile_that_was_there_at_the_lock_is_no_addition(touch):
    assert touch.accept(commands.added("2A", 900)) == []
    touch.start("2A")
    assert touch.accept(commands.added("2A", -1)) == []


def test_a_change_told_twice_is_recorded_once(touch):
    touch.start("2A")
    assert len(touch.accept(commands.late("2A", False, 10))) == 1
    assert touch.accept(commands.late("2A", False, 500)) == []
    assert len(touch.accept(commands.late("2A", True, 900))) == 1


def test_a_refused_spot_blinks_until_its_chip_is_taken(touch):
    touch.start("2A", refused=("3A",))
    touch.accept(commands.late("3A", True, 30))
    assert touch.state.blinking == ["3A"]
    touch.accept(commands.late("3A", False, 4_000))
    assert touch.state.blinking == []
    assert touch.state.refused == ["3A"]


def test_an_unknown_spot_is_refused(touch):
    touch.start("2A")
    assert "no spot 9A" in touch.refuse(commands.late("9A", True, 10))


def test_a_flickering_spot_cannot_fill_the_journal(touch):
    touch.start("2A")
    for count in range(lock.LATE_CHANGES_MAX):
        assert touch.accept(commands.late("2A", count % 2 == 1, count))
    assert "too often" in touch.refuse(commands.late("2A", False, 99))
    assert "too often" in touch.refuse(commands.added("2A", 99))


def test_a_clock_that_ran_backwards_gives_no_negative_offset(touch):
    touch.start("2A")
    assert touch.accept(commands.late("2A", False, -5))[0][1][4] == 0
    assert touch.accept(commands.late("2A", True, 900))[0][1][4] == 900
    assert touch.accept(commands.late("2A", False, 700))[0][1][4] == 900, "it never goes back"
    assert touch.accept(commands.late("3A", True, 700))[0][1][4] == 700, "another spot may"


@pytest.mark.parametrize(
    ("began_before_ms", "offset_ms"), [(0, 900), (250, 650), (1_000, -100), (-5, 900)]
)
def test_what_the_felt_tells_counts_from_the_lock_and_ticks_may_wrap(began_before_ms, offset_ms):
    now_ms = 100
    began_ms = ticks_add(now_ms, -began_before_ms)
    late = commands.since_lock(commands.late("2A", True, began_ms), now_ms, 900)
    assert late == (commands.LATE, "2A", True, offset_ms)
    added = commands.since_lock(commands.added("2A", began_ms), now_ms, 900)
    assert added == (commands.ADDED, "2A", offset_ms)
    assert commands.since_lock(commands.end(), now_ms, 900) == commands.end()


def test_a_lost_link_closes_an_open_table_and_interrupts_no_round():
    assert table_state("open", True, []) == "open"
    assert table_state("open", False, []) == "offline"
    for phase in ("locked", "claim", "confirm"):
        assert table_state(phase, False, []) == phase
    assert table_state("open", False, ["The cover is open."]) == "fault"


def test_what_was_added_at_the_very_lock_counts_and_before_it_does_not(touch):
    """Catches: a second chip that slides on at the lock, and of which nobody hears."""
    touch.start("2A", "5A")
    assert touch.accept(commands.added("2A", -1)) == [], "it was a bet of two chips then"
    assert len(touch.accept(commands.added("5A", 0))) == 1
