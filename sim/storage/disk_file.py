"""One file of the simulated disk: what programs see, what the medium holds, what is in between.

It alone knows how a write is torn. Names, faults and power belong to `sim.storage.disk`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Final

import apsw

SECTOR_BYTES: Final = 512

# Of the writes not yet synced when the power goes.
KEPT_SHARE: Final = 0.4
LOST_SHARE: Final = 0.3  # the rest is torn


@dataclass(frozen=True)
class _Write:
    offset: int
    data: bytes

    def apply(self, content: bytearray) -> None:
        if len(content) < self.offset:
            content.extend(bytes(self.offset - len(content)))
        content[self.offset : self.offset + len(self.data)] = self.data

    def apply_torn(self, content: bytearray, chance: random.Random) -> None:
        for part in self.sectors():
            if chance.random() < 0.5:
                part.apply(content)

    def sectors(self) -> list[_Write]:
        """The same write, cut at the sectors' borders; a sector is written whole or not at all."""
        parts = []
        start, end = self.offset, self.offset + len(self.data)
        while start < end:
            stop = min(end, (start // SECTOR_BYTES + 1) * SECTOR_BYTES)
            parts.append(_Write(start, self.data[start - self.offset : stop - self.offset]))
            start = stop
        return parts


@dataclass(frozen=True)
class _Truncate:
    size_bytes: int

    def apply(self, content: bytearray) -> None:
        del content[self.size_bytes :]

    def apply_torn(self, content: bytearray, chance: random.Random) -> None:
        """The length of a file is one number: it changed or it did not."""
        if chance.random() < 0.5:
            self.apply(content)


@dataclass(eq=False)
class DiskFile:
    live: bytearray = field(default_factory=bytearray)
    _durable: bytearray = field(default_factory=bytearray)
    _pending: list[_Write | _Truncate] = field(default_factory=list)
    _locks: dict[object, int] = field(default_factory=dict)

    def write(self, data: bytes, offset: int) -> None:
        self._change(_Write(offset, data))

    def truncate(self, size_bytes: int) -> None:
        self._change(_Truncate(size_bytes))

    def _change(self, change: _Write | _Truncate) -> None:
        change.apply(self.live)
        self._pending.append(change)

    def sync(self) -> None:
        for change in self._pending:
            change.apply(self._durable)
        self._pending.clear()

    def after_cut(self, chance: random.Random) -> bytearray:
        """What the medium would hold: each change that was not synced is kept, lost or torn."""
        content = bytearray(self._durable)
        for change in self._pending:
            drawn = chance.random()
            if drawn < KEPT_SHARE:
                change.apply(content)
            elif drawn >= KEPT_SHARE + LOST_SHARE:
                change.apply_torn(content, chance)
        return content

    def lose_power(self, chance: random.Random) -> None:
        """The power went; nobody holds a lock any more."""
        self._durable = self.after_cut(chance)
        self._pending.clear()
        self._locks.clear()
        self.live = bytearray(self._durable)

    def lock(self, holder: object, level: int) -> None:
        """SQLite's lock levels: shared, reserved, pending, exclusive."""
        others = max((held for each, held in self._locks.items() if each is not holder), default=0)
        limits = {
            apsw.SQLITE_LOCK_SHARED: apsw.SQLITE_LOCK_RESERVED,
            apsw.SQLITE_LOCK_RESERVED: apsw.SQLITE_LOCK_SHARED,
        }
        if others > limits.get(level, apsw.SQLITE_LOCK_NONE):
            raise apsw.BusyError("another program holds the file")
        self._locks[holder] = max(level, self._locks.get(holder, apsw.SQLITE_LOCK_NONE))

    def unlock(self, holder: object, level: int) -> None:
        if level == apsw.SQLITE_LOCK_NONE:
            self._locks.pop(holder, None)
        elif holder in self._locks:
            self._locks[holder] = level

    def is_reserved(self) -> bool:
        return any(held >= apsw.SQLITE_LOCK_RESERVED for held in self._locks.values())
