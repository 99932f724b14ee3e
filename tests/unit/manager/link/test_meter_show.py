"""Amounts that have changed reach every table soon, and leave receipts their turn on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from manager.ledger.engines.engine import StorageFailed
from manager.link.connection import Connection
from manager.link.meter_frames import METERS_PER_S_MAX, MeterFrame
from manager.link.meter_show import MeterShow
from sim.time.loop import run_virtual

FRAME = MeterFrame(1, b"the amounts")


class Table:
    """A connection that notes when it was shown the amounts."""

    def __init__(self, number: int) -> None:
        self.table_id = f"table-{number}"
        self.shown_s: list[float] = []

    def show(self, shown: MeterFrame) -> None:
        assert shown == FRAME
        self.shown_s.append(asyncio.get_running_loop().time())


class Frames:
    def __init__(self, failure: str = "") -> None:
        self._failure = failure
        self.waiting: list[Callable[[], None]] = []

    def of(self, table_id: str) -> MeterFrame:
        if self._failure:
            raise StorageFailed(self._failure)
        return FRAME

    def when_durable(self, then: Callable[[], None]) -> None:
        self.waiting.append(then)


def show_on(frames: Frames, tables: list[Table], failed: Callable[[str], None]) -> MeterShow:
    connections = {each.table_id: cast(Connection, each) for each in tables}
    return MeterShow(cast(Any, frames), connections, failed)


def never(reason: str) -> None:
    raise AssertionError(reason)


@pytest.mark.parametrize("count", [1, 25, 26, 500, 2000])
def test_every_table_is_shown_once_before_the_next_amounts_may_go_out(count: int) -> None:
    """Catches: a part that is left out, and a floor that never gets to its last part."""

    async def main() -> None:
        tables, frames = [Table(number) for number in range(count)], Frames()
        show_on(frames, tables, never).to_all()
        assert not any(each.shown_s for each in tables)  # they are not durable yet
        frames.waiting.pop()()
        await asyncio.sleep(1 / METERS_PER_S_MAX)
        assert [len(each.shown_s) for each in tables] == [1] * count
        assert max(each.shown_s[0] for each in tables) < 0.1

    run_virtual(main())


def test_a_receipt_does_not_wait_for_the_whole_floor() -> None:
    """Catches: 500 writes in one go, which every receipt of that moment waits for."""

    async def main() -> None:
        tables, frames = [Table(number) for number in range(500)], Frames()
        show_on(frames, tables, never).to_all()
        frames.waiting.pop()()
        before = sum(len(each.shown_s) for each in tables)
        await asyncio.sleep(0.001)
        assert before == sum(len(each.shown_s) for each in tables) == 25

    run_virtual(main())


def test_books_that_cannot_be_read_are_told() -> None:
    async def main() -> None:
        heard: list[str] = []
        show_on(Frames("the disk is gone"), [Table(1)], heard.append).to_all()
        assert heard == ["the disk is gone"]

    run_virtual(main())
