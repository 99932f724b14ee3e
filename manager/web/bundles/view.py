"""What the pages show of bundles: requests under way, what is kept, and one of them opened.

Opening unpacks what a unit sent, so it is done on a thread: no table waits for a large one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from manager.bundles.opened import open_kept
from manager.bundles.requests import BundleRequests
from manager.bundles.shelf import Kept
from protocol.bundle.archive import Bundle

View = dict[str, Any]


class BundlesView:
    def __init__(
        self,
        requests: BundleRequests,
        keys_of: Callable[[str], Sequence[bytes]],
        ask: Callable[[str, str], str],
    ) -> None:
        self._requests = requests
        self._keys_of = keys_of
        self.ask = ask

    def kept(self) -> list[View]:
        shelf = self._requests.shelf
        return [_row(each) for each in shelf.all()] if shelf else []

    def waiting(self) -> list[View]:
        return [
            {
                "unit": each.unit_id,
                "table": each.table_id,
                "by": each.asked_by,
                "asked_ms": each.asked_ms,
                "percent": len(each.content) * 100 // each.total if each.total else 0,
            }
            for each in self._requests.waiting()
        ]

    async def content(self, number: int) -> bytes | None:
        shelf = self._requests.shelf
        if shelf is None or shelf.find(number) is None:
            return None
        return await asyncio.to_thread(shelf.content, number)

    async def opened(self, number: int) -> View | None:
        content = await self.content(number)
        kept = self._requests.shelf.find(number) if self._requests.shelf else None
        if content is None or kept is None:
            return None
        keys = self._keys_of(kept.unit_id)
        opened = await asyncio.to_thread(open_kept, kept, content, keys)
        return {
            **_row(kept),
            "problem": opened.problem,
            "doubts": opened.bundle.doubts if opened.bundle else (),
            "causes": opened.causes,
            **_said(opened.bundle),
        }


def _row(kept: Kept) -> View:
    return {
        "number": kept.number,
        "unit": kept.unit_id,
        "table": kept.table_id,
        "by": kept.asked_by,
        "came_ms": kept.came_ms,
        "kilobytes": max(1, kept.bytes // 1024),
    }


def _said(bundle: Bundle | None) -> View:
    """What the unit wrote on it; a unit may write anything."""
    head = bundle.head if bundle else {}
    missing = head.get("missing")
    return {
        "software": str(head.get("software", ""))[:80],
        "missing": [str(why)[:200] for why in missing.values()] if type(missing) is dict else [],
    }
