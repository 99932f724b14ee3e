"""The meters as they go out to tables: encoded once for all that show the same.

It alone knows how often a change of the meters goes out. A frame tells which transaction it rests
on, and leaves only when that one is durable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from manager.ledger.book import Book
from protocol.wire.messages import Meters
from protocol.wire.rows import LabelledMeter

METERS_PER_S_MAX = 5


class MeterFrame(NamedTuple):
    number: int  # of the transaction that it rests on
    payload: bytes


class MeterFrames:
    def __init__(self, book: Book, now_ms: Callable[[], int]) -> None:
        self._book = book
        self._now_ms = now_ms
        self._made: dict[tuple[tuple[str, str], ...], MeterFrame] = {}

    def of(self, table_id: str) -> MeterFrame:
        """The meters of one table, as memory has them now."""
        number = self._book.store.tail().number
        wanted = self._book.tables.rules(table_id).meter_labels
        made = self._made.get(wanted)
        if made is None or made.number != number:
            made = self._made[wanted] = self._make(number, wanted)
        return made

    def when_durable(self, then: Callable[[], None]) -> None:
        """Calls it when every frame so far may leave."""
        self._book.store.commits.when_durable(then)

    def _make(self, number: int, wanted: tuple[tuple[str, str], ...]) -> MeterFrame:
        state = self._book.jackpots.state
        shown = tuple(LabelledMeter(name, label, state(name).shown_cents) for name, label in wanted)
        return MeterFrame(number, Meters(number, shown, self._now_ms()).encode())


class Pacer:
    """Calls `show` at once after a change, and then at most so many times a second."""

    def __init__(self, show: Callable[[], None], per_s_max: int = METERS_PER_S_MAX) -> None:
        self._show = show
        self._pause_s = 1 / per_s_max
        self._next_s = 0.0
        self._is_due = False

    def changed(self) -> None:
        if self._is_due:
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._next_s:
            self._show_now()
        else:
            self._is_due = True
            loop.call_at(self._next_s, self._show_now)

    def _show_now(self) -> None:
        self._is_due = False
        self._next_s = asyncio.get_running_loop().time() + self._pause_s
        self._show()
