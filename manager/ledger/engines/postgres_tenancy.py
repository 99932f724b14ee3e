"""Whether the lease in a database is that of a process that has died on this very machine.

A file beside the manager says who took the lease last, and its lock is held for as long as that
process lives: a stopped one holds it, too. Whoever gets the lock knows that the process in the file
is gone. The file speaks only where it was written, since this machine was started: a copy of it
says nothing. Who may write is decided by the fence alone, not here.
"""

from __future__ import annotations

import fcntl
import logging
import os
from pathlib import Path

_log = logging.getLogger(__name__)

FILE_NAME = "lease-owner"
BOOT = Path("/proc/sys/kernel/random/boot_id")
BYTES_MAX = 256


class Tenancy:
    """Without a path nothing is known of any process."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: int | None = None

    def dead_owner(self) -> str | None:
        """Takes the lock, and tells whose lease it is that nobody lives for; None: nothing known.

        Never an error: who knows nothing waits until the lease has run out.
        """
        if self._path is None or self._file is not None:
            return None
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            owner, _, place = os.pread(self._file, BYTES_MAX, 0).decode("ascii").partition(" ")
            return owner if owner and place == _place(self._file) else None
        except BlockingIOError:  # it lives, or is stopped
            self.close()
        except (OSError, UnicodeDecodeError) as problem:
            _log.warning("%s cannot be read: %s", self._path, problem)
            self.close()
        return None

    def note(self, owner: str) -> None:
        """This process has the lease now."""
        if self._file is None:
            return
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{owner} {_place(self._file)}".encode("ascii"), 0)
        except OSError as problem:
            _log.warning("%s cannot be written: %s", self._path, problem)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _place(file: int) -> str:
    """This file and no copy of it, on this machine since its start."""
    found = os.fstat(file)
    return f"{BOOT.read_text(encoding='ascii').strip()} {found.st_dev} {found.st_ino}"
