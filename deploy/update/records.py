"""What an update leaves on the data partition: the one under way, the last ten, and the news.

Each file is replaced whole, so that a power cut leaves the old or the new one. What cannot be read
is taken for missing: an update under way is then given up, which is the safe side.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from kit.files import sync_folder, write_durably
from kit.program_changes import Change, Pending, row_of
from kit.program_news import READ_BY_ALL, ROLLED_BACK, ProgramNews, write_news

log = logging.getLogger("deploy.update")

CHANGES_MAX: Final = 10
PENDING: Final = "pending.json"
CHANGES: Final = "changes.json"
NEWS: Final = "news.json"


class Records:
    def __init__(self, folder: Path, wall_s: Callable[[], int]) -> None:
        self.folder = folder
        self._wall_s = wall_s

    def pending(self) -> Pending | None:
        return row_of(Pending, self._read(PENDING))

    def keep_pending(self, pending: Pending) -> None:
        write_durably(self.folder / PENDING, json.dumps(asdict(pending)), READ_BY_ALL)

    def changes(self) -> list[Change]:
        """The last ten, newest last."""
        told = self._read(CHANGES)
        rows = [row_of(Change, each) for each in told] if isinstance(told, list) else []
        return [each for each in rows if each is not None]

    def settled(self, pending: Pending, result: str, reason: str = "") -> None:
        """How it ended; first in the log, then it is no longer under way."""
        versions, source = (pending.before, pending.version), (pending.how, pending.digest)
        change = Change(self._wall_s(), *versions, result, reason, *source)
        known = self.changes()
        # A power cut between the two steps brings the same end once more.
        if not known or (known[-1].version, known[-1].result) != (change.version, change.result):
            rows = [asdict(each) for each in [*known, change][-CHANGES_MAX:]]
            write_durably(self.folder / CHANGES, json.dumps(rows, indent=1), READ_BY_ALL)
        self._remove(PENDING)

    def failed_before(self, version: str) -> bool:
        return any(
            each.version == version and each.result == ROLLED_BACK for each in self.changes()
        )

    def tell(self, code: str, version: str, digest: str = "") -> None:
        write_news(self.folder / NEWS, ProgramNews(code, version, digest))

    def tell_nothing(self) -> None:
        self._remove(NEWS)

    def _remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)
        sync_folder(self.folder)

    def _read(self, name: str) -> Any:
        try:
            return json.loads((self.folder / name).read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("%s cannot be read and is taken for missing: %s", name, error)
            return None
