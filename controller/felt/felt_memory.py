"""What the felt read last, kept for the next start: where its zero is, and which chips lie there.

It alone knows the file and how often it is written: only when something changed, and at most once a
second. A power cut may cost the last change, and what then lies there was not seen to come. It
belongs to one calibration: after another it counts for nothing. What cannot be read is forgotten,
and a damaged file with it; the felt then has to prove itself (`controller.core.felt.zero_proof`).
"""

from __future__ import annotations

import contextlib
import json
import logging
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import apsw

from controller.core.felt.spot import Spot
from controller.core.felt.surface import Surface
from hal import aio
from hal.worker import Worker
from kit.migrations import statements

log = logging.getLogger("controller.felt.felt_memory")

LOOK_EVERY_MS = 5000
SAVE_AFTER_MS = 1000
# In chips: smaller changes are noise, and not worth a write.
WORTH_SAVING = 0.02
DAMAGES = (apsw.NotADBError, apsw.CorruptError)
FILE_ENDINGS = ("", "-wal", "-shm")


Memory = tuple[float, list[tuple[str, float, float | None]]]


class FeltStore:
    """The memory on disk. Calls block; the caller runs them on the disk's worker."""

    def __init__(self, path: str, vfs: str | None = None) -> None:
        self._connection = apsw.Connection(path, vfs=vfs)
        try:
            self._configure()
        except BaseException:
            self.close()
            raise

    @classmethod
    def opened(cls, path: str) -> FeltStore:
        """The store in this file. A damaged file is begun anew: what it held is worth no repair."""
        try:
            return cls(path)
        except DAMAGES as damage:
            log.error("%s is damaged and begun anew: %s", path, damage)
        for ending in FILE_ENDINGS:
            # On a disk that lets nothing go it is found damaged once more, and says so.
            with contextlib.suppress(OSError):
                Path(path + ending).unlink(missing_ok=True)
        return cls(path)

    def _configure(self) -> None:
        # Nobody else reads it. What is kept is durable when `keep` returns, with a single sync.
        self._connection.pragma("locking_mode", "exclusive")
        self._connection.pragma("journal_mode", "wal")
        self._connection.pragma("synchronous", "full")
        self._connection.execute(statements(__package__, "felt_memory.sql"))
        # Damage below the first page shows only to one who looks; the file has few pages.
        (found,) = self._connection.execute("PRAGMA quick_check(1)").fetchall()[0]
        if found != "ok":
            raise apsw.CorruptError(found)

    def keep(self, calibration: int, memory: Memory) -> None:
        shared, spots = memory
        self._connection.execute(
            "INSERT OR REPLACE INTO felt VALUES (1, ?, ?, ?)",
            (calibration, shared, json.dumps(spots)),
        )

    def read(self, calibration: int) -> Memory | None:
        row = self._connection.execute(
            "SELECT shared, spots FROM felt WHERE calibration = ?", (calibration,)
        ).fetchone()
        if row is None:
            return None
        return row[0], [(sensor, damp, level) for sensor, damp, level in json.loads(row[1])]

    def close(self) -> None:
        self._connection.close(True)


class FeltMemory:
    """Tells the surface what it knew before the power went, and keeps what it knows now."""

    def __init__(
        self,
        store: FeltStore,
        disk: Worker,
        surface: Surface,
        references: Mapping[str, int],
        spots: Mapping[str, Spot],
        may_write: Callable[[], bool],
    ) -> None:
        """`may_write`: whether the disk on which all of it lies is still sound."""
        self._store = store
        self._disk = disk
        self._surface = surface
        self._may_write = may_write
        self._calibration = _fingerprint(references, spots)
        self._kept: Memory | None = None
        self._card_failed = False
        self._changed = aio.Event()

    async def restore(self) -> None:
        """Before the first reading."""
        try:
            self._kept = await self._disk.run(partial(self._store.read, self._calibration))
        except (apsw.Error, ValueError) as error:
            log.error("what the felt read before is forgotten: %s", error)
        if self._kept is not None:
            self._surface.remember(*self._kept)

    def look_again(self) -> None:
        """A spot changed."""
        self._changed.set()

    async def run(self) -> None:
        while True:
            await aio.wait_set_ms(self._changed, LOOK_EVERY_MS)
            await aio.sleep_ms(SAVE_AFTER_MS)
            self._changed.clear()
            await self._save()

    async def _save(self) -> None:
        may_write = self._may_write() and not self._card_failed
        memory = self._surface.memory() if may_write else None
        if memory is None or (self._kept is not None and not _is_news(self._kept, memory)):
            return
        try:
            await self._disk.run(partial(self._store.keep, self._calibration, memory))
        except apsw.Error as error:
            log.error("what the felt reads is not kept any more: %s", error)
            self._card_failed = True  # a sync that failed is never tried again
            return
        self._kept = memory


def _is_news(kept: Memory, memory: Memory) -> bool:
    def differs(one: float | None, other: float | None) -> bool:
        if one is None or other is None:
            return one is not other
        return abs(one - other) > WORTH_SAVING

    pairs = zip(kept[1], memory[1], strict=True)
    return differs(kept[0], memory[0]) or any(
        differs(was[1], now[1]) or differs(was[2], now[2]) for was, now in pairs
    )


def _fingerprint(references: Mapping[str, int], spots: Mapping[str, Spot]) -> int:
    scales = {sensor: spot.calibration.chip_delta for sensor, spot in spots.items()}
    return zlib.crc32(json.dumps([dict(references), scales], sort_keys=True).encode())
