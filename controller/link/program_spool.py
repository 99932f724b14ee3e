"""A new program on its way from the manager to the updater: the bytes that have come, on the disk.

The table has no rights to install anything. It lays the whole bundle where the updater, which runs
as root, finds it, and reads from the updater's files what became of it. Each call is for a worker
that no bet waits for.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from kit.files import private_folder, sync_folder, write_durably
from kit.program_changes import read_changes, read_pending, read_version
from kit.program_news import (
    INSTALLED,
    PROVING,
    ROLLED_BACK,
    RUNS_ALREADY,
    STOPPED,
    TAKEN,
    UPDATED,
    WAITS,
    WRITING,
    read_news,
)
from kit.program_spool import ENDING, READY, STOP
from protocol.wire.fields import clipped
from protocol.wire.program_steps import Step
from protocol.wire.rows import PROGRAM_REASON_BYTES, ProgramOffer

INCOMING: Final = "incoming.part"
LABEL: Final = "incoming.json"
ROOM_LEFT_BYTES: Final = 48 * 1024 * 1024  # journal and traces go on being written
HASH_BYTES: Final = 4 * 1024 * 1024  # at once: whoever needs the worker waits for so much

_STEPS: Final = {
    TAKEN: Step.HANDED_OVER,
    WAITS: Step.HANDED_OVER,
    WRITING: Step.WRITING,
    INSTALLED: Step.INSTALLED,
    PROVING: Step.TRIED,
    RUNS_ALREADY: Step.KEPT,
    ROLLED_BACK: Step.ROLLED_BACK,
}

Standing = tuple[Step, str]


class NoRoom(Exception):  # noqa: N818
    """The disk is too full for it."""


def free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


class ProgramSpool:
    """`folder` is the table's own; `update` and `here` are the updater's and the image's."""

    def __init__(
        self, folder: Path, update: Path, here: Path, free: Callable[[Path], int] = free_bytes
    ) -> None:
        self._folder = folder
        self._update = update
        self._here = here
        self._free = free

    # ---- what the updater says ----

    def standing(self, offer: ProgramOffer) -> Standing | None:
        """What became of this program; None as long as it has to be fetched."""
        digest = offer.digest.hex()
        pending = read_pending(self._update / "pending.json")
        running = read_version(self._here)
        if pending is not None and pending.digest == digest:
            return (Step.TRIED if pending.version == running else Step.INSTALLED), ""
        changes = read_changes(self._update / "changes.json")
        ended = [each for each in changes if each.digest == digest]
        if ended:
            is_kept = ended[-1].result == UPDATED
            reason = clipped(ended[-1].reason, PROGRAM_REASON_BYTES)
            return (Step.KEPT, "") if is_kept else (Step.ROLLED_BACK, reason)
        news = read_news(self._update / "news.json")
        if news is not None and news.digest == digest and news.code != STOPPED:
            return _told(news.code)
        if pending is None and offer.version and running == offer.version:
            return Step.KEPT, RUNS_ALREADY
        if (self._folder / READY / f"{digest}{ENDING}").exists():
            return Step.HANDED_OVER, ""
        return None

    # ---- what comes from the manager ----

    def begin(self, offer: ProgramOffer) -> int:
        """Where it goes on: what has come of the same program before is kept."""
        private_folder(self._folder)
        private_folder(self._folder / READY)
        (self._folder / STOP).unlink(missing_ok=True)
        part, label = self._folder / INCOMING, self._label(offer)
        if self._read_label() != label or _size(part) > offer.size:
            part.unlink(missing_ok=True)
        come = _size(part)
        if self._free(self._folder) < offer.size - come + ROOM_LEFT_BYTES:
            part.unlink(missing_ok=True)
            raise NoRoom
        write_durably(self._folder / LABEL, json.dumps(label))
        return come

    def append(self, place: int, content: bytes) -> None:
        """Synced each time: no record of a game ever waits for more than this to reach the disk."""
        with (self._folder / INCOMING).open("r+b" if place else "wb") as file:
            file.seek(place)
            file.write(content)
            file.truncate()  # which also hands what is buffered to the system
            os.fdatasync(file.fileno())

    def hashing(self) -> Iterator[bytes | None]:
        """The digest of what has come, after as many None as it has pieces."""
        found = hashlib.sha256()
        with (self._folder / INCOMING).open("rb") as file:
            while piece := file.read(HASH_BYTES):
                found.update(piece)
                yield None
        yield found.digest()

    def hand_over(self, offer: ProgramOffer) -> None:
        ready = self._folder / READY
        (self._folder / INCOMING).replace(ready / f"{offer.digest.hex()}{ENDING}")
        sync_folder(ready)
        (self._folder / LABEL).unlink(missing_ok=True)

    def throw_away(self) -> None:
        for name in (INCOMING, LABEL):
            (self._folder / name).unlink(missing_ok=True)

    def withdraw(self) -> None:
        """The manager offers nothing any more: what was not written yet is not written."""
        self.throw_away()
        if self._folder.is_dir():
            for each in (self._folder / READY).glob(f"*{ENDING}"):
                each.unlink(missing_ok=True)
            (self._folder / STOP).touch()

    def _label(self, offer: ProgramOffer) -> dict[str, str | int]:
        return {"digest": offer.digest.hex(), "size": offer.size}

    def _read_label(self) -> object:
        try:
            return json.loads((self._folder / LABEL).read_bytes())
        except (OSError, ValueError):
            return None


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _told(code: str) -> Standing:
    step = _STEPS.get(code, Step.REFUSED)
    return step, (code if step in (Step.REFUSED, Step.KEPT) or code == WAITS else "")
