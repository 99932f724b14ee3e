"""Tells the table's parts that something happened: each command once, after it has been applied.

It alone knows what the panel last said and who wants to hear that the round changed. It decides
nothing: who listens looks for himself at what is true by now.
"""

from __future__ import annotations

from collections.abc import Callable

from controller.table.answer import Answer
from hal import aio
from kit.web.version_signal import VersionSignal

OLD_MS = 3_600_000

Message = tuple[int, str, str]
"""Number, kind ("info" or "refused") and text."""


class TableNews:
    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self.shown = VersionSignal()
        self.message: Message = (0, "info", "")
        self._said_at_ms = aio.ticks_ms()
        self._is_old = False
        self.refusal_count = 0

    def listen(self, listener: Callable[[], None]) -> None:
        """Called whenever a command was answered or the journal grew."""
        self._listeners.append(listener)

    def announce(self, answer: Answer, spoken: str) -> None:
        """A command is durable and applied, or refused. `spoken` is what the person did, if any."""
        self._note(answer, spoken)
        for listener in self._listeners:
            listener()
        self.shown.bump()

    def say(self, answer: Answer, spoken: str) -> None:
        """An answer without a round behind it: nothing was recorded."""
        self._note(answer, spoken)
        self.shown.bump()

    def tell(self, sentence: str) -> None:
        """News that nobody at the table asked for."""
        self._said_at_ms, self._is_old = aio.ticks_ms(), False
        self.message = (self.message[0] + 1, "info", sentence)
        self.shown.bump()

    def last_word(self) -> tuple[str, str, int]:
        """Kind and text of what was said last, and how many milliseconds ago; "" when long ago."""
        _number, kind, text = self.message
        age_ms = aio.ticks_diff(aio.ticks_ms(), self._said_at_ms)
        # Ticks wrap, so what is old is marked as old.
        self._is_old = self._is_old or not 0 <= age_ms < OLD_MS
        return ("info", "", 0) if self._is_old else (kind, text, age_ms)

    def _note(self, answer: Answer, spoken: str) -> None:
        number = self.message[0] + 1
        if spoken or not answer.accepted:
            self._said_at_ms, self._is_old = aio.ticks_ms(), False
        if not answer.accepted:
            self.refusal_count += 1
            self.message = (number, "refused", answer.sentence)
        elif spoken:
            self.message = (number, "info", "")
