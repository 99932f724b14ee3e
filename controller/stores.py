"""The files of a unit: its journal, and what it keeps beside it.

It alone knows which of them a unit can do without. The journal it cannot: a unit without one stays
closed and says why. Traces, the felt's memory and the spots' health are kept in memory on a disk
that cannot hold them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from controller.data_folder import black_box_path, felt_path, health_path
from controller.evidence.black_box import TraceStore
from controller.evidence.health_store import HealthStore
from controller.felt.felt_memory import FeltStore
from controller.journal.file import JournalFault
from controller.journal.journal import Journal
from controller.journal.recovery.opening import open_journal, opened_or_closed
from kit.clock import WallClock

log = logging.getLogger("controller.stores")

Store = TypeVar("Store")


@dataclass
class StoreOpeners:
    """How each of a unit's stores is opened. Calls block; they are made on the disk's worker."""

    journal: Callable[[], Journal]
    traces: Callable[[], TraceStore]
    felt: Callable[[], FeltStore]
    health: Callable[[], HealthStore]


@dataclass(frozen=True)
class Stores:
    """What `open_unit` opened, and `Unit.close` closes."""

    journal: Journal
    traces: TraceStore
    felt: FeltStore
    health: HealthStore

    def close(self) -> None:
        """All of them, whatever state the disk is in: what was kept is durable already."""
        with _without_disk():
            self.journal.close()
        with _without_disk():
            self.felt.close()
        with _without_disk():
            self.health.close()
        self.traces.close()


def in_folder(data: Path, serial: str, wall_ms: WallClock) -> StoreOpeners:
    return StoreOpeners(
        journal=lambda: opened_or_closed(lambda: open_journal(data, serial, wall_ms())),
        traces=partial(kept_or_in_memory, TraceStore, str(black_box_path(data))),
        felt=partial(kept_or_in_memory, FeltStore.opened, str(felt_path(data))),
        health=partial(kept_or_in_memory, HealthStore, str(health_path(data))),
    )


def kept_or_in_memory(open_store: Callable[[str], Store], path: str) -> Store:
    """Evidence beside the journal; a disk that cannot hold it costs only the evidence."""
    try:
        return open_store(path)
    except apsw.Error as error:
        log.error("%s is kept in memory only: %s", Path(path).name, error)
        return open_store(":memory:")


@contextmanager
def _without_disk() -> Iterator[None]:
    """A disk that failed or lost its power cannot be tidied up, and need not be."""
    with suppress(JournalFault, apsw.Error):
        yield
