"""The words of a scenario file, one instruction a line.

It alone knows the grammar: it turns lines into instructions or refuses them with the line number.
What an instruction does is the player's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from controller.inputs.buttons import KEYPAD_ACTIONS, VOID_FIRST, is_button
from controller.inputs.training_door import TRAIN

STATES = ("open", "locked", "claim", "confirm", "offline", "fault", "closed")
IN_A_ROUND = ("off", "detected", "accepted", "refused", "late", "winner")
LIGHTS = (*IN_A_ROUND, "fault", "find", "service", *(f"training-{light}" for light in IN_A_ROUND))
SWIPES = ("SUPERVISOR", "EXECUTIVE", "UNKNOWN", "HALF", "GARBAGE")
KEY_POSITIONS = ("RUN", "JPH", "BETWEEN")
BUTTONS = (*KEYPAD_ACTIONS, "ALL")  # ALL: every finger at once
FAULTS = (
    "nack", "stuck", "mid-byte", "grounded", "short", "lost-irq", "reset", "over-current", "none",
)  # fmt: skip

SHUFFLER_ACTS = ("noise", "break-off", "garble", "unplug", "plug")

CARD_NAME = re.compile(r"[2-9TJQKA][cdhs]|Jk")
SPOT = re.compile(r"(\d{1,2})([AB]?)")
MONEY = re.compile(r"(\d{1,12})\.(\d\d)")
DURATION = re.compile(r"(\d{1,9})(ms|s)")
# Every table of the world beats each second of it, so a year would keep a machine busy for hours.
WAIT_MAX_MS = 24 * 3600 * 1000
TABLE_COUNT_MAX = 4
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
TABLE_NUMBER = re.compile(r"([1-9]):")


class ScenarioError(Exception):
    """A line that cannot be understood."""


@dataclass(frozen=True)
class Instruction:
    line_number: int
    text: str
    verb: str
    arguments: tuple[str, ...]
    table_number: int = 1  # at which table it happens, in the order in which they were opened


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
    _refuse_tables_not_opened(instructions)
    return instructions


def _refuse_tables_not_opened(instructions: list[Instruction]) -> None:
    opened = 0
    for each in instructions:
        opened += each.verb == "table"
        if each.table_number > opened:
            raise ScenarioError(
                f"line {each.line_number}: `{each.text}`: table {each.table_number} was not"
                " opened before this line"
            )
        if opened > TABLE_COUNT_MAX:
            raise ScenarioError(
                f"line {each.line_number}: `{each.text}`: a floor has at most"
                f" {TABLE_COUNT_MAX} tables"
            )


def _parse_line(line_number: int, words: list[str]) -> Instruction:
    text = " ".join(words)
    number = TABLE_NUMBER.fullmatch(words[0])
    if number and words[1:2] == ["table"]:
        raise ScenarioError(f"line {line_number}: `{text}`: `table` opens the next table by itself")
    words = words[1:] if number else words
    for verb, parse in GRAMMAR.items():
        key = verb.split()
        if words[: len(key)] == key:
            try:
                arguments = parse(words[len(key) :])
            except ValueError as error:
                raise ScenarioError(f"line {line_number}: `{text}`: {error}") from error
            return Instruction(line_number, text, verb, arguments, int(number[1]) if number else 1)
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


def _quoted(words: list[str]) -> tuple[str, ...]:
    text = " ".join(words)
    if len(text) < 3 or text[0] != '"' or text[-1] != '"' or '"' in text[1:-1]:
        raise ValueError('takes words in quotes, such as "Four Card Poker"')
    return (text[1:-1],)


OTHER_BUTTONS = (
    "SEAT n, HAND name, TICK n, REOPEN, VOID, VOID reason, FORGOTTEN n reason, TRAIN and JOIN n n"
)


def _button(words: list[str]) -> tuple[str, ...]:
    """VOID is a list on the panel; alone it stands for the list's first row."""
    button = " ".join(words) if words != ["VOID"] else VOID_FIRST
    if button not in ("ALL", TRAIN) and not is_button(button):
        raise ValueError(f"the buttons are {', '.join(BUTTONS)}, {OTHER_BUTTONS}")
    return (button,)


def _spot_and_cards(words: list[str]) -> tuple[str, ...]:
    if len(words) < 2:
        raise ValueError("takes a seat, or DEALER, and its cards, such as 3 As Kd Jk")
    if words[0] != "DEALER":
        sensor_id(words[0])
    for word in words[1:]:
        if not CARD_NAME.fullmatch(word):
            raise ValueError(f"{word!r} is not a card such as As, Td or Jk")
    return tuple(words)


def _deal(words: list[str]) -> tuple[str, ...]:
    if len(words) not in (1, 2) or words[1:] not in ([], ["cover-all"]):
        raise ValueError("takes a number of hands, and cover-all when it is set to that")
    _count(words[0])
    return tuple(words)


GRAMMAR: dict[str, Callable[[list[str]], tuple[str, ...]]] = {
    "table": _one(_name),
    "place": _one(sensor_id),
    "remove": _one(sensor_id),
    "press": _button,
    "find": _one(_count),
    "key": _one(_among(KEY_POSITIONS)),
    "swipe": _one(_among(SWIPES)),
    "tamper": _one(_among(("open", "close"))),
    "fault": _two(_among(FAULTS), _name),
    "power": _one(_among(("cut", "on"))),
    "link": _one(_among(("cut", "restore"))),
    "wait": _one(duration_ms),
    "meter": _two(_name, cents),
    "back out claim": _one(_count),
    "void game": _one(_count),
    "reverse win": _one(_count),
    "shuffler deals": _deal,
    "shuffler shows": _spot_and_cards,
    "shuffler": _one(_among(SHUFFLER_ACTS)),
    "expect state": _one(_among(STATES)),
    "expect light": _two(sensor_id, _among(LIGHTS)),
    "expect award": _two(sensor_id, cents),
    "expect logged": _two(sensor_id, cents),
    "expect envy": _two(sensor_id, cents),
    "expect due": _two(_count, cents),
    "expect meter": _two(_name, cents),
    "expect wagers": _one(_count),
    "expect refused": _nothing,
    "expect accepted": _nothing,
    "expect title": _quoted,
    "expect sentence": _quoted,
    "expect text": _quoted,
    "expect check": _two(sensor_id, _among(("agrees", "differs", "nothing"))),
    "expect dealt": _one(_count),
    "expect cover-all": _one(_count),
    "expect late": _two(sensor_id, _among(("added", "removed"))),
}
