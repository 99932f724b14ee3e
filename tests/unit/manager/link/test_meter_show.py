"""Amounts for everybody: what happens when the books cannot be read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from manager.ledger.engines.engine import StorageFailed
from manager.link.meter_show import MeterShow


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
