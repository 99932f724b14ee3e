"""The last ten changes of this unit's program: shown to a technician, and told to the manager.

The updater keeps them. Each is journaled once, as a use of service, when the table that runs finds
it. Which was told last is a small file beside the journal, whose old records go.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from controller.service.admission import ServiceRefused
from hal import aio
from hal.worker import Worker
from kit import program_spool
from kit.files import private_folder, write_durably
from kit.program_changes import CHANGES_FILE, HERE_FILE, read_changes
from kit.program_news import UPDATE_FOLDER
from protocol.wire import events
from protocol.wire.fields import clipped
from protocol.wire.program_steps import PROGRAM_CHANGE

LOOK_EVERY_MS: Final = 5000
TOLD: Final = "changes-told"
FILE_BYTES_MAX: Final = 1024

Record = Callable[[events.EventBody], Awaitable[object]]


class UpdatePlace(NamedTuple):
    """Where a unit from the image meets its updater."""

    folder: Path  # the table's own
    update: Path = UPDATE_FOLDER
    here: Path = HERE_FILE

    @property
    def changes(self) -> Path:
        return self.update / CHANGES_FILE.name


def image_place(data: Path, here: Path = HERE_FILE) -> UpdatePlace | None:
    """None for a unit that was installed by hand."""
    return UpdatePlace(data / program_spool.FOLDER) if here.exists() else None


async def tell_changes(place: UpdatePlace, record: Record, worker: Worker) -> None:
    """Until it is cancelled. `worker` is one that no bet waits for."""
    private_folder(place.folder)
    while True:
        for line in await worker.run(partial(untold, place)):
            await record(events.Service(PROGRAM_CHANGE, "", line))
            await worker.run(partial(write_durably, place.folder / TOLD, line))
        await aio.sleep_ms(LOOK_EVERY_MS)


def lines(file: Path = CHANGES_FILE) -> list[str]:
    """Newest last, as people read them and as they fit the journal."""
    return [clipped(each.line()) for each in read_changes(file)]


def untold(place: UpdatePlace) -> list[str]:
    """Those after the one that was told last; all when that one is not among the ten any more."""
    try:
        with (place.folder / TOLD).open("rb") as file:
            told = file.read(FILE_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        told = ""
    known = lines(place.changes)
    return known[known.index(told) + 1 :] if told in known else known


def show_changes(file: Path = CHANGES_FILE, here: Path = HERE_FILE) -> int:
    """The tech's command."""
    if not here.exists():
        raise ServiceRefused(
            "This unit was installed by hand, so nobody keeps a log of its programs."
        )
    for line in lines(file) or ["Its program was not changed yet."]:
        print(line)
    return 0
