"""The words of a scenario: what is understood, and how the rest is refused."""

from __future__ import annotations

import pytest

from sim.runs.scenario.language import ScenarioError, cents, duration_ms, parse_scenario, sensor_id


def refusal(line: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(f"table four-card-touch\n\n{line}\n")
    return str(caught.value)


def test_comments_and_blank_lines_are_passed_over_and_lines_keep_their_numbers() -> None:
    text = "# A title.\n\ntable four-card-touch  # the touch table\n  place   3B\n"
    table, place = parse_scenario(text)
    assert (table.line_number, table.verb, table.arguments) == (3, "table", ("four-card-touch",))
    assert (place.line_number, place.text, place.arguments) == (4, "place 3B", ("3B",))


@pytest.mark.parametrize(
    "line",
    [
        "place 3",
        "remove 12B",
        "press START",
        "press SEAT 3B",
        "press HAND four-aces",
        "press ALL",
        "key JPH",
        "swipe HALF",
        "tamper open",
        "fault lost-irq sense-1",
        "power cut",
        "link restore",
        "wait 500ms",
        "wait 2s",
        "meter main 8000.00",
        "expect state offline",
        "expect light 3 refused",
        "expect award 5 8000.75",
        "expect envy 2 100.00",
        "expect meter main 10000.15",
        "expect wagers 3",
        "expect refused",
        "expect accepted",
        "expect late 4 added",
    ],
)
def test_every_instruction_is_understood(line: str) -> None:
    assert parse_scenario(f"table x\n{line}")[1].text == line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dance 3", "is no instruction; there are `table`, `place`"),
        ("expect happiness", "is no instruction"),
        ("place", "takes one word, not 0"),
        ("place 3 4", "takes one word, not 2"),
        ("place three", "'three' is not a spot such as 3 or 3B"),
        ("place 3C", "is not a spot"),
        ("press STOP", "the buttons are START"),
        ("press SEAT", "the buttons are START"),
        ("key OFF", "'OFF' is not one of RUN, JPH, BETWEEN"),
        ("swipe NOBODY", "is not one of SUPERVISOR"),
        ("wait 3 s", "takes one word"),
        ("wait 3m", "is not a time such as 500ms or 2s"),
        ("meter main 8000", "is not an amount such as 8000.75"),
        ("meter main 8,000.00", "is not an amount"),
        ("expect award 5 -3.00", "is not an amount"),
        ("expect wagers ³", "is not a whole number"),
        ("expect light 5 green", "'green' is not one of off, detected"),
        ("expect refused now", "'now' is too much"),
        ("fault melt sense-1", "is not one of nack"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(line: str, words: str) -> None:
    sentence = refusal(line)
    assert sentence.startswith(f"line 3: `{line}`: ")
    assert words in sentence


def test_a_scenario_begins_with_its_table() -> None:
    with pytest.raises(ScenarioError, match="line 2: `place 3`: a scenario begins with `table"):
        parse_scenario("# no table\nplace 3\ntable four-card-touch\n")
    with pytest.raises(ScenarioError, match="there is nothing to play"):
        parse_scenario("# only words\n")


def test_amounts_times_and_spots() -> None:
    assert cents("8000.75") == 800_075
    assert (duration_ms("2s"), duration_ms("0ms")) == (2000, 0)
    assert (sensor_id("3"), sensor_id("3B"), sensor_id("07")) == ("3A", "3B", "7A")
