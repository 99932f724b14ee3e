"""Amounts for everybody: what happens when the books cannot be read."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from manager.ledger.engines.engine import StorageFailed
from manager.link.meter_frames import Pacer
from manager.link.meter_show import MeterShow
from sim.time.loop import run_virtual


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
