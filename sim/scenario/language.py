"""The words of a scenario file, one instruction a line.

It alone knows the grammar: it turns lines into instructions or refuses them with the line number.
What an instruction does is the player's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

STATES = ("open", "locked", "claim", "confirm", "offline", "fault")
LIGHTS = ("off", "detected", "accepted", "refused", "late", "winner", "fault")
SWIPES = ("SUPERVISOR", "EXECUTIVE", "UNKNOWN", "HALF", "GARBAGE")
KEY_POSITIONS = ("RUN", "JPH", "BETWEEN")
BUTTONS = ("START", "END", "CONFIRM", "CANCEL", "JPOT", "ALL")
FAULTS = (
    "nack", "stuck", "mid-byte", "grounded", "short", "lost-irq", "reset", "over-current", "none",
)  # fmt: skip

SPOT = re.compile(r"(\d{1,2})([AB]?)")
MONEY = re.compile(r"(\d{1,12})\.(\d\d)")
DURATION = re.compile(r"(\d{1,9})(ms|s)")
# Every table of the world beats each second of it, so a year would keep a machine busy for hours.
WAIT_MAX_MS = 24 * 3600 * 1000
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


class ScenarioError(Exception):
    """A line that cannot be understood."""


@dataclass(frozen=True)
class Instruction:
    line_number: int
    text: str
    verb: str
    arguments: tuple[str, ...]


def parse_scenario(text: str) -> list[Instruction]:
    instructions = []
    for line_number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#", 1)[0].split()
        if words:
            instructions.append(_parse_line(line_number, words))
    if not instructions:
        raise ScenarioError("line 1: there is nothing to play; a scenario begins with `table NAME`")
    first = instructions[0]
    if first.verb != "table":
        raise ScenarioError(
            f"line {first.line_number}: `{first.text}`: a scenario begins with `table NAME`"
        )
    return instructions


def _parse_line(line_number: int, words: list[str]) -> Instruction:
    text = " ".join(words)
    for verb, parse in GRAMMAR.items():
        key = verb.split()
        if words[: len(key)] == key:
            try:
                arguments = parse(words[len(key) :])
            except ValueError as error:
                raise ScenarioError(f"line {line_number}: `{text}`: {error}") from error
            return Instruction(line_number, text, verb, arguments)
    known = ", ".join(f"`{verb}`" for verb in GRAMMAR)
    raise ScenarioError(f"line {line_number}: `{text}`: is no instruction; there are {known}")


def cents(text: str) -> int:
    match = MONEY.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not an amount such as 8000.75")
    return int(match[1]) * 100 + int(match[2])


def sensor_id(text: str) -> str:
    """`3` is seat 3's first sensor, 3A; `3B` its second."""
    match = SPOT.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a spot such as 3 or 3B")
    return f"{int(match[1])}{match[2] or 'A'}"


def duration_ms(text: str) -> int:
    match = DURATION.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a time such as 500ms or 2s")
    duration = int(match[1]) * (1000 if match[2] == "s" else 1)
    if duration > WAIT_MAX_MS:
        raise ValueError("nobody waits longer than a day")
    return duration


def _nothing(words: list[str]) -> tuple[str, ...]:
    if words:
        raise ValueError(f"{' '.join(words)!r} is too much")
    return ()


def _one(check: Callable[[str], object]) -> Callable[[list[str]], tuple[str, ...]]:
    def parse(words: list[str]) -> tuple[str, ...]:
        if len(words) != 1:
            raise ValueError(f"takes one word, not {len(words)}")
        check(words[0])
        return (words[0],)

    return parse


def _two(
    first: Callable[[str], object], second: Callable[[str], object]
) -> Callable[[list[str]], tuple[str, ...]]:
    def parse(words: list[str]) -> tuple[str, ...]:
        if len(words) != 2:
            raise ValueError(f"takes two words, not {len(words)}")
        first(words[0])
        second(words[1])
        return (words[0], words[1])

    return parse


def _among(known: tuple[str, ...]) -> Callable[[str], object]:
    def check(word: str) -> None:
        if word not in known:
            raise ValueError(f"{word!r} is not one of {', '.join(known)}")

    return check


def _name(word: str) -> None:
    if not NAME.fullmatch(word):
        raise ValueError(f"{word!r} is not a name")


def _count(word: str) -> None:
    if not word.isascii() or not word.isdigit():
        raise ValueError(f"{word!r} is not a whole number")


def _button(words: list[str]) -> tuple[str, ...]:
    if len(words) == 2 and words[0] == "SEAT":
        sensor_id(words[1])
    elif len(words) in (2, 3) and words[0] == "HAND":
        _name(words[1])
        _among(("A", "B"))(*words[2:] or "A")
    elif len(words) > 2 and words[0] == "JOIN":
        for word in words[1:]:
            _count(word)
    elif len(words) != 1 or words[0] not in BUTTONS:
        raise ValueError(f"the buttons are {', '.join(BUTTONS)}, SEAT n, HAND name and JOIN n n")
    return (" ".join(words),)


GRAMMAR: dict[str, Callable[[list[str]], tuple[str, ...]]] = {
    "table": _one(_name),
    "place": _one(sensor_id),
    "remove": _one(sensor_id),
    "press": _button,
    "key": _one(_among(KEY_POSITIONS)),
    "swipe": _one(_among(SWIPES)),
    "tamper": _one(_among(("open", "close"))),
    "fault": _two(_among(FAULTS), _name),
    "power": _one(_among(("cut", "on"))),
    "link": _one(_among(("cut", "restore"))),
    "wait": _one(duration_ms),
    "meter": _two(_name, cents),
    "expect state": _one(_among(STATES)),
    "expect light": _two(sensor_id, _among(LIGHTS)),
    "expect award": _two(sensor_id, cents),
    "expect envy": _two(sensor_id, cents),
    "expect meter": _two(_name, cents),
    "expect wagers": _one(_count),
    "expect refused": _nothing,
    "expect accepted": _nothing,
    "expect late": _two(sensor_id, _among(("added", "removed"))),
}
