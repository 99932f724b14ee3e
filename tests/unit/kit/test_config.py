"""The reader of configuration files by itself: shapes, places, and what it does with bad ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

from kit.config import (
    Choice,
    Complaint,
    ConfigError,
    Document,
    Named,
    Rows,
    Text,
    Values,
    Whole,
    load,
    parse,
    read,
    refusal,
    shown,
)


@dataclass(frozen=True)
class Lamp:
    colour: Annotated[str, Choice(("white", "amber"))]
    pins: Annotated[tuple[int, ...], Values(Whole(0, 9))] = ()

    def check(self) -> Iterator[Complaint]:
        if len(set(self.pins)) != len(self.pins):
            yield ("pins",), "has a pin twice."


@dataclass(frozen=True)
class Room:
    lamps: Annotated[tuple[Lamp, ...], Rows(Lamp, 1)]
    doors: Annotated[Mapping[str, int], Named(Whole(1, 3))]
    owner: Annotated[str, Text()] = "nobody"

    def check(self) -> Iterator[Complaint]:
        if len(self.lamps) > len(self.doors):
            yield ("doors",), "are fewer than the lamps."


GOOD = """\
[doors]
north = 1
south = 2
[[lamps]]
colour = "white"
pins = [1, 2]
[[lamps]]
colour = "amber"
"""


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(parse(text, "room.toml"), Room)
    return str(caught.value).splitlines()


def test_a_document_becomes_its_dataclasses() -> None:
    room = read(parse(GOOD), Room)
    assert room == Room((Lamp("white", (1, 2)), Lamp("amber")), {"north": 1, "south": 2})


def test_every_wrong_value_is_told_with_its_place_and_key() -> None:
    text = GOOD.replace("[1, 2]", "[1, 20]").replace("amber", "blue").replace("= 2", "= 9")
    assert problems(text) == [
        "room.toml:3:9: doors.south: 9 is not between 1 and 3.",
        "room.toml:6:12: lamps[1].pins[2]: 20 is not between 0 and 9.",
        'room.toml:8:10: lamps[2].colour: "blue" is not known; known are white, amber.',
    ]


def test_what_does_not_fit_is_told_of_every_table_whose_values_are_good() -> None:
    text = GOOD.replace("[1, 2]", "[1, 1]").replace("amber", "blue")
    assert problems(text) == [
        "room.toml:6:8: lamps[1].pins: has a pin twice.",
        'room.toml:8:10: lamps[2].colour: "blue" is not known; known are white, amber.',
    ]
    assert problems(GOOD.replace("south = 2\n", "")) == [
        "room.toml:1:1: doors: are fewer than the lamps."
    ]


def test_a_refusal_made_later_gets_its_place_from_the_document_once() -> None:
    document = parse(GOOD, "room.toml")
    with pytest.raises(ConfigError) as caught, document.placing(), document.placing():
        raise refusal(("lamps", 1, "colour"), "is too bright.")
    assert str(caught.value) == "room.toml:8:10: lamps[2].colour: is too bright."


def test_values_that_came_from_no_text_have_a_key_and_no_place() -> None:
    with pytest.raises(ConfigError) as caught:
        read(Document({"lamps": []}), Room, path=("house", "hall"))
    assert str(caught.value).splitlines() == [
        "house.hall.lamps: must be one or more tables.",
        "house.hall.doors: is missing.",
    ]


def test_a_name_that_its_writer_chose_is_checked_too() -> None:
    text = GOOD.replace("south = 2", '" south" = 2\n"" = 3')
    assert [line.partition(": ")[2] for line in problems(text)] == [
        'doors." south": its name has spaces around it or unprintable characters.',
        'doors."": its name must be 1 to 64 characters.',
    ]


def test_a_file_with_windows_line_ends_has_the_same_places() -> None:
    text = GOOD.replace("amber", "blue")
    assert problems(text.replace("\n", "\r\n")) == problems(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (7, "7"),
        (-1.5, "-1.5"),
        ("a\nb", '"a\\nb"'),
        ("x" * 50, f'"{"x" * 40}..."'),
        ([1], "an array"),
        ({}, "a table"),
        (16**5000, "a number beyond 64 bits"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_what_is_repeated_is_short_and_on_one_line(value: Any, text: str) -> None:
    assert shown(value) == text


def test_a_table_that_others_read_too_may_have_their_keys() -> None:
    @dataclass(frozen=True)
    class Part:
        door: Annotated[int, Whole(0, 1)]

    document = Document({"door": 1, "roof": 2})
    assert read(document, Part, keys=("door", "roof")).door == 1
    with pytest.raises(ConfigError, match="roof: is not a key this version knows; here it knows d"):
        read(document, Part)
    with pytest.raises(ConfigError, match="here it knows door, wall"):
        read(document, Part, keys=("door", "wall"))


def test_a_field_without_a_shape_is_a_mistake_of_ours() -> None:
    @dataclass(frozen=True)
    class Careless:
        door: int

    with pytest.raises(TypeError, match=r"Careless\.door has no shape"):
        read(Document({"door": 1}), Careless)


def test_a_file_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(ConfigError, match=r"^/dev/zero: is longer than 256 kB"):
        load(Path("/dev/zero"))
