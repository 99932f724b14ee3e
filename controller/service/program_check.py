"""Whether the program that runs is the one that was installed and approved.

It is asked at each start and every hour. A release that is not whole, or not signed by the key that
this unit trusts, keeps the table closed until one that is in order has been started. A checkout has
no manifest and is not asked: its version says `-dev`.
"""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Final

from controller.journal.record_table import RecordTable
from controller.service.admission import ServiceRefused
from controller.table.faults import FaultBoard
from hal import aio
from hal.worker import Worker
from kit.program_news import NEWS_FILE
from kit.release_files import MANIFEST
from kit.signed_release import (
    KEY_FILE,
    Finding,
    check_release,
    seeded_digest,
    seeded_file_digest,
)
from kit.version import RELEASE, RELEASE_FILE
from protocol.wire import events
from protocol.wire.fields import clipped

log = logging.getLogger("controller.service")

FUNCTION: Final = "verify"
EVERY_MS: Final = 60 * 60 * 1000
LOOK_BACK_MAX: Final = 64
SEED_CHARACTERS_MIN: Final = 8
SOUND, NOT_SOUND = 0, 1


class ProgramCheck:
    """The release in one folder, and what was last found there."""

    def __init__(
        self,
        folder: Path,
        key_file: Path = KEY_FILE,
        release: str = RELEASE,
        news_file: Path = NEWS_FILE,
    ) -> None:
        self.news_file = news_file  # what has become of an update, where there are any
        self._folder = folder
        self._key_file = key_file
        self._release = release
        self._finding = Finding("it was not looked at yet")

    async def look(self, faults: FaultBoard, worker: Worker) -> None:
        """`worker` is one that no bet waits for: reading all files takes a moment."""
        look = partial(check_release, self._folder, self._key_file)
        self._finding = await worker.run(look)
        if self._finding.fault:
            log.critical(result_of(self._release, self._finding))
        faults.set("program", "unit", closing_sentence(self._finding), stops_play=True)

    async def run(self, faults: FaultBoard, worker: Worker) -> None:
        while True:
            await aio.sleep_ms(EVERY_MS)
            await self.look(faults, worker)

    def news(self, records: RecordTable) -> events.Service | None:
        """The last finding for the journal, unless the check before it ended the same."""
        result = clipped(result_of(self._release, self._finding))
        if _last_result(records) == result:
            return None
        return events.Service(FUNCTION, "", result)


def installed_program(key_file: Path = KEY_FILE) -> ProgramCheck | None:
    """None in a checkout. Where a key is laid down, nothing passes for a checkout."""
    folder = RELEASE_FILE.parent
    if not (RELEASE_FILE.exists() or (folder / MANIFEST).exists() or key_file.exists()):
        return None
    return ProgramCheck(folder, key_file)


def closing_sentence(finding: Finding) -> str:
    """What the panel says, "" when the program may run. Which file it is, the log says."""
    if not finding.fault:
        return ""
    return "The program on this unit is not the one that was approved. Call a technician."


def result_of(release: str, finding: Finding) -> str:
    """One line for the journal, the manager and the inspector."""
    if finding.fault:
        return f"{release} is not as approved: {finding.fault}"
    if finding.signed_by:
        return f"{release} is whole, signed by the key {finding.signed_by}"
    return f"{release} is whole; this unit trusts no key, so nobody's signature was asked for"


def _last_result(records: RecordTable) -> str:
    """How the newest check in the journal ended, "" when none of the newest records is one."""
    sequence = records.last_sequence_of(events.SERVICE)
    for _ in range(LOOK_BACK_MAX):
        if not sequence:
            return ""
        told = events.Service.from_body(records.after(sequence - 1, 1)[0].body)
        if told.function == FUNCTION:
            return told.result
        sequence = records.last_sequence_of(events.SERVICE, before_sequence=sequence)
    return ""


def show_program(folder: Path | None, key_file: Path, seed: str, slot: Path | None) -> int:
    """The tech's and the inspector's command. 0 when the release is in order, else 1."""
    if seed and len(seed) < SEED_CHARACTERS_MIN:
        raise ServiceRefused(f"A seed has at least {SEED_CHARACTERS_MIN} characters.")
    place = folder or RELEASE_FILE.parent
    release = RELEASE if folder is None else str(folder)
    finding = check_release(place, key_file)
    print(result_of(release, finding))
    try:
        if seed:
            print(f"seeded digest of {place}: {seeded_digest(place, seed.encode())}")
        if seed and slot:
            print(f"seeded digest of {slot}: {seeded_file_digest(slot, seed.encode())}")
    except OSError as error:
        raise ServiceRefused(f"It cannot be read: {error}.") from error
    return NOT_SOUND if finding.fault else SOUND
