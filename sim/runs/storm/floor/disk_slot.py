"""The slot of a unit's disk in a storm: the disk in it, and how the journal on it is opened.

It alone knows that another disk may be put in, and who then hears of its cuts and changes.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from controller.journal.journal import Journal
from kit.clock import WallClock
from sim.storage.disk import SimDisk

JOURNAL_FILE = "journal.sqlite"
# Small, because every table's disk is in memory.
WAL_BYTES = 64 * 1024


class DiskSlot:
    def __init__(
        self,
        seed: str,
        clock: WallClock,
        on_cut: Callable[[], None],
        on_change: Callable[[], None],
    ) -> None:
        self._clock = clock
        self._on_cut = on_cut
        self._on_change = on_change
        self._journal_ids = random.Random(f"{seed}/journal")
        self.disk = SimDisk(random.Random(f"{seed}/disk"))
        self._listen()

    def insert(self, disk: SimDisk) -> None:
        """Another disk in the slot, before the first boot."""
        self.disk.close()
        self.disk = disk
        self._listen()

    def open_journal(self) -> Journal:
        self.disk.restore()
        return Journal.open(
            JOURNAL_FILE,
            vfs=self.disk.vfs_name,
            new_journal_id=self._journal_ids.randbytes,
            created_wall_ms=self._clock(),
            wal_bytes=WAL_BYTES,
        )

    def _listen(self) -> None:
        self.disk.on_cut = self._on_cut
        self.disk.on_change = self._on_change
