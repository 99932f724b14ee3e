"""The journal of a simulated unit on its disk: opened at each boot, set aside by a tech.

It alone knows whether a journal must be there already: after the first boot a disk without one is
a fault, unless a tech set it aside.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from controller.journal.journal import Journal
from controller.journal.recovery.opening import opened_or_closed
from kit.clock import WallClock
from sim.storage.disk import SimDisk

JOURNAL_FILE = "journal.sqlite"
# Small, because every table's disk is in memory.
WAL_BYTES = 256 * 1024


class JournalFile:
    def __init__(
        self, disk: Callable[[], SimDisk], unit_id: str, wall_ms: WallClock, seed: int
    ) -> None:
        """`disk` is asked at each boot: somebody may have put another one in."""
        self._disk = disk
        self._unit_id = unit_id
        self._wall_ms = wall_ms
        self._ids = random.Random(seed)
        self._must_exist = False

    def open_at_boot(self) -> Journal:
        """As the unit's program does; a journal that cannot be used closes the table."""
        self._disk().restore()
        return opened_or_closed(self.open)

    def open(self) -> Journal:
        journal = Journal.open(
            JOURNAL_FILE,
            vfs=self._disk().vfs_name,
            new_journal_id=self._ids.randbytes,
            created_wall_ms=self._wall_ms(),
            wal_bytes=WAL_BYTES,
            unit_id=self._unit_id,
            must_exist=self._must_exist,
        )
        self._must_exist = True
        return journal

    def set_aside(self) -> None:
        """A tech did that with the file: the next journal may be new."""
        self._must_exist = False
