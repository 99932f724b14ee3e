"""Who asked which unit for a bundle, and how much of it has come.

A request lives in memory: it changes nothing at a table, and after a restart it is made again by
one click. That it was made is an entry of the chain, which the page writes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from manager.bundles.shelf import BundleShelf, Kept
from manager.ledger.errors import LedgerError
from protocol.wire.fields import clipped
from protocol.wire.messages import BundlePart
from protocol.wire.rows import BundleWish

_log = logging.getLogger(__name__)

WAITS_MS = 30 * 60 * 1000  # a unit whose link or round lasts longer is asked again by a person
NAME_MAX_BYTES = 40
NO_SHELF = "This manager has no folder to keep bundles in."

Wishes = tuple[BundleWish, ...]


@dataclass
class Asked:
    number: int
    unit_id: str
    table_id: str
    asked_by: str
    asked_ms: int
    total: int = 0
    content: bytearray = field(default_factory=bytearray)


class BundleRequests:
    """One request for each unit at most. `shelf` is given where the manager has a folder."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self.shelf: BundleShelf | None = None
        self._now_ms = now_ms
        self._asked: dict[str, Asked] = {}
        self._last_number = 0

    def ask(self, unit_id: str, table_id: str, asked_by: str) -> Wishes:
        """What the unit has to be told from now on."""
        if self.shelf is None:
            raise LedgerError(NO_SHELF)
        if self.waits(unit_id) is not None:
            raise LedgerError(f"Unit {unit_id} is asked for a bundle already; it has not come yet.")
        # By the time, so that no unit takes it for a request that an earlier manager made.
        self._last_number = max(self._last_number + 1, self._now_ms())
        self._asked[unit_id] = Asked(self._last_number, unit_id, table_id, asked_by, self._now_ms())
        return self.wishes(unit_id)

    def wishes(self, unit_id: str) -> Wishes:
        """For the next heartbeat to this unit."""
        asked = self.waits(unit_id)
        if asked is None:
            return ()
        by = clipped(asked.asked_by, NAME_MAX_BYTES)
        return (BundleWish(asked.number, len(asked.content), by),)

    def waits(self, unit_id: str) -> Asked | None:
        asked = self._asked.get(unit_id)
        if asked is not None and self._now_ms() - asked.asked_ms > WAITS_MS:
            _log.warning("unit %s sent no bundle in time; the request is given up", unit_id)
            del self._asked[unit_id]
            return None
        return asked

    def waiting(self) -> list[Asked]:
        found = [self.waits(unit_id) for unit_id in list(self._asked)]
        return [each for each in found if each is not None]

    def take(self, unit_id: str, part: BundlePart) -> bool:
        """Some more bytes; True when the bundle is whole and kept.

        A part that nobody asked for, or that came before, is passed over: a lost link explains it.
        """
        asked = self.waits(unit_id)
        if asked is None or part.request != asked.number:
            return False
        if part.total != asked.total:  # the unit started anew meanwhile, and made another one
            asked.total = part.total
            asked.content.clear()
        if part.place != len(asked.content) or part.place + len(part.content) > part.total:
            return False
        asked.content += part.content
        if len(asked.content) < asked.total:
            return False
        del self._asked[unit_id]
        return self._keep(asked)

    def _keep(self, asked: Asked) -> bool:
        kept = Kept(
            asked.number,
            asked.unit_id,
            asked.table_id,
            asked.asked_by,
            self._now_ms(),
            asked.total,
        )
        try:
            if self.shelf is not None:
                self.shelf.keep(kept, bytes(asked.content))
        except OSError as error:
            # The books go on: a full disk must not cost a table its link for a bundle.
            _log.error("the bundle of unit %s cannot be kept: %s", asked.unit_id, error)
            return False
        return True
