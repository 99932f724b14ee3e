"""Makes durable what the table was told and decided, a few seconds after it happened.

It is evidence, not state: a disk that fails costs rows, never a round. The worker is that of the
black box, so no bet waits behind it. What the rows say is `controller/decided.py`'s.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import apsw
import cbor2

from controller.decided import DecidedLog
from controller.evidence.black_box import TraceStore
from hal import aio
from hal.errors import WorkerBusy
from hal.worker import Worker

log = logging.getLogger("controller.evidence.decision_log")

KEEP_EVERY_MS: Final = 5000
# Of the file in a bundle; a reader that does not know it says so and compares the rest.
VERSION: Final = 1


class DecisionLog:
    def __init__(self, decided: DecidedLog, store: TraceStore, disk: Worker) -> None:
        self._decided = decided
        self._store = store
        self._disk = disk
        self._turn = aio.Lock()

    async def run(self) -> None:
        while True:
            await aio.sleep_ms(KEEP_EVERY_MS)
            await self.keep()

    async def keep(self) -> None:
        async with self._turn:  # nothing is kept twice
            await self._keep()

    async def file(self) -> bytes:
        """Everything that is kept, and what waits for the disk; a dead disk costs the former."""
        rows: list[bytes] = []
        rules: dict[bytes, bytes] = {}
        async with self._turn:
            try:
                rows, rules = await self._disk.run(self._store.decided)
            except (apsw.Error, WorkerBusy) as error:
                log.error("what was decided earlier cannot be read: %s", error)
            return decided_file([*rows, *self._decided.rows], {**rules, **self._decided.rules})

    async def _keep(self) -> None:
        waiting, rules = list(self._decided.rows), dict(self._decided.rules)
        if not waiting:
            return
        try:
            await self._disk.run(partial(self._store.keep_decided, waiting, rules))
        except (apsw.Error, WorkerBusy) as error:
            log.error("what was decided was not kept: %s", error)
            return
        # More may have come meanwhile, and may have pushed out some of these.
        kept = set(map(id, waiting))
        while self._decided.rows and id(self._decided.rows[0]) in kept:
            self._decided.rows.popleft()


def decided_file(rows: Sequence[bytes], rules: Mapping[bytes, bytes]) -> bytes:
    return cbor2.dumps({"version": VERSION, "rows": list(rows), "rules": dict(rules)})
