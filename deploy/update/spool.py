"""A bundle that the table fetched from its manager, taken over by the updater.

The table runs without rights, and its folder may hold anything: links, pipes, folders with a
bundle's name. What is taken is moved to a folder of root's own first, so that what was looked at is
what is installed. Nothing of it is trusted but what RAUC finds signed.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import stat
from pathlib import Path
from typing import Final

from kit.files import private_folder
from kit.program_spool import BUNDLE_BYTES_MAX, READY, STOP

log = logging.getLogger("deploy.update")

NAME: Final = re.compile(r"([0-9a-f]{64})\.raucb")
FOLDER_ONLY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
PLAIN_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
READ_BY_OWNER: Final = 0o400


class Spool:
    """`table` is the table's folder, `own` is root's."""

    def __init__(self, table: Path, own: Path) -> None:
        self._table = table
        self._own = own

    def take(self) -> tuple[Path, str] | None:
        """The next bundle with its name, in root's own folder; None when there is none."""
        private_folder(self._own)
        left = self._next()  # of a start that the power cut
        if left is None:
            self._move()
            left = self._next()
        return left

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def is_stopped(self) -> bool:
        """The table says that its manager has withdrawn the offer."""
        return os.path.lexists(self._table / STOP)

    def _move(self) -> None:
        """Everything with a bundle's ending goes: what stayed would call the updater for ever."""
        try:
            table = os.open(self._table, FOLDER_ONLY)
        except OSError as error:
            log.warning("the table has no folder for updates: %s", error)
            return
        own = os.open(self._own, FOLDER_ONLY)
        try:
            ready = os.open(READY, FOLDER_ONLY, dir_fd=table)
            try:
                for name in sorted(os.listdir(ready)):
                    if name.endswith(".raucb"):
                        os.rename(name, name, src_dir_fd=ready, dst_dir_fd=own)
            finally:
                os.close(ready)
        except OSError as error:
            log.warning("nothing can be taken from the table: %s", error)
        finally:
            os.close(own)
            os.close(table)

    def _next(self) -> tuple[Path, str] | None:
        for path in sorted(self._own.iterdir()):
            found = NAME.fullmatch(path.name)
            if found and self._is_plain(path):
                return path, found.group(1)
            log.error("%s is no plain file of a bundle, and is removed", path.name)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        return None

    def _is_plain(self, path: Path) -> bool:
        try:
            handle = os.open(path, PLAIN_FILE)
        except OSError:
            return False
        try:
            found = os.fstat(handle)
            # A second name would lie where the table can write.
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                return False
            if found.st_size > BUNDLE_BYTES_MAX:
                return False
            os.fchown(handle, os.geteuid(), os.getegid())
            os.fchmod(handle, READ_BY_OWNER)
            return True
        finally:
            os.close(handle)
