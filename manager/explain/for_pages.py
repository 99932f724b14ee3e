"""Explanations for pages: one at a time, giving way to the tables, and a page of lines at once."""

from __future__ import annotations

import asyncio
from typing import Any

from manager.explain.plain import as_plain
from manager.explain.statement import explain_steps
from manager.ledger.store.ledger import Ledger

PAGE_LINES = 500


class Explanations:
    def __init__(self, store: Ledger) -> None:
        self._store = store
        self._turn = asyncio.Lock()

    async def explain(self, number: int, page: int = 0) -> dict[str, Any] | None:
        """A win's explanation; page 0 has no single line, page 1 the first of them."""
        first = (page - 1) * PAGE_LINES
        window = range(first, first + PAGE_LINES) if page else range(0)
        async with self._turn:
            steps = explain_steps(self._store, number, window)
            while True:
                try:
                    next(steps)
                except StopIteration as end:
                    return _paged(as_plain(end.value), page) if end.value else None
                await asyncio.sleep(0)


def _paged(story: dict[str, Any], page: int) -> dict[str, Any]:
    longest = max((each["line_count"] for each in story["stories"]), default=0)
    return {**story, "page": page, "page_count": -(-longest // PAGE_LINES)}
