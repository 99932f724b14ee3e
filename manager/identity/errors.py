"""What the room of identities refuses, as a sentence for the person who asked."""

from __future__ import annotations


class IdentityError(Exception):
    """Something about a unit's identity cannot be done; the sentence says what and why."""


class WrongCode(IdentityError):  # noqa: N818 - a guess, for all anybody knows
    """An enrolment code that nobody made; whoever tried it waits for the answer."""

    def __init__(self, sentence: str, delay_s: int) -> None:
        super().__init__(sentence)
        self.delay_s = delay_s
