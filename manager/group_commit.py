"""Events that are there at the same time share one durable transaction.

It alone decides when the ledger is written: after every reader that is ready has had its turn. A
failed write is final; what was in it was never acknowledged, so the units send it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import apsw

from manager.connection import Connection
from manager.events import Intake, Outcome
from protocol.errors import ErrorCode, ProtocolError
from protocol.messages import Event
from protocol.version import WINDOW


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

    def _write(self) -> None:
        batch, self._arrived = self._arrived, []
        outcomes = self._take(batch)
        if outcomes is None:
            return
        for connection, _ in batch:
            connection.uncommitted_count -= 1
        connections = [connection for connection, _ in batch]
        self._committed(list(zip(connections, outcomes, strict=True)))

    def _take(self, batch: list[tuple[Connection, Event]]) -> list[Outcome] | None:
        """None when the ledger could not be written, now or before."""
        if self._has_failed:
            return None
        self._has_failed = True  # until the commit has returned
        reason = "an event could not be taken in"
        try:
            outcomes = self._intake.take([(each.unit_id, event) for each, event in batch])
            self._has_failed = False
        except apsw.Error as error:
            reason = str(error)
            return None
        finally:
            # Also when something else than the disk failed, which then goes on to be reported.
            if self._has_failed:
                self._failed(reason)
        return outcomes
