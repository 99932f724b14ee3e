"""What a technician's functions are given of a unit, and of the place where it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import apsw

from controller.evidence.decision_log import DecisionLog
from controller.evidence.diary import Diary
from controller.felt.references import FeltReferences
from controller.felt.table_felt import TableFelt
from controller.journal.file import JournalFault
from controller.lights.table_lights import TableLights
from controller.link.link import ManagerLink
from controller.service.admission import ServiceRefused
from controller.service.live.event_log import LogTail
from controller.stores import Stores
from controller.table.state import TableState
from hal import aio
from hal.board.open import Board
from hal.errors import WorkerBusy
from hal.worker import Worker
from kit.clock import WallClock
from kit.program_changes import CHANGES_FILE
from protocol.proof.seal import Sealer

View = dict[str, Any]
T = TypeVar("T")


def _no_restart() -> None:
    """Where nobody can start the unit anew."""


@dataclass(frozen=True)
class ServicePlace:
    """What differs for a technician from one place of running a unit to another."""

    data: Path | None = None
    restart: Callable[[], None] = _no_restart
    log: LogTail = field(default_factory=LogTail)
    # Where the kernel's own files are: /sys, /dev.
    root: Path = Path("/")
    changes: Path = CHANGES_FILE  # of the program, as the updater keeps them


@dataclass(frozen=True)
class Around:
    """The parts of the unit that are looked at here."""

    table: TableState
    felt: TableFelt
    lights: TableLights
    link: ManagerLink
    board: Board
    stores: Stores
    disk: Worker
    evidence_disk: Worker
    references: FeltReferences
    wall_ms: WallClock
    diary: Diary
    decisions: DecisionLog
    sealer: Sealer | None
    resumed: aio.Event
    table_view: Callable[[], View]


async def on_disk(worker: Worker, job: Callable[[], T]) -> T:
    """A disk that fails or is busy is a sentence for the technician, and no end of the table."""
    try:
        return await worker.run(job)
    except (apsw.Error, JournalFault, WorkerBusy, OSError) as error:
        raise ServiceRefused(f"The unit's disk cannot be read now: {error}.") from error
