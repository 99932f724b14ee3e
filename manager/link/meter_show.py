"""Amounts that have changed, to every table that is connected.

They wait for their commit once for all, and go out a part of the floor at a time, so that what
units say meanwhile has its turn. How often that is, and what a frame holds, is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from manager.ledger.engines.engine import StorageFailed
from manager.link.connection import Connection
from manager.link.meter_frames import MeterFrame, MeterFrames

AT_ONCE = 50  # connections in one turn of the loop


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
        self._frames.when_durable(lambda: self._show(shown))

    def _show(self, shown: list[tuple[Connection, MeterFrame]]) -> None:
        for connection, meters in shown[:AT_ONCE]:
            connection.show(meters)
        if shown[AT_ONCE:]:
            asyncio.get_running_loop().call_soon(self._show, shown[AT_ONCE:])
