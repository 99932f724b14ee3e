"""Events that are there at the same time share one durable commit.

It alone decides when the ledger is written: after every reader that is ready has had its turn. A
failed write is final; what was in it was never acknowledged, so the units send it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from manager.intake.intake import Intake, Outcome
from manager.ledger.engines.engine import StorageFailed
from manager.link.connection import Connection
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.messages import Event
from protocol.wire.version import WINDOW

BATCH_MAX = 500  # beyond it, what came first does not wait for all the rest


class GroupCommit:
    """`committed` hears of every event that is durable, `failed` once when no more can be."""

    def __init__(
        self,
        intake: Intake,
        committed: Callable[[Sequence[tuple[Connection, Outcome]]], None],
        failed: Callable[[str], None],
    ) -> None:
        self._intake = intake
        self._committed = committed
        self._failed = failed
        self._arrived: list[tuple[Connection, Event]] = []
        self._has_failed = False

    def add(self, connection: Connection, event: Event) -> None:
        """Takes an event in with the next transaction; a unit may have only so many waiting."""
        if connection.uncommitted_count >= WINDOW:
            sentence = f"More than {WINDOW} events were sent without waiting for their receipt."
            raise ProtocolError(ErrorCode.RATE, sentence)
        connection.uncommitted_count += 1
        if not self._arrived:
            asyncio.get_running_loop().call_soon(self._write)
        self._arrived.append((connection, event))

    async def all_written(self) -> None:
        """Returns when nothing waits any more; each round of the loop writes a batch."""
        for _ in range(len(self._arrived) // BATCH_MAX + 2):
            await asyncio.sleep(0)

    def _write(self) -> None:
        batch, self._arrived = self._arrived[:BATCH_MAX], self._arrived[BATCH_MAX:]
        if self._arrived:
            asyncio.get_running_loop().call_soon(self._write)
        outcomes = self._take(batch)
        if outcomes is None:
            return
        connections = [connection for connection, _ in batch]
        self._intake.when_durable(lambda: self._durable(connections, outcomes))

    def _durable(self, connections: list[Connection], outcomes: list[Outcome]) -> None:
        for connection in connections:
            connection.uncommitted_count -= 1
        self._committed(list(zip(connections, outcomes, strict=True)))

    def _take(self, batch: list[tuple[Connection, Event]]) -> list[Outcome] | None:
        """None when the ledger could not be written, now or before."""
        if self._has_failed:
            return None
        self._has_failed = True  # until every step of the batch stands
        reason = "an event could not be taken in"
        try:
            outcomes = self._intake.take([(each.unit_id, event) for each, event in batch])
            self._has_failed = False
        except StorageFailed as error:
            reason = str(error)
            return None
        finally:
            # Also when something else than the disk failed, which then goes on to be reported.
            if self._has_failed:
                self._failed(reason)
        return outcomes
