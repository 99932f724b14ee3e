"""Amounts for everybody: encoded once, seldom enough, and what happens when they cannot be read."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from manager.ledger.engines.engine import StorageFailed
from manager.link.meter_frames import METERS_PER_S_MAX, MeterFrames, Pacer
from manager.link.meter_show import MeterShow
from protocol.wire.messages import Meters, decode
from sim.time.loop import run_virtual
from tests.kit.pretend_books import Books, document
from tests.kit.pretend_units import Desk


def test_books_that_cannot_be_read_are_told_and_nothing_is_shown() -> None:
    """Catches: going on after the failure, to amounts that were never read."""

    def failing(table_id: str) -> Any:
        raise StorageFailed("the disk is gone")

    shown: list[object] = []
    told: list[str] = []
    frames: Any = SimpleNamespace(of=failing, when_durable=shown.append)
    connection: Any = SimpleNamespace(table_id="touch-1")
    MeterShow(frames, {"UF-1": connection}, told.append).to_all()
    assert (told, shown) == (["the disk is gone"], [])


@pytest.mark.parametrize(
    ("count", "parts"), [(1, 1), (25, 1), (26, 2), (500, 20), (501, 20), (600, 20), (1_001, 20)]
)
def test_a_floor_is_told_in_at_most_so_many_parts(count: int, parts: int) -> None:
    """Catches: a large floor in parts of 25, whose last tables hear of a win too late."""

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        began_s, told_s = loop.time(), list[float]()
        line: Any = SimpleNamespace(table_id="t", show=lambda _meters: told_s.append(loop.time()))
        frames: Any = SimpleNamespace(of=lambda _table: None, when_durable=lambda then: then())
        MeterShow(frames, dict.fromkeys(map(str, range(count)), line), pytest.fail).to_all()
        await asyncio.sleep(1)
        assert len(told_s) == count
        assert len(set(told_s)) == parts
        assert max(told_s) - began_s == pytest.approx((parts - 1) * 0.005)

    run_virtual(scenario())


def test_amounts_wait_for_the_receipts_of_their_commit() -> None:
    """Catches: amounts that are written before what was queued in the same turn of the loop."""

    async def scenario() -> None:
        told: list[str] = []
        line: Any = SimpleNamespace(table_id="t", show=lambda _meters: told.append("amounts"))
        frames: Any = SimpleNamespace(of=lambda _table: None, when_durable=lambda then: then())
        asyncio.get_running_loop().call_soon(told.append, "receipt")
        MeterShow(frames, {"UF-1": line}, pytest.fail).to_all()
        await asyncio.sleep(0.1)
        assert told == ["receipt", "amounts"]

    run_virtual(scenario())


def test_the_same_meters_are_made_once_until_something_is_booked() -> None:
    desk = Desk()
    for table_id in ("touch-1", "touch-2"):
        desk.open_table(table_id)
    frames = MeterFrames(desk.manager.book, desk.clock)
    first = frames.of("touch-1")
    assert frames.of("touch-2") is first
    desk.start("touch-1", 1, "1A", "2A", "3A", "4A")
    second = frames.of("touch-1")
    assert second.number == desk.store.tail().number > first.number
    told = decode(second.payload)
    assert isinstance(told, Meters)
    assert told.meters[0].shown_cents == 1_000_100


def test_changes_that_come_together_are_shown_at_once_and_once_more() -> None:
    """Catches: a further look for each change while one is due already."""

    async def scenario() -> None:
        shown: list[float] = []
        loop = asyncio.get_running_loop()
        pacer = Pacer(lambda: shown.append(loop.time()), per_s_max=5)
        began_s = loop.time()
        for _ in range(4):
            pacer.changed()
        await asyncio.sleep(1)
        assert shown == pytest.approx([began_s, began_s + 0.2])
        pacer.changed()
        assert len(shown) == 3

    run_virtual(scenario())


def test_amounts_go_out_five_times_a_second_at_most() -> None:
    """Catches: a frame for each wager of a busy floor."""

    async def scenario() -> int:
        shown: list[None] = []
        pacer = Pacer(lambda: shown.append(None))
        for _ in range(990):
            pacer.changed()
            await asyncio.sleep(0.001)
        return len(shown)

    assert METERS_PER_S_MAX == 5
    assert run_virtual(scenario()) == METERS_PER_S_MAX


def test_tables_that_show_the_same_get_the_same_bytes() -> None:
    """Catches: the amounts encoded anew for each of hundreds of tables."""
    books = Books()
    books.open(document())
    books.open(document("touch-2"), "touch-2")
    frames = MeterFrames(books.manager.book, lambda: 0)
    first = frames.of("touch-1")
    assert frames.of("touch-2") is first
    books.start("touch-1", 1, "1A")
    moved = frames.of("touch-2")
    assert moved.number > first.number
    assert frames.of("touch-1") is moved
