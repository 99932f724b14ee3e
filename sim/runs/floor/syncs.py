"""How long the disk itself takes to sync a block, before play and during it.

A receipt cannot come sooner. A disk that others write to as well is slow now and then, so the same
minute's own syncs stand beside the slowest receipts.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BLOCK_BYTES = 4096
BLOCKS = 200
PROBE_PAUSE_S = 0.025
PROBES_MIN = 10


def syncs_ms(folder: Path, count: int) -> list[float]:
    with _file(folder) as file:
        return [_sync_ms(file, number) for number in range(count)]


class SyncProbe:
    """Syncs a block now and then, on a thread of its own, until the block ends."""

    def __init__(self, folder: Path) -> None:
        self.took_ms: list[float] = []
        self._folder = folder
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sync probe")

    def __enter__(self) -> SyncProbe:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        with _file(self._folder) as file:
            while len(self.took_ms) < PROBES_MIN or not self._ended.wait(PROBE_PAUSE_S):
                self.took_ms.append(_sync_ms(file, len(self.took_ms)))


@contextmanager
def _file(folder: Path) -> Iterator[int]:
    path = folder / "sync"
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        os.pwrite(file, bytes(BLOCK_BYTES * BLOCKS), 0)  # grown before: a sync need not do that
        os.fsync(file)
        yield file
    finally:
        os.close(file)
        path.unlink()


def _sync_ms(file: int, number: int) -> float:
    begun_s = time.perf_counter()
    os.pwrite(file, b"\1" * BLOCK_BYTES, number % BLOCKS * BLOCK_BYTES)
    os.fdatasync(file)
    return (time.perf_counter() - begun_s) * 1000
