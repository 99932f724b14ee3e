"""Amounts that have changed, to every table that is connected.

They wait for their commit once for all. A large floor gets them a part after the other, with pauses
in which receipts have their turn: hundreds of writes in one go would hold them up. How often the
amounts go out, and what a frame holds, is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from manager.ledger.engines.engine import StorageFailed
from manager.link.connection import Connection
from manager.link.meter_frames import MeterFrame, MeterFrames

PARTS_MAX = 20  # of a floor
PART_MIN = 25  # connections; a small floor is one part
PAUSE_S = 0.005  # between two parts: the last one follows within a tenth of a second


class MeterShow:
    """`failed` hears when the books cannot be read."""

    def __init__(
        self,
        frames: MeterFrames,
        connections: Mapping[str, Connection],
        failed: Callable[[str], None],
    ) -> None:
        self._frames = frames
        self._connections = connections
        self._failed = failed

    def to_all(self) -> None:
        try:
            shown = [(each, self._frames.of(each.table_id)) for each in self._connections.values()]
        except StorageFailed as error:
            self._failed(str(error))
            return
        part_count = max(PART_MIN, -(-len(shown) // PARTS_MAX))
        # In a turn of its own: receipts of the same commit are written before it.
        self._frames.when_durable(lambda: _show_soon(shown, part_count))


def _show_soon(shown: list[tuple[Connection, MeterFrame]], part_count: int) -> None:
    asyncio.get_running_loop().call_soon(_show, shown, part_count)


def _show(shown: list[tuple[Connection, MeterFrame]], part_count: int) -> None:
    for connection, meters in shown[:part_count]:
        connection.show(meters)
    rest = shown[part_count:]
    if rest:
        asyncio.get_running_loop().call_later(PAUSE_S, _show, rest, part_count)
