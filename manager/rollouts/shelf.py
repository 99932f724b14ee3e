"""The updates that people brought: files in the manager's own folder, each named by its digest.

It alone knows the folder. A file comes in pieces, or as a whole by a command; it is bounded before
it is written, and the ledger's own room is never touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Final

from kit.files import OWNER_ONLY, private_folder, sync_folder, write_private
from manager.ledger.errors import LedgerError
from manager.rollouts.manifest import read_manifest
from protocol.wire.rows import PROGRAM_BYTES_MAX

FOLDER: Final = "updates"
KEPT_MAX: Final = 4
PIECE_BYTES: Final = 1024 * 1024
ROOM_LEFT_BYTES: Final = 1024 * 1024 * 1024  # for the ledger, which lies on the same disk
UPLOAD: Final = "upload.part"
TOO_LARGE: Final = f"An update has at most {PROGRAM_BYTES_MAX >> 20} MB."
TOO_FULL: Final = "This manager's disk is too full for that update. The books need the rest."
TOO_MANY: Final = f"{KEPT_MAX} updates are kept already; remove one first."
NOT_IN_TURN: Final = "The file did not come as one piece; begin again."


@dataclass(frozen=True, slots=True)
class Kept:
    digest: str  # SHA-256 of the file, in hex
    version: str
    board: str
    bytes: int
    brought_by: str
    brought_ms: int


def free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


class UpdateShelf:
    """`upload` is the name under which a file comes; a command has one of its own."""

    def __init__(
        self, data: Path, free: Callable[[Path], int] = free_bytes, upload: str = UPLOAD
    ) -> None:
        self._folder = private_folder(data / FOLDER)
        self._free = free
        self._upload = self._folder / upload

    def all(self) -> list[Kept]:
        """Newest first."""
        found = [self.find(path.stem) for path in self._folder.glob("*.json")]
        return sorted((each for each in found if each), key=lambda each: -each.brought_ms)

    def find(self, digest: str) -> Kept | None:
        try:
            kept = Kept(**json.loads(self._label(digest).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        path = self._bundle(kept.digest)
        is_whole = path.is_file() and path.stat().st_size == kept.bytes
        return kept if is_whole and kept.digest == digest else None

    def read(self, digest: str, place: int, count: int) -> bytes:
        """Some of it, at once; what comes next is fetched from the disk meanwhile."""
        handle = os.open(self._bundle(digest), os.O_RDONLY)
        try:
            content = os.pread(handle, count, place)
            os.posix_fadvise(handle, place + count, count, os.POSIX_FADV_WILLNEED)
            return content
        finally:
            os.close(handle)

    def add(self, file: BinaryIO, by: str, now_ms: int) -> Kept:
        """A whole file, by a command."""
        place = 0
        while piece := file.read(PIECE_BYTES):
            self.piece(place, piece)
            place += len(piece)
        return self.finish(by, now_ms)

    def piece(self, place: int, content: bytes) -> None:
        """The next piece of a file that comes; place 0 begins a new one."""
        path = self._upload
        if place == 0:
            path.unlink(missing_ok=True)
            if len(self.all()) >= KEPT_MAX:
                raise LedgerError(TOO_MANY)
        elif not path.exists() or path.stat().st_size != place:
            raise LedgerError(NOT_IN_TURN)
        try:
            self._check_room(place + len(content), len(content))
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, OWNER_ONLY)
            with os.fdopen(handle, "ab") as file:
                file.write(content)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise LedgerError(TOO_FULL) from error
        except LedgerError:
            path.unlink(missing_ok=True)
            raise

    def finish(self, by: str, now_ms: int) -> Kept:
        """All of it has come: it is looked at, and kept by its digest."""
        path = self._upload
        if not path.exists():
            raise LedgerError(NOT_IN_TURN)
        try:
            with path.open("rb") as file:
                manifest = read_manifest(file)
                file.seek(0)
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                os.fsync(file.fileno())
        except (OSError, LedgerError) as error:
            path.unlink(missing_ok=True)
            if isinstance(error, LedgerError):
                raise
            raise LedgerError(f"The file cannot be read: {error.strerror}.") from error
        size = path.stat().st_size
        kept = Kept(digest, manifest.version, manifest.board, size, by, now_ms)
        path.replace(self._bundle(digest))
        sync_folder(self._folder)
        write_private(self._label(digest), json.dumps(asdict(kept)).encode())
        return kept

    def remove(self, digest: str) -> None:
        """The label first: a file without one is nobody's."""
        self._label(digest).unlink(missing_ok=True)
        self._bundle(digest).unlink(missing_ok=True)

    def _check_room(self, size: int, more: int) -> None:
        if size > PROGRAM_BYTES_MAX:
            raise LedgerError(TOO_LARGE)
        if self._free(self._folder) < more + ROOM_LEFT_BYTES:
            raise LedgerError(TOO_FULL)

    def _bundle(self, digest: str) -> Path:
        return self._folder / f"{digest}.raucb"

    def _label(self, digest: str) -> Path:
        return self._folder / f"{digest}.json"
