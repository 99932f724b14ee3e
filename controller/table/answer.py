"""What the table says to whoever asked something of it: taken or not, and the sentence for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    accepted: bool
    sentence: str


TAKEN = Answer(True, "")
