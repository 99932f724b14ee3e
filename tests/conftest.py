"""What every test gets: a check that it left no asyncio task behind.

Async tests are plain functions that hand a coroutine to `sim.loop.run_virtual`.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def no_task_left_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails a test that ends while a task it started is neither finished nor cancelled."""
    loops: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()
    original_init = asyncio.BaseEventLoop.__init__

    def remembering_init(self: asyncio.BaseEventLoop, *args: Any, **kwargs: Any) -> None:
        original_init(self, *args, **kwargs)
        loops.add(self)

    monkeypatch.setattr(asyncio.BaseEventLoop, "__init__", remembering_init)
    yield
    left = sorted(task.get_name() for loop in loops for task in asyncio.all_tasks(loop))
    assert not left, f"the test left these tasks behind: {', '.join(left)}"
