"""The buttons of a table: one vocabulary for the panel, the keypad, the bench and the scenarios.

It alone knows what a button is called, which command it stands for, and which buttons the panel of
a table offers. A keypad has the keys that its table's file names, by the same names. Whether a
press is allowed now is decided by the round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from controller.core.round import commands
from controller.core.round.rules import Game
from hal import aio
from protocol import numbers

# In the order of the panel's bottom row.
TOUCH_ACTIONS = (commands.START, commands.CANCEL, commands.CONFIRM, commands.END)
KEYPAD_ACTIONS = (
    commands.START,
    commands.CANCEL,
    commands.CONFIRM,
    commands.JPOT,
    commands.END,
)
# What any panel could send. It has one button per seat; of two games, the hand's row tells which.
PANEL_BUTTON = re.compile(
    r"START|END|CONFIRM|CANCEL|JPOT|SEAT [1-9][0-9]?|HAND [a-z0-9][a-z0-9-]{0,47}( [AB])?"
    r"|JOIN( [1-9][0-9]?){2,12}|TICK [1-9][0-9]?|REOPEN|VOID [a-z-]{1,20}|TRAIN"
    r"|FIND [1-9][0-9]?|FORGOTTEN [1-9][0-9]{0,11} [a-z-]{1,20}"
)

ROUND_DIGITS_MAX = 12

# The first of the reasons that the panel lists under VOID GAME.
VOID_FIRST = f"{commands.VOID} {numbers.VOID_REASONS[0]}"

# Asks the table for nothing but light, so the round does not know it.
FIND = "FIND"

Verdicts = Callable[[], list[tuple[str, int]]]


def command_of(button: str, key_position: str, verdicts: Verdicts) -> tuple[Any, ...] | None:
    """The command, or None when there is no such button."""
    word, _, rest = button.partition(" ")
    if word == commands.SEAT:
        seat, letter = commands.parse_seat(rest)
        return commands.seat(seat, letter) if seat else None
    if word == commands.TICK:
        seat, letter = commands.parse_seat(rest)
        return commands.tick(seat, aio.ticks_ms()) if seat and not letter else None
    if word == commands.JOIN:
        seats = [commands.parse_seat(number) for number in rest.split()]
        return commands.join([seat for seat, _ in seats]) if all(s for s, _ in seats) else None
    if word == commands.HAND:
        hand_id, _, letter = rest.partition(" ")
        return commands.hand(hand_id, letter) if hand_id and _is_letter(letter) else None
    if word == commands.VOID:
        return commands.void(rest) if rest else None
    if word == commands.FORGOTTEN:
        return _forgotten(rest)
    if rest:
        return None
    if word == commands.START:
        return commands.start(verdicts())
    if word == commands.JPOT:
        return commands.jpot(key_position)
    plain = {
        commands.END: commands.end,
        commands.CONFIRM: commands.confirm,
        commands.CANCEL: commands.cancel,
        commands.REOPEN: commands.reopen,
    }
    return plain[word]() if word in plain else None


def _forgotten(rest: str) -> tuple[Any, ...] | None:
    """An earlier game by its number, and why its win was not entered in it."""
    number, _, reason = rest.partition(" ")
    is_number = number.isascii() and number.isdigit() and len(number) <= ROUND_DIGITS_MAX
    return commands.forgotten(int(number), reason, [], [], []) if is_number and reason else None


def sought_seat(button: str) -> int:
    """The seat that a FIND asks for, 0 for any other button."""
    word, _, rest = button.partition(" ")
    seat, letter = commands.parse_seat(rest) if word == FIND else (0, "")
    return 0 if letter else seat


def is_button(button: str) -> bool:
    """Whether some table could have it, on its panel or its keypad."""
    return command_of(button, "", list) is not None


def actions(workflow: str) -> tuple[str, ...]:
    return KEYPAD_ACTIONS if workflow == numbers.WORKFLOW_KEYPAD else TOUCH_ACTIONS


def panel_buttons(workflow: str, seat_count: int, games: Sequence[Game]) -> list[str]:
    """Every button of a table's panel: the actions, a seat each, and each game's hands."""
    seats = [f"{commands.SEAT} {seat}" for seat in range(1, seat_count + 1)]
    hands = [
        hand_button(hand.hand_id, game.letter if len(games) > 1 else "")
        for game in games
        for hand in game.hands
    ]
    return [*actions(workflow), *seats, *hands]


def after_a_win_buttons(workflow: str, seat_count: int) -> list[str]:
    """Those of a touch panel's pay list (this seat was handed its due), to go back, and to void.

    VOID has a button for each reason; the first stands for them all here.
    """
    if workflow == numbers.WORKFLOW_KEYPAD:
        return []
    ticks = [f"{commands.TICK} {seat}" for seat in range(1, seat_count + 1)]
    return [*ticks, commands.REOPEN, VOID_FIRST]


def hand_button(hand_id: str, letter: str) -> str:
    return f"{commands.HAND} {hand_id} {letter}".rstrip()


def is_joining(button: str, seat_count: int) -> bool:
    """Whether it joins two seats or more of the table's own: two fingers on the panel's seats."""
    word, *seats = button.split(" ")
    known = [str(seat) for seat in range(1, seat_count + 1)]
    return word == commands.JOIN and len(seats) > 1 and all(seat in known for seat in seats)


def is_with_reason(button: str, workflow: str) -> bool:
    """Whether it asks a supervisor for something, with its reason, as a touch panel can."""
    word, _, rest = button.partition(" ")
    asks = word in (commands.VOID, commands.FORGOTTEN) and rest != ""
    return asks and workflow == numbers.WORKFLOW_TOUCH


def _is_letter(text: str) -> bool:
    """A game's letter, or none."""
    return text == "" or (len(text) == 1 and text.isascii() and text.isupper())
