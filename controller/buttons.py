"""From a button's name to the command it stands for.

The same names serve the touch panel, the keypad and the scenarios. It knows names, not rules.
"""

from __future__ import annotations

from typing import Any, Protocol

from controller.core import commands
from controller.core.rules import Rules


class Table(Protocol):
    rules: Rules

    def verdicts(self) -> list[tuple[str, int]]: ...


def command_of(button: str, table: Table) -> tuple[Any, ...] | None:
    """The command, or None when there is no such button."""
    word, _, rest = button.partition(" ")
    if word == "SEAT":
        seat, letter = commands.parse_seat(rest)
        return commands.seat(seat, letter) if seat else None
    if word == "JOIN":
        seats = [commands.parse_seat(number) for number in rest.split()]
        return commands.join([seat for seat, _ in seats]) if all(s for s, _ in seats) else None
    if word == "HAND":
        hand_id, _, letter = rest.partition(" ")
        return commands.hand(hand_id, letter) if hand_id and _is_letter(letter) else None
    if rest:
        return None
    if word == "START":
        return commands.start(table.verdicts())
    if word == "JPOT":
        return commands.jpot(table.rules.key)
    plain = {"END": commands.end, "CONFIRM": commands.confirm, "CANCEL": commands.cancel}
    return plain[word]() if word in plain else None


def _is_letter(text: str) -> bool:
    """A game's letter, or none."""
    return text == "" or (len(text) == 1 and text.isascii() and text.isupper())
