"""A question on the text display: choices that CANCEL goes through and CONFIRM takes.

It is plain data and a place in it. Which questions there are, and what an answer does, is known in
`keypad_dialog`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    label: str
    # The button that this answer stands for, or the name of what is asked next.
    answer: str


class Question:
    def __init__(self, name: str, title: str, choices: Sequence[Choice]) -> None:
        self.name = name
        self.title = title
        self.choices = list(choices)
        self.place = 0

    @property
    def label(self) -> str:
        return self.choices[self.place].label

    @property
    def answer(self) -> str:
        return self.choices[self.place].answer

    @property
    def mark(self) -> str:
        return f"{self.place + 1}/{len(self.choices)}" if len(self.choices) > 1 else ""

    def next(self) -> bool:
        """Goes to the next choice; False behind the last one."""
        self.place += 1
        return self.place < len(self.choices)
