"""Scenario text of any kind: instructions, or a refusal with the line's number. Nothing else.

What is understood can also be played: it ends as written or as a failure that names its line, and
never by an exception of the simulator.
"""

from __future__ import annotations

import re
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from sim.runs.scenario.command import play_text
from sim.runs.scenario.language import (
    BUTTONS,
    FAULTS,
    GRAMMAR,
    KEY_POSITIONS,
    LIGHTS,
    STATES,
    SWIPES,
    ScenarioError,
    parse_scenario,
)
from sim.runs.scenario.verdict import CannotDo, Mismatch
from tests.fuzz.effort import examples
from tests.kit.places import SCENARIOS

FILES = sorted(SCENARIOS.glob("*.txt"))
LINES = sorted({line for path in FILES for line in path.read_text(encoding="utf-8").splitlines()})
WORDS = [
    *(word for verb in GRAMMAR for word in verb.split()),
    *(*STATES, *LIGHTS, *SWIPES, *KEY_POSITIONS, *BUTTONS, *FAULTS),
    *("four-card-touch", "no-such-table", "3", "3B", "99Z", "0", "8000.75", "2s", "0ms", "-1"),
    *("999999999s", "four-aces", "sense-1", "lights-1", "main", "open", "cut", "#"),
]
words = st.sampled_from(WORDS) | st.text(max_size=6)
odd_lines = (
    st.lists(words, max_size=4).map(" ".join) | st.sampled_from(LINES) | st.text(max_size=30)
)


@examples(300)
@given(st.lists(odd_lines, max_size=8).map("\n".join))
def test_any_text_is_understood_or_refused_by_its_line(text: str) -> None:
    try:
        instructions = parse_scenario(text)
    except ScenarioError as error:
        sentence = str(error)
    else:
        assert instructions[0].verb == "table"
        assert [each.line_number for each in instructions] == sorted(
            {each.line_number for each in instructions}
        )
        return
    assert re.match(r"line [1-9][0-9]*: ", sentence), sentence


# What a person may do in any order; nothing that waits for hours.
deeds = st.one_of(
    st.tuples(st.sampled_from(["place", "remove"]), st.integers(0, 9).map(str)),
    st.tuples(st.just("press"), st.sampled_from([*BUTTONS, "SEAT 2", "HAND four-aces", "SEAT 99"])),
    st.tuples(st.just("swipe"), st.sampled_from(SWIPES)),
    st.tuples(st.just("key"), st.sampled_from(KEY_POSITIONS)),
    st.tuples(st.just("tamper"), st.sampled_from(["open", "close"])),
    st.tuples(st.just("fault"), st.sampled_from([f"{f} sense-1" for f in FAULTS])),
    st.tuples(st.sampled_from(["power", "link"]), st.sampled_from(["cut", "on", "restore"])),
    st.tuples(st.just("wait"), st.sampled_from(["1ms", "3s"])),
    st.tuples(st.just("expect state"), st.sampled_from(STATES)),
)


@examples(10)
@given(
    st.sampled_from(["four-card-touch", "four-card-keypad"]),
    st.lists(deeds.map(" ".join), max_size=8),
)
def test_any_order_of_deeds_ends_as_written_or_as_a_named_failure(
    table: str, lines: list[str]
) -> None:
    text = "\n".join([f"table {table}", *lines])
    # Whatever was done to it, the product itself must not have failed.
    with suppress(ScenarioError, Mismatch, CannotDo):
        play_text(text)
